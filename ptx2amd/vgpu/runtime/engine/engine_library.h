/* The engine for our libraries that are loaded beside AMD's HIP: opened with dlopen, so that the program does not find
 * the HIP functions in the same file. */
#ifndef PTX2AMD_VGPU_ENGINE_LIBRARY_H
#define PTX2AMD_VGPU_ENGINE_LIBRARY_H
#include <pthread.h>

#include "engine.h"
#include "hip_chip.h"
#include "memory.h"

struct engine_library {
  const struct arch *(*arch_find)(const char *name);
  const struct chip *(*chip_find)(const char *arch);
  const char *(*archs)(void);
  struct code *(*code_create)(const struct arch *arch, uint64_t base, uint64_t size);
  void (*code_destroy)(struct code *code);
  void (*code_may_stray)(struct code *code);
  int (*run)(const struct dispatch *d, struct fault *fault, struct engine_counters *counters);
  struct mem_block *(*adopt)(void *base, uint64_t size, uint32_t flags, int device);
  void (*release)(struct mem_block *block);
  uint64_t (*host_memory)(void);
  void (*count_fault)(void);
};
#define ENGINE_LIBRARY "ptx2amd_vgpu_engine"   /* the name of the variable */
#endif
