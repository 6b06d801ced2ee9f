/* libcurand on AMD's rocRAND: generators, streams. Generation functions are in the table (ptx2amd/api/curand). */
#include <stdlib.h>

#include "curand_generator.h"

#define MARK 0x7074783263726e64u

bool curand_found(curandGenerator_t generator, rocrand_generator *found) {
  if (!generator || generator->mark != MARK) return false;
  *found = generator->rocrand;
  return true;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t kind, bool host,
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
  enum { DEFAULT = 100, XORWOW = 101, MRG32K3A = 121, PHILOX = 161, QUASI = 200 };
  made->mark = MARK;
  made->quasi = kind >= QUASI, made->host = host;
  made->sequence.engine = kind == DEFAULT || kind == XORWOW ? ENGINE_XORWOW
                          : kind == MRG32K3A                ? ENGINE_MRG32K3A
                          : kind == PHILOX                  ? ENGINE_PHILOX
                                                            : ENGINE_NONE;
  made->sequence.threads = kind == MRG32K3A ? MRG32K3A_THREADS : LEGACY_THREADS;
  *generator = made;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t rng_type) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!libmap_ready()) return CURAND_STATUS_INITIALIZATION_FAILED;
  return create(generator, rng_type, false, rocrand.create_generator);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t rng_type) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (!libmap_ready()) return CURAND_STATUS_INITIALIZATION_FAILED;
  return create(generator, rng_type, true, rocrand.create_generator_host_blocking);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->mark = 0;
  sequence_end(&generator->sequence);
  free(generator);
  return curand_status(rocrand.destroy_generator(found));
}

/* ---- settings ---- */

/* rocRAND also accepts a seed for sequences that have none. */
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->quasi) return CURAND_STATUS_TYPE_ERROR;
  if (generator->sequence.seed != seed) {
    generator->sequence.seed = seed;
    sequence_change(&generator->sequence);
  }
  return curand_status(rocrand.set_seed(found, seed));
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  curandStatus_t status = curand_status(rocrand.set_offset(found, offset));
  if (status) return status;
  generator->sequence.start = generator->sequence.position = offset;
  generator->sequence.ready = false;
  return status;
}

/* In the order of seeds each thread has a seed of its own. */
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  enum { SEEDED = 102, LEGACY = 103, DYNAMIC = 104 };
  rocrand_generator found;
  rocrand_ordering beneath;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  if (!beneath_curandOrdering_t(order, &beneath)) return CURAND_STATUS_OUT_OF_RANGE;
  struct sequence *sequence = &generator->sequence;
  if ((order == SEEDED && sequence->engine > ENGINE_XORWOW) || (order == DYNAMIC && generator->host)) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  curandStatus_t status = curand_status(rocrand.set_ordering(found, beneath));
  if (status) return status;
  generator->ordered = order == SEEDED;
  if (sequence->engine == ENGINE_MRG32K3A) sequence->threads = order == LEGACY ? LEGACY_THREADS : MRG32K3A_THREADS;
  if (sequence->engine != ENGINE_PHILOX) sequence_change(sequence);
  return status;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  rocrand_generator found;
  hipStream_t beneath;
  if (!curand_found(generator, &found) || libmap_driver.stream(stream, &beneath)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return curand_status(rocrand.set_stream(found, beneath));
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->sequence.engine && !generator->ordered) {
    sequence_change(&generator->sequence);
    return sequence_prepare(&generator->sequence);
  }
  return curand_status(rocrand.initialize_generator(found));
}

/* ---- numbers ---- */

static rocrand_status by_rocrand(rocrand_generator found, enum draw draw, void *out, size_t count, double mean,
                                 double deviation) {
  float single = (float)mean, width = (float)deviation;
  switch (draw) {
    case DRAW_BITS: return rocrand.generate(found, out, count);
    case DRAW_UNIFORM: return rocrand.generate_uniform(found, out, count);
    case DRAW_UNIFORM_DOUBLE: return rocrand.generate_uniform_double(found, out, count);
    case DRAW_NORMAL: return rocrand.generate_normal(found, out, count, single, width);
    case DRAW_NORMAL_DOUBLE: return rocrand.generate_normal_double(found, out, count, mean, deviation);
    case DRAW_LOG_NORMAL: return rocrand.generate_log_normal(found, out, count, single, width);
    default: return rocrand.generate_log_normal_double(found, out, count, mean, deviation);
  }
}

/* A host's generator draws on the device too. */
static curandStatus_t to_host(struct sequence *sequence, enum draw draw, void *out, size_t count, double mean,
                              double deviation) {
  uint64_t there;
  size_t size;
  if (!count) return sequence_generate(sequence, draw, out, count, mean, deviation, NULL);
  if (__builtin_mul_overflow(count, draw_size(draw), &size) || libmap_driver.allocate(&there, size)) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  curandStatus_t status = sequence_generate(sequence, draw, (void *)(uintptr_t)there, count, mean, deviation, NULL);
  if (!status && libmap_driver.copy_out(out, there, size)) status = CURAND_STATUS_LAUNCH_FAILURE;
  libmap_driver.release(there);
  return status;
}

curandStatus_t curand_draw(curandGenerator_t generator, enum draw draw, void *out, size_t count, double mean,
                           double deviation) {
  rocrand_generator found;
  if (!curand_found(generator, &found)) return CURAND_STATUS_NOT_INITIALIZED;
  struct sequence *sequence = &generator->sequence;
  if (!sequence->engine || generator->ordered) return curand_status(by_rocrand(found, draw, out, count, mean, deviation));
  if (generator->host) return to_host(sequence, draw, out, count, mean, deviation);
  return sequence_generate(sequence, draw, out, count, mean, deviation, generator->stream);
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
  int version = libmap_version, found = libmap_property(type, version / 1000, version / 100 % 10, version % 100);
  if (!value || found < 0) return CURAND_STATUS_OUT_OF_RANGE;
  *value = found;
  return CURAND_STATUS_SUCCESS;
}
