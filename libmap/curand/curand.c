/* libcurand on AMD's rocRAND: generators, streams. Generation functions are in the table (ptx2amd/api/curand). */
#include <stdlib.h>

#include "curand_generator.h"

#define MARK 0x7074783263726e64u

bool curand_found(curandGenerator_t generator, rocrand_generator *found) {
  if (!generator || generator->mark != MARK) return false;
  *found = generator->rocrand;
  return true;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t kind,
                             rocrand_status (*of_kind)(rocrand_generator *, rocrand_rng_type)) {
  rocrand_rng_type beneath;
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!beneath_curandRngType_t(kind, &beneath)) return CURAND_STATUS_TYPE_ERROR;
  struct curandGenerator_t_st *made = calloc(1, sizeof *made);
  if (!made) return CURAND_STATUS_ALLOCATION_FAILED;
  curandStatus_t status = curand_status(of_kind(&made->rocrand, beneath));
  if (status) {
    free(made);
    return status;
  }
  made->mark = MARK;
  made->quasi = kind >= 200;
  *generator = made;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t rng_type) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!libmap_ready()) return CURAND_STATUS_INITIALIZATION_FAILED;
  return create(generator, rng_type, rocrand.create_generator);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t rng_type) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!libmap_ready()) return CURAND_STATUS_INITIALIZATION_FAILED;
  return create(generator, rng_type, rocrand.create_generator_host_blocking);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->mark = 0;
  free(generator);
  return curand_status(rocrand.destroy_generator(found));
}

/* rocRAND also accepts a seed for sequences that have none. */
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  return generator->quasi ? CURAND_STATUS_TYPE_ERROR : curand_status(rocrand.set_seed(found, seed));
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  rocrand_generator found;
  hipStream_t beneath;
  if (!curand_found(generator, &found) || libmap_driver.stream(stream, &beneath)) return CURAND_STATUS_NOT_INITIALIZED;
  return curand_status(rocrand.set_stream(found, beneath));
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, found = libmap_property(type, version / 1000, version / 100 % 10, version % 100);
  if (!value || found < 0) return CURAND_STATUS_OUT_OF_RANGE;
  *value = found;
  return CURAND_STATUS_SUCCESS;
}
