/* What the functions of libcurand share (curand.c). */
#ifndef CURAND_GENERATOR_H
#define CURAND_GENERATOR_H
#include "curand_api.h"
#include "rocrand_table.h"

struct curandGenerator_t_st {
  uint64_t mark; /* of a generator that is there */
  rocrand_generator rocrand;
  bool quasi;
};

/* rocRAND's generator; false: it is none of ours. */
bool curand_found(curandGenerator_t generator, rocrand_generator *found);
#endif
