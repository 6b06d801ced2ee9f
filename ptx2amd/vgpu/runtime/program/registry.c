/* Registrations by compiled programs: fat binaries, and their kernels and variables by host symbol. Code is loaded for
 * a device when something in it is first used there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash_index.h"
#include "hip_state.h"

struct fat_binary {
  const void *bundle;
  char file[256];                 /* the file it came from, for messages */
  hipModule_t modules[MAX_DEVICES];
  hipError_t errors[MAX_DEVICES];
  bool tried[MAX_DEVICES];
};

enum symbol_kind { SYMBOL_FUNCTION, SYMBOL_VARIABLE };
struct symbol {
  const void *host;
  struct fat_binary *binary;      /* NULL: unregistered */
  enum symbol_kind kind;
  char *name;
  size_t size;                    /* of a variable */
  function **functions;           /* of a kernel: by device, created at first use */
};
struct managed {
  struct fat_binary *binary;
  char *name;
  void **pointer;                 /* the program's pointer; a device's variable of that name is such a pointer too */
  size_t size;
  bool adopted;
  struct managed *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *symbols;
static size_t symbol_count, symbol_room;
static struct hash_index by_host;
static struct managed *managed_list;
static bool started;              /* the devices are initialised */

/* Under the lock. NULL: not registered. */
static struct symbol *find(const void *host, enum symbol_kind kind) {
  for (size_t cursor = 0, k; hash_index_next(&by_host, hash_pointer(host), &cursor, &k);)
    if (symbols[k].host == host && symbols[k].kind == kind && symbols[k].binary) return &symbols[k];
  return NULL;
}

/* A place for a symbol: of an unregistered symbol of a previously loaded library, or a new one. */
static struct symbol *place(const void *host, enum symbol_kind kind) {
  for (size_t cursor = 0, k; hash_index_next(&by_host, hash_pointer(host), &cursor, &k);)
    if (symbols[k].host == host && symbols[k].kind == kind) return &symbols[k];
  if (symbol_count == symbol_room) {
    size_t room = symbol_room ? 2 * symbol_room : 256;
    struct symbol *more = realloc(symbols, room * sizeof *more);
    if (!more) return NULL;
    symbols = more;
    symbol_room = room;
  }
  if (!hash_index_add(&by_host, hash_pointer(host), symbol_count)) return NULL;
  symbols[symbol_count] = (struct symbol){.host = host, .kind = kind};
  return &symbols[symbol_count++];
}

static void add(void **binary, const void *host, enum symbol_kind kind, const char *name, size_t size) {
  if (!binary || !host || !name) return;
  pthread_mutex_lock(&lock);
  struct symbol *s = place(host, kind);
  char *copy = strdup(name);
  if (s && copy) {
    free(s->name);
    free(s->functions);
    *s = (struct symbol){.host = host, .binary = (struct fat_binary *)binary, .kind = kind, .name = copy, .size = size};
  } else {
    free(copy);
    complain("out of memory: %s is not registered", name);
  }
  pthread_mutex_unlock(&lock);
}

void **__hipRegisterFatBinary(const void *data) {
  enum { WRAPPER_MAGIC = 0x48495046 };   /* "HIPF" */
  const struct { uint32_t magic, version; const void *bundle; } *wrapper = data;
  Dl_info where = {0};
  bool known = data && dladdr(data, &where) && where.dli_fname;
  if (!data || wrapper->magic != WRAPPER_MAGIC || wrapper->version != 1) {
    complain("%s registers a fat binary of an unknown form: it was not made by a HIP compiler, or by a newer one",
             known ? where.dli_fname : "the program");
    return NULL;
  }
  struct fat_binary *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->bundle = wrapper->bundle;
  snprintf(b->file, sizeof b->file, "%s", known ? where.dli_fname : "the program");
  return (void **)b;
}

/* When the program ends or a library is closed: its memory is unmapped afterwards. */
void __hipUnregisterFatBinary(void **binary) {
  struct fat_binary *b = (struct fat_binary *)binary;
  if (!b) return;
  pthread_mutex_lock(&lock);
  for (size_t k = 0; k < symbol_count; k++)
    if (symbols[k].binary == b) symbols[k].binary = NULL;
  for (struct managed **at = &managed_list; *at;) {
    struct managed *m = *at;
    if (m->binary != b) {
      at = &m->next;
      continue;
    }
    *at = m->next;   /* its memory is kept: kernels of other libraries may have its address */
    free(m->name);
    free(m);
  }
  pthread_mutex_unlock(&lock);
  for (int k = 0; k < MAX_DEVICES; k++)
    if (b->modules[k]) hipModuleUnload(b->modules[k]);
  free(b);
}

void __hipRegisterFunction(void **binary, const void *host, char *device_name, const char *name, unsigned threads,
                           void *tid, void *bid, dim3 *block, dim3 *grid, int *wave_size) {
  (void)device_name, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)wave_size;
  add(binary, host, SYMBOL_FUNCTION, name, 0);
}

void __hipRegisterVar(void **binary, void *host, char *host_name, char *name, int external, size_t size, int constant,
                      int global) {
  (void)host_name, (void)external, (void)constant, (void)global;
  add(binary, host, SYMBOL_VARIABLE, name, size);
}

/* Texture references are variables: their device-side value is a descriptor's address. */
void __hipRegisterTexture(void **binary, void *host, char *host_name, char *name, int type, int normalized,
                          int external) {
  (void)host_name, (void)type, (void)normalized, (void)external;
  add(binary, host, SYMBOL_VARIABLE, name, sizeof(void *));
}
void __hipRegisterSurface(void **binary, void *host, char *host_name, char *name, int type, int external) {
  (void)host_name, (void)type, (void)external;
  add(binary, host, SYMBOL_VARIABLE, name, sizeof(void *));
}

/* Managed variables */

/* Under the lock. */
static void adopt(struct managed *m) {
  struct mem_block *block = mem_adopt(*m->pointer, m->size, MEM_MANAGED, 0);
  m->adopted = block != NULL;
  if (block) block->internal = true;
}

void program_start(void) {
  pthread_mutex_lock(&lock);
  started = true;
  for (struct managed *m = managed_list; m; m = m->next)
    if (!m->adopted) adopt(m);
  pthread_mutex_unlock(&lock);
}

/* The program may use the variable before it calls HIP, so its memory is allocated at once; the devices register it
 * later. */
void __hipRegisterManagedVar(void *binary, void **pointer, void *initial, const char *name, size_t size,
                             unsigned alignment) {
  (void)alignment;   /* a page is enough */
  struct managed *m = binary && pointer && name && size ? calloc(1, sizeof *m) : NULL;
  void *memory = m ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  char *copy = m ? strdup(name) : NULL;
  if (memory == MAP_FAILED || !copy) {
    complain("out of memory: the managed variable %s is not registered", name ? name : "");
    free(m);
    free(copy);
    return;
  }
  if (initial) memcpy(memory, initial, size);
  *pointer = memory;
  *m = (struct managed){.binary = binary, .name = copy, .pointer = pointer, .size = size};
  pthread_mutex_lock(&lock);
  m->next = managed_list;
  managed_list = m;
  if (started) adopt(m);
  pthread_mutex_unlock(&lock);
}

/* Loading */

static void set_managed(const struct fat_binary *b, hipModule_t module) {
  for (struct managed *m = managed_list; m; m = m->next) {
    uint64_t address, size;
    if (m->binary == b && image_global(module->image, m->name, &address, &size) && size == sizeof *m->pointer)
      *(void **)address = *m->pointer;
  }
}

/* Under the lock. The first error is kept: code that does not fit the device will not fit it later. */
static hipError_t load_for(struct fat_binary *b, struct device *d) {
  int k = d->ordinal;
  if (!b->tried[k]) {
    b->tried[k] = true;
    b->errors[k] = module_load(&b->modules[k], d, b->bundle, 0, b->file);
    if (b->errors[k] == hipSuccess) set_managed(b, b->modules[k]);
  }
  return b->errors[k];
}

/* Under the lock. */
static hipError_t load_function(struct symbol *s, struct device *d, function **out) {
  if (!s->functions) s->functions = calloc((size_t)hip_device_count, sizeof *s->functions);
  if (!s->functions) return hipErrorOutOfMemory;
  function **own = &s->functions[d->ordinal];
  if (!*own) {
    hipError_t error = load_for(s->binary, d);
    if (error == hipSuccess) error = module_function(own, s->binary->modules[d->ordinal], s->name);
    if (error == hipErrorNotFound) {
      complain("the code of %s for %s has no kernel %s", s->binary->file, d->chip->arch, s->name);
      return hipErrorInvalidDeviceFunction;
    }
    if (error != hipSuccess) return error;
  }
  *out = *own;
  return hipSuccess;
}

hipError_t function_of(const void *handle, struct device *d, function **out) {
  if (handle_ok(&function_class, handle)) {
    *out = (function *)handle;
    return hipSuccess;
  }
  if (!hip_device_count) return hipErrorNoDevice;
  pthread_mutex_lock(&lock);
  struct symbol *s = find(handle, SYMBOL_FUNCTION);
  hipError_t error = s ? load_function(s, d, out) : hipErrorInvalidDeviceFunction;
  pthread_mutex_unlock(&lock);
  return error;
}

/* A managed variable's symbol is the program's pointer; the address it points to is accepted as well. */
static bool managed_of(const void *symbol, char **address, size_t *size) {
  for (struct managed *m = managed_list; m; m = m->next) {
    if (symbol != m->pointer && symbol != *m->pointer) continue;
    *address = *m->pointer;
    *size = m->size;
    return true;
  }
  return false;
}

hipError_t variable_of(const void *symbol, struct device *d, char **address, size_t *size) {
  if (!hip_device_count) return hipErrorNoDevice;
  pthread_mutex_lock(&lock);
  hipError_t error = hipErrorInvalidSymbol;
  struct symbol *s = find(symbol, SYMBOL_VARIABLE);
  if (s) {
    uint64_t at, bytes;
    error = load_for(s->binary, d);
    if (error == hipSuccess && !image_global(s->binary->modules[d->ordinal]->image, s->name, &at, &bytes)) {
      complain("the code of %s for %s has no variable %s", s->binary->file, d->chip->arch, s->name);
      error = hipErrorInvalidSymbol;
    }
    if (error == hipSuccess) *address = (char *)at, *size = bytes;
  } else if (managed_of(symbol, address, size)) error = hipSuccess;
  pthread_mutex_unlock(&lock);
  return error;
}

const char *hipKernelNameRefByPtr(const void *host, hipStream_t stream) {
  (void)stream;
  if (handle_ok(&function_class, host)) return ((const function *)host)->kernel->name;
  pthread_mutex_lock(&lock);
  struct symbol *s = find(host, SYMBOL_FUNCTION);
  const char *name = s ? s->name : NULL;
  pthread_mutex_unlock(&lock);
  return name;
}
