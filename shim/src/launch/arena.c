/* What launches need of the device beside their code: slots for shared memory beyond LDS, and workspaces in which
 * the blocks of a cooperative grid meet. docs/internals/abi.md has their layouts. */
#include <stdlib.h>
#include <string.h>

#include "deferred.h"
#include "interface_arena.h"
#include "module.h"

enum { SLOTS_PER_PROCESSOR = 4, PAGE = 4096 };
enum { WORKSPACES = 4096, WORKSPACE_BYTES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { uint64_t arena, workspaces, next; } of_device[MAX_DEVICES];

static uint32_t slot_count(int device) { return (uint32_t)devices[device].multiprocessors * SLOTS_PER_PROCESSOR; }

static int allocate(size_t size, uint64_t *address) {
  void *memory = NULL;
  int error = hip.Malloc(&memory, size);
  if (!error) hip_internal(memory);
  *address = error ? 0 : (uint64_t)(uintptr_t)memory;
  return error;
}

/* An arena's header, in which all slots are free: their tickets stand in the ring. `first`: the slots' offset. */
static struct arena_header *header_of(int device, size_t *first) {
  uint32_t slots = slot_count(device), ring = 1;
  while (ring < slots) ring *= 2;
  *first = (sizeof(struct arena_header) + (size_t)ring * 4 + PAGE - 1) / PAGE * PAGE;
  struct arena_header *header = calloc(1, *first);
  if (!header) return NULL;
  header->slots = header->given = slots;
  header->mask = ring - 1;
  header->first = *first;
  for (uint32_t i = 0; i < slots; i++) header->ring[i] = i + 1;
  return header;
}

static int make_arena(int device, uint64_t *address) {
  size_t first;
  struct arena_header *header = header_of(device, &first);
  if (!header) return HIP_OUT_OF_MEMORY;
  int error = allocate(first + (size_t)slot_count(device) * SLOT_BYTES, address);
  if (!error && (error = upload(device, *address, header, first))) {
    hip.Free((void *)(uintptr_t)*address);
    *address = 0;
  }
  free(header);
  return error;
}

CUresult arena_prepare(int device, uint64_t *address) {
  int error = 0;
  pthread_mutex_lock(&lock);
  if (!of_device[device].arena) error = make_arena(device, &of_device[device].arena);
  *address = of_device[device].arena;
  pthread_mutex_unlock(&lock);
  if (error) say("no device memory for %u slots of shared memory beyond LDS", slot_count(device));
  return from_hip(error);
}

/* A zeroed workspace; it serves another launch when as many others have had their turn. */
static CUresult workspace(int device, uint64_t *address) {
  int error = 0;
  pthread_mutex_lock(&lock);
  uint64_t *base = &of_device[device].workspaces;
  if (!*base) {
    hipStreamCaptureMode mode = capture_relax();
    error = allocate(WORKSPACES * WORKSPACE_BYTES, base);
    if (!error) error = upload_zeros(device, *base, WORKSPACES * WORKSPACE_BYTES);
    capture_return(mode);
  }
  *address = *base + of_device[device].next++ % WORKSPACES * WORKSPACE_BYTES;
  pthread_mutex_unlock(&lock);
  return from_hip(error);
}

/* Whether blocks hold slots: more were taken than given back. */
static bool slots_missing(uint64_t arena) {
  struct arena_header header;
  if (hip.MemcpyDtoH(&header, (void *)arena, sizeof header)) return true;
  return header.given - header.taken != header.slots;
}

void arena_reset(int device) {
  pthread_mutex_lock(&lock);
  uint64_t arena = of_device[device].arena;
  size_t first;
  struct arena_header *header = arena && slots_missing(arena) ? header_of(device, &first) : NULL;
  if (header) hip.MemcpyHtoD((void *)arena, header, first);
  free(header);
  pthread_mutex_unlock(&lock);
}

/* The first one is for kernels that launch. */
static uint32_t word_count(const struct kernel_code *code) {
  return !code->properties.launch_words ? 0 : code->properties.launches ? LAUNCH_WORDS : LAUNCH_WORDS - 1;
}

CUresult launch_words(const struct kernel *k, const struct kernel_code *code, int device, unsigned shared,
                      bool cooperative, uint64_t records, char *buffer, size_t *size) {
  struct launch_words words = {.records = records, .shared = shared};
  if (!code->properties.launch_words) return CUDA_SUCCESS;
  CUresult result = cooperative ? workspace(device, &words.workspace) : CUDA_SUCCESS;
  size_t at = (k->parameter_bytes + 7) & ~(size_t)7, bytes = word_count(code) * sizeof(uint64_t);
  memcpy(buffer + at, (const char *)&words + sizeof words - bytes, bytes);
  *size = at + bytes;
  return result;
}

void point_at_parameters(const struct kernel *k, const struct kernel_code *code, char *buffer, void **pointers) {
  uint32_t n = k->index.param_count;
  for (uint32_t i = 0; i < n; i++) pointers[i] = buffer + k->index.params[i].offset;
  char *words = buffer + ((k->parameter_bytes + 7) & ~7u);
  for (uint32_t i = 0; i < word_count(code); i++) pointers[n + i] = words + 8 * i;
}

/* A block with a slot is kept from company by the LDS it asks for: there are as many slots as blocks with so much. */
unsigned launch_lds(const struct kernel_code *code, int device, unsigned shared) {
  if (!code->properties.spilled) return shared;
  unsigned share = (unsigned)devices[device].lds / SLOTS_PER_PROCESSOR, fixed = (unsigned)code->properties.static_shared;
  return share > fixed ? share - fixed : 0;
}

int resident_slots(const struct kernel_code *code, int blocks) {
  return code->properties.spilled && blocks > SLOTS_PER_PROCESSOR ? SLOTS_PER_PROCESSOR : blocks;
}
