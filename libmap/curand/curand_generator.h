/* Shared by the functions of libcurand (curand.c). */
#ifndef CURAND_GENERATOR_H
#define CURAND_GENERATOR_H
#include "curand_api.h"
#include "rocrand_table.h"

struct curandGenerator_t_st {
  uint64_t mark; /* the magic number while the generator is valid */
  rocrand_generator rocrand;
  bool quasi;
};

/* rocRAND's generator; false: not a valid generator. */
bool curand_found(curandGenerator_t generator, rocrand_generator *found);
#endif
