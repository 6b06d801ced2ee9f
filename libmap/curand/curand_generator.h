/* Shared by the functions of libcurand (curand.c). */
#ifndef CURAND_GENERATOR_H
#define CURAND_GENERATOR_H
#include "curand_api.h"
#include "rocrand_table.h"
#include "sequence.h"

struct curandGenerator_t_st {
  uint64_t mark; /* the magic number while the generator is valid */
  rocrand_generator rocrand;
  bool quasi, host;
  bool ordered; /* in an order that only rocRAND has */
  cudaStream_t stream;
  struct sequence sequence;
};

/* rocRAND's generator; false: not a valid generator. */
bool curand_found(curandGenerator_t generator, rocrand_generator *found);
/* Numbers of a distribution. */
curandStatus_t curand_draw(curandGenerator_t generator, enum draw draw, void *out, size_t count, double mean,
                           double deviation);
#endif
