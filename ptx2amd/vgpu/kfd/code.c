/* Loaded code objects. The runtime writes them to memory of its own, so what the engine decodes is looked up by a kernel's
 * descriptor: the ELF image around it (its headers are loaded too) tells where the code lies and what the kernel's name is.
 * The runtime's own kernels have no ELF: there the allocation is taken for code.
 *
 * Decoded code is dropped when the memory is freed, and checked when the runtime invalidates the instruction caches: it does
 * so after each code object that it loads, at any place. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "kfd.h"

enum { EM_AMDGPU_ = 224, PAGE = 4096 };

/* A code object, or the allocation at its place: its descriptors share it. */
struct object {
  struct object *next;
  uint64_t base, size;           /* of the image; of the code below */
  uint64_t text, text_size, hash;
  bool has_elf, checked;         /* checked: since the caches were last invalidated */
  struct code *code;
  unsigned users;                /* dispatches, and the list */
};
static struct object *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- what the memory holds --- */

static uint64_t hash_of(uint64_t address, uint64_t size) {
  uint64_t h = size * 0x9e3779b97f4a7c15ull;
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word;
    memcpy(&word, (const void *)(address + at), 8);
    h = (h ^ word) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h;
}

/* The image that begins at the address and reaches beyond the descriptor. */
static bool image_at(uint64_t address, uint64_t end, uint64_t descriptor, struct object *o) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)address;
  if (end - address < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_machine != EM_AMDGPU_) return false;
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phoff > end - address ||
      (end - address - h->e_phoff) / sizeof(Elf64_Phdr) < h->e_phnum)
    return false;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(address + h->e_phoff);
  *o = (struct object){.base = address, .has_elf = true};
  for (unsigned k = 0; k < h->e_phnum; k++) {
    if (p[k].p_type != PT_LOAD) continue;
    uint64_t until = p[k].p_vaddr + p[k].p_memsz;
    if (until > end - address) return false;
    if (until > o->size) o->size = until;
    if (p[k].p_flags & PF_X) o->text = address + p[k].p_vaddr, o->text_size = p[k].p_memsz;
  }
  return o->text && descriptor - address < o->size;
}

static bool object_around(uint64_t descriptor, struct object *o) {
  uint64_t base, size;
  if (!memory_find(descriptor, &base, &size) || base + size - descriptor < sizeof(struct kernel_descriptor)) return false;
  for (uint64_t at = descriptor & ~(uint64_t)(PAGE - 1); at >= base && at <= descriptor; at -= PAGE)
    if (image_at(at, base + size, descriptor, o)) return true;
  *o = (struct object){.base = base, .size = size, .text = base, .text_size = size};
  return true;
}

/* --- kernels' names and the translator's note --- */

static uint64_t dynamic(const struct object *o, int64_t tag) {
  const Elf64_Ehdr *h = (const Elf64_Ehdr *)o->base;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(o->base + h->e_phoff);
  for (unsigned k = 0; k < h->e_phnum; k++) {
    if (p[k].p_type != PT_DYNAMIC) continue;
    for (const Elf64_Dyn *d = (const Elf64_Dyn *)(o->base + p[k].p_vaddr); d->d_tag != DT_NULL; d++)
      if (d->d_tag == tag) return o->base + d->d_un.d_ptr;
  }
  return 0;
}

static const char *name_of(const struct object *o, uint64_t descriptor) {
  const Elf64_Sym *symbols = (const Elf64_Sym *)dynamic(o, DT_SYMTAB);
  const char *names = (const char *)dynamic(o, DT_STRTAB);
  const uint32_t *hash = (const uint32_t *)dynamic(o, DT_HASH);   /* buckets, chains: one for each symbol */
  if (!symbols || !names || !hash) return NULL;
  for (uint32_t k = 0; k < hash[1]; k++)
    if (symbols[k].st_value == descriptor - o->base && symbols[k].st_name) return names + symbols[k].st_name;
  return NULL;
}

/* --- the list --- */

/* Under the lock. */
static void drop(struct object *o) {
  if (--o->users) return;
  engine->code_destroy(o->code);
  free(o);
}

static void unlist(struct object **p) {
  struct object *o = *p;
  *p = o->next;
  drop(o);
}

static struct object *make(const struct gpu *gpu, const struct object *found) {
  struct object *o = malloc(sizeof *o);
  if (!o) return NULL;
  *o = *found;
  o->code = engine->code_create(gpu->arch, o->text, o->text_size);
  if (!o->code) return free(o), NULL;
  engine->code_may_stray(o->code);
  o->hash = hash_of(o->text, o->text_size);
  o->checked = true;
  o->users = 1;
  o->next = objects;
  return objects = o;
}

static struct object *object_of(const struct gpu *gpu, uint64_t descriptor) {
  for (struct object **p = &objects; *p;) {
    struct object *o = *p;
    if (descriptor - o->base >= o->size) {
      p = &o->next;
      continue;
    }
    if (o->checked || o->hash == hash_of(o->text, o->text_size)) return o->checked = true, o;
    unlist(p);
  }
  struct object found;
  return object_around(descriptor, &found) ? make(gpu, &found) : NULL;
}

bool kernel_find(const struct gpu *gpu, uint64_t descriptor, struct kernel *k) {
  pthread_mutex_lock(&lock);
  struct object *o = object_of(gpu, descriptor);
  if (o) o->users++;
  pthread_mutex_unlock(&lock);
  if (!o) return false;
  const char *name = o->has_elf ? name_of(o, descriptor) : NULL;
  size_t n = name ? strlen(name) : 0;
  if (n > 3 && !strcmp(name + n - 3, ".kd")) n -= 3;
  *k = (struct kernel){.code = o->code, .object = o};
  snprintf(k->name, sizeof k->name, "%.*s", (int)n, name ? name : "");
  if (!n) snprintf(k->name, sizeof k->name, "(of the ROCm runtime)");
  return true;
}

void kernel_release(struct kernel *k) {
  pthread_mutex_lock(&lock);
  drop(k->object);
  pthread_mutex_unlock(&lock);
}

void code_forget(uint64_t base, uint64_t size) {
  pthread_mutex_lock(&lock);
  for (struct object **p = &objects; *p;)
    if ((*p)->base < base + size && base < (*p)->base + (*p)->size) unlist(p);
    else p = &(*p)->next;
  pthread_mutex_unlock(&lock);
}

void code_forget_all(void) {
  pthread_mutex_lock(&lock);
  for (struct object *o = objects; o; o = o->next) o->checked = false;
  pthread_mutex_unlock(&lock);
}
