/* Memory for kernel arguments: small slots in registered slabs, kept in free lists; large ones are allocated
 * separately. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

#define SLAB (1u << 20)
static const uint32_t slot_size[] = {512, 8192};
enum { SMALL, MEDIUM, CLASSES, OWN_BLOCK = CLASSES, PLAIN };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernarg *free_list[CLASSES];

/* Under the lock. */
static bool refill(unsigned class) {
  struct mem_block *slab = mem_alloc(SLAB, MEM_KERNARG, 0);
  uint32_t n = SLAB / slot_size[class];
  struct kernarg *k = slab ? calloc(n, sizeof *k) : NULL;
  if (!k) {
    if (slab) mem_release(slab);
    return false;
  }
  for (uint32_t i = 0; i < n; i++, k++) {
    k->size_class = class;
    k->address = slab->base + (uint64_t)i * slot_size[class];
    k->next = free_list[class];
    free_list[class] = k;
  }
  return true;
}

struct kernarg *kernarg_new(size_t size) {
  unsigned class = size <= slot_size[SMALL] ? SMALL : size <= slot_size[MEDIUM] ? MEDIUM : OWN_BLOCK;
  if (class == OWN_BLOCK) {
    struct kernarg *k = calloc(1, sizeof *k);
    if (k && !(k->block = mem_alloc(size, MEM_KERNARG, 0))) {
      free(k);
      k = NULL;
    }
    if (k) {
      k->size_class = OWN_BLOCK;
      k->address = k->block->base;
    }
    return k;
  }
  pthread_mutex_lock(&lock);
  struct kernarg *k = free_list[class];
  if (!k && refill(class)) k = free_list[class];
  if (k) free_list[class] = k->next;
  pthread_mutex_unlock(&lock);
  return k;
}

struct kernarg *kernarg_keep(const struct kernarg *from, size_t size) {
  struct kernarg *k = malloc(sizeof *k + size + 64);
  if (!k) return NULL;
  *k = (struct kernarg){.size_class = PLAIN, .address = ((uint64_t)(k + 1) + 63) & ~(uint64_t)63};
  if (size) memcpy((void *)k->address, (const void *)from->address, size);
  return k;
}

void kernarg_release(struct kernarg *k) {
  if (!k) return;
  if (k->size_class < CLASSES) {
    pthread_mutex_lock(&lock);
    k->next = free_list[k->size_class];
    free_list[k->size_class] = k;
    pthread_mutex_unlock(&lock);
    return;
  }
  if (k->size_class == OWN_BLOCK) mem_release(k->block);
  free(k);
}
