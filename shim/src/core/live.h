/* Handles of HIP's objects that the program has. AMD's library takes any address for one of these kinds and crashes. */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

#include "cuda_types.h"

enum live_kind { LIVE_POOL = 1, LIVE_ALLOCATION, LIVE_EXTERNAL_MEMORY };

void live_add(enum live_kind kind, const void *handle);  /* one more reference; without memory for it, none */
bool live_drop(enum live_kind kind, const void *handle); /* one reference less; false: it is not live */
bool live(enum live_kind kind, const void *handle);

/* Whether a handle that the program hands in is one. */
static inline bool pool_live(CUmemoryPool pool) { return live(LIVE_POOL, pool); }
static inline bool allocation_live(CUmemGenericAllocationHandle handle) {
  return live(LIVE_ALLOCATION, (const void *)handle);
}
static inline bool external_memory_live(CUexternalMemory memory) { return live(LIVE_EXTERNAL_MEMORY, memory); }
#endif
