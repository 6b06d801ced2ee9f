#include "sequence.h"

#include <stdlib.h>

#include "ptx.h"

enum { BLOCK = 256 };

void sequence_end(struct sequence *sequence) {
  if (sequence->states) libmap_driver.release(sequence->states);
  sequence->states = 0, sequence->allocated = 0, sequence->ready = false;
}

void sequence_change(struct sequence *sequence) {
  if (sequence->engine == ENGINE_PHILOX) sequence->position = sequence->start + (sequence->position - sequence->start) / 4;
  sequence->start = sequence->position;
  sequence->ready = false;
}

curandStatus_t sequence_prepare(struct sequence *sequence) {
  if (sequence->ready || sequence->engine == ENGINE_PHILOX) return CURAND_STATUS_SUCCESS;
  const size_t size = (size_t)sequence->threads * STATE_WORDS * sizeof(uint32_t);
  uint32_t *states = malloc(size);
  if (!states) return CURAND_STATUS_ALLOCATION_FAILED;
  (sequence->engine == ENGINE_XORWOW ? xorwow_states : mrg32k3a_states)(sequence->seed, sequence->position,
                                                                         sequence->threads, states);
  if (sequence->threads > sequence->allocated) sequence_end(sequence);
  bool good = (sequence->states || !libmap_driver.allocate(&sequence->states, size)) &&
              !libmap_driver.copy_in(sequence->states, states, size);
  free(states);
  if (!good) return CURAND_STATUS_ALLOCATION_FAILED;
  if (sequence->threads > sequence->allocated) sequence->allocated = sequence->threads;
  sequence->ready = true;
  return CURAND_STATUS_SUCCESS;
}

/* A thread draws two normal numbers in a turn. */
curandStatus_t sequence_generate(struct sequence *sequence, enum draw draw, void *out, size_t count, double mean,
                                 double deviation, cudaStream_t stream) {
  bool turns = sequence->engine != ENGINE_PHILOX, pairs = turns && draw >= DRAW_NORMAL;
  if (pairs && count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  curandStatus_t status = sequence_prepare(sequence);
  if (status || !count) return status;
  char *ptx = sequence_ptx(sequence->engine, draw, sequence->threads);
  void *kernel = ptx ? ptx_kernel(ptx, "draw") : NULL;
  if (!kernel) return CURAND_STATUS_INITIALIZATION_FAILED;
  uint64_t steps = pairs ? count / 2 : count, first = sequence->position;
  uint64_t at = (uintptr_t)out, states = turns ? sequence->states : sequence->seed;
  uint64_t threads = turns ? sequence->threads : (count + first % 4 + 3) / 4;
  if (turns) first %= sequence->threads;
  void *parameters[] = {&at, &states, &first, &steps, &mean, &deviation};
  if ((threads + BLOCK - 1) / BLOCK > INT32_MAX) return CURAND_STATUS_LAUNCH_FAILURE;
  int failed = libmap_driver.launch(kernel, (unsigned)((threads + BLOCK - 1) / BLOCK), 1, 1, BLOCK, 1, 1, 0, stream,
                                    parameters, NULL);
  if (failed) return CURAND_STATUS_LAUNCH_FAILURE;
  sequence->position += steps;
  return CURAND_STATUS_SUCCESS;
}
