/* Convolutions, by the "immediate mode" of MIOpen: solutions are listed by their expected times, and each is run by its
 * number. cuDNN's algorithms are kinds of solutions. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute.h"
#include "convolution.h"

enum { GEMM = 1 << miopenConvolutionAlgoGEMM, DIRECT = 1 << miopenConvolutionAlgoDirect,
       FFT = 1 << miopenConvolutionAlgoFFT, WINOGRAD = 1 << miopenConvolutionAlgoWinograd,
       IMPLICIT = 1 << miopenConvolutionAlgoImplicitGEMM };
enum { ALGORITHMS = 8, SOLUTIONS = 64, CHOSEN = 64 };

/* Which solutions an algorithm of cuDNN may be, and whether its results are promised to be the same in each run. */
static const struct algorithm { int kinds; bool same; } algorithms[][ALGORITHMS] = {
  [CUDNN_FORWARD] = {{DIRECT, true}, {IMPLICIT, true}, {GEMM, true}, {DIRECT, true}, {FFT, true}, {FFT, true},
                     {WINOGRAD, true}, {WINOGRAD, true}},
  [CUDNN_BACKWARD_DATA] = {{DIRECT, false}, {GEMM | IMPLICIT, true}, {FFT, true}, {FFT, true}, {WINOGRAD, true},
                           {WINOGRAD, true}},
  [CUDNN_BACKWARD_FILTER] = {{DIRECT, false}, {GEMM | DIRECT, true}, {FFT, true}, {IMPLICIT, false},
                             {WINOGRAD, true}, {WINOGRAD, true}, {FFT, true}},
};
static const int counts[] = {8, 6, 7};

static struct algorithm algorithm(const struct cudnn_problem *problem, int algo) {
  return algo == CUDNN_BEST ? (struct algorithm){~0, true} : algorithms[problem->direction][algo];
}

/* ---- which solution it is ---- */

struct shape { int type, count, size[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS]; };
struct key {
  int direction, algo, groups, count;
  int pad[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS], dilation[CUDNN_DIMENSIONS];
  struct shape tensors[3];
};
struct kept { struct key key; miopenConvSolution_t solution; bool there; };
struct cudnn_chosen { struct kept of[CHOSEN]; };

static void take(struct shape *shape, const struct cudnn_tensor *tensor) {
  shape->type = tensor->type, shape->count = tensor->count;
  for (int i = 0; i < tensor->count; i++) shape->size[i] = tensor->size[i], shape->stride[i] = tensor->stride[i];
}

static unsigned make_key(struct key *key, const struct cudnn_problem *problem, int algo) {
  cudnnConvolutionDescriptor_t desc = problem->convolution;
  memset(key, 0, sizeof *key);
  key->direction = (int)problem->direction, key->algo = algo, key->groups = desc->groups, key->count = desc->count;
  for (int i = 0; i < desc->count; i++) {
    key->pad[i] = desc->pad[i], key->stride[i] = desc->stride[i], key->dilation[i] = desc->dilation[i];
  }
  take(&key->tensors[0], problem->first);
  take(&key->tensors[1], problem->second);
  take(&key->tensors[2], problem->result);
  unsigned hash = 0;
  for (size_t i = 0; i < sizeof *key / sizeof(int); i++) hash = hash * 31 + ((const unsigned *)key)[i];
  return hash % CHOSEN;
}

/* The solutions of a problem, best first; how many; negative: MIOpen's status. */
static int list(cudnnHandle_t handle, const struct cudnn_problem *problem, bool same,
                miopenConvSolution_t solutions[SOLUTIONS]) {
  miopenHandle_t beneath = handle->miopen;
  miopenTensorDescriptor_t first = problem->first->miopen, second = problem->second->miopen;
  miopenTensorDescriptor_t result = problem->result->miopen;
  miopenConvolutionDescriptor_t how = problem->convolution->miopen[same];
  size_t found = 0;
  miopenStatus_t done =
      problem->direction == CUDNN_FORWARD
          ? miopen.ConvolutionForwardGetSolution(beneath, first, second, how, result, SOLUTIONS, &found, solutions)
      : problem->direction == CUDNN_BACKWARD_DATA
          ? miopen.ConvolutionBackwardDataGetSolution(beneath, first, second, how, result, SOLUTIONS, &found, solutions)
          : miopen.ConvolutionBackwardWeightsGetSolution(beneath, first, second, how, result, SOLUTIONS, &found,
                                                         solutions);
  return done ? -(int)done : (int)found;
}

/* The best of some kinds whose workspace is no larger than the limit; NULL: there is none. */
static const miopenConvSolution_t *best(const miopenConvSolution_t *solutions, int count, int kinds, size_t limit) {
  for (int i = 0; i < count; i++) {
    if (kinds >> solutions[i].algorithm & 1 && solutions[i].workspace_size <= limit) return solutions + i;
  }
  return NULL;
}

/* Another kind is taken where there is none of the algorithm's, as programs ask for one that NVIDIA's always has. */
static const miopenConvSolution_t *pick(const miopenConvSolution_t *solutions, int count, int kinds, size_t limit) {
  const miopenConvSolution_t *found = best(solutions, count, kinds, limit);
  return found ? found : best(solutions, count, ~0, limit);
}

/* An algorithm's solution whose workspace is within the limit. The best one is kept for the next call. */
static miopenStatus_t choose(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo, size_t limit,
                             miopenConvSolution_t *out) {
  struct key key;
  unsigned at = make_key(&key, problem, algo);
  if (!handle->chosen && !(handle->chosen = calloc(1, sizeof *handle->chosen))) return miopenStatusAllocFailed;
  struct kept *kept = &handle->chosen->of[at];
  if (kept->there && !memcmp(&kept->key, &key, sizeof key) && kept->solution.workspace_size <= limit) {
    *out = kept->solution;
    return miopenStatusSuccess;
  }
  miopenConvSolution_t solutions[SOLUTIONS];
  int count = list(handle, problem, algorithm(problem, algo).same, solutions);
  int kinds = algorithm(problem, algo).kinds;
  if (count < 0) return (miopenStatus_t)-count;
  if (!count) return cudnn_no("a convolution that MIOpen has no solution for");
  const miopenConvSolution_t *found = pick(solutions, count, kinds, limit);
  if (!found) return miopenStatusBadParm;
  if (found == pick(solutions, count, kinds, SIZE_MAX)) *kept = (struct kept){key, *found, true};
  *out = *found;
  return miopenStatusSuccess;
}

/* ---- whether it can be ---- */

static miopenStatus_t check(const struct cudnn_problem *problem, int algo) {
  bool forward = problem->direction == CUDNN_FORWARD, data = problem->direction == CUDNN_BACKWARD_DATA;
  const struct cudnn_tensor *filter = forward ? problem->first : data ? problem->second : problem->result;
  const struct cudnn_tensor *x = forward ? problem->second : data ? problem->result : problem->second;
  const struct cudnn_tensor *y = forward ? problem->result : problem->first;
  cudnnConvolutionDescriptor_t desc = problem->convolution;
  if (algo != CUDNN_BEST && (algo < 0 || algo >= counts[problem->direction])) return miopenStatusBadParm;
  if (x->count != desc->count + 2 || y->count != x->count || filter->count != x->count || x->size[0] != y->size[0] ||
      x->size[1] != filter->size[1] * desc->groups || y->size[1] != filter->size[0] ||
      filter->size[0] % desc->groups) {
    return miopenStatusBadParm;
  }
  if (problem->result->type == CUDNN_DATA_INT8) { /* MIOpen's does not saturate */
    return cudnn_no("a convolution with a result of 8-bit integers");
  }
  for (int i = 0; i < desc->count; i++) {
    int window = (filter->size[i + 2] - 1) * desc->dilation[i] + 1;
    int room = x->size[i + 2] + 2 * desc->pad[i] - window;
    if (room < 0 || y->size[i + 2] != 1 + room / desc->stride[i]) return miopenStatusBadParm;
  }
  return miopenStatusSuccess;
}

miopenStatus_t cudnn_convolution_space(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo,
                                      size_t *size) {
  miopenConvSolution_t solution;
  miopenStatus_t status = check(problem, algo);
  if (!status) status = choose(handle, problem, algo, SIZE_MAX, &solution);
  if (!status) *size = solution.workspace_size;
  return status;
}

/* ---- running it ---- */

static miopenStatus_t run(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo, const void *first,
                          const void *second, void *space, size_t size, uint64_t id, void *result) {
  miopenHandle_t beneath = handle->miopen;
  miopenTensorDescriptor_t a = problem->first->miopen, b = problem->second->miopen, c = problem->result->miopen;
  miopenConvolutionDescriptor_t how = problem->convolution->miopen[algorithm(problem, algo).same];
  switch (problem->direction) {
    case CUDNN_FORWARD:
      return miopen.ConvolutionForwardImmediate(beneath, a, first, b, second, how, c, result, space, size, id);
    case CUDNN_BACKWARD_DATA:
      return miopen.ConvolutionBackwardDataImmediate(beneath, a, first, b, second, how, c, result, space, size, id);
    default:
      return miopen.ConvolutionBackwardWeightsImmediate(beneath, a, first, b, second, how, c, result, space, size, id);
  }
}

/* Turns a filter round in its spatial dimensions: each place of it is copied, for all K and C at once. */
static miopenStatus_t turn(cudnnHandle_t handle, const struct cudnn_tensor *filter, const char *from, char *to) {
  miopenDataType_t type;
  struct cudnn_tensor one = *filter;
  int places = 1;
  for (int i = 2; i < filter->count; i++) places *= filter->size[i], one.size[i] = 1;
  if (!beneath_cudnnDataType_t(filter->type, &type)) return miopenStatusBadParm;
  miopenStatus_t done = miopen.CreateTensorDescriptor(&one.miopen);
  if (done) return done;
  done = miopen.SetTensorDescriptor(one.miopen, type, one.count, one.size, one.stride);
  for (int place = 0; place < places && !done; place++) {
    size_t here = 0, there = 0;
    for (int i = filter->count - 1, rest = place; i >= 2; rest /= filter->size[i], i--) {
      size_t at = (size_t)(rest % filter->size[i]), stride = (size_t)filter->stride[i];
      here += at * stride, there += ((size_t)filter->size[i] - 1 - at) * stride;
    }
    size_t size = cudnn_type_size(filter->type);
    done = cudnn_transform(handle, &one, from + here * size, &one, to + there * size);
  }
  miopen.DestroyTensorDescriptor(one.miopen);
  return done;
}

/* CUDNN_CONVOLUTION is a correlation with a filter that is turned round. */
static miopenStatus_t run_turned(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo, const void *first,
                                 const void *second, void *space, size_t size, uint64_t id, void *result) {
  enum { TURNED_BUFFER = 2 };
  const struct cudnn_tensor *filter = problem->direction == CUDNN_FORWARD         ? problem->first
                                      : problem->direction == CUDNN_BACKWARD_DATA ? problem->second
                                                                                  : problem->result;
  if (problem->convolution->mode == CUDNN_CROSS_CORRELATION) {
    return run(handle, problem, algo, first, second, space, size, id, result);
  }
  void *turned = cudnn_scratch(handle, TURNED_BUFFER, cudnn_bytes(filter));
  if (!turned) return miopenStatusAllocFailed;
  if (problem->direction == CUDNN_BACKWARD_FILTER) {
    miopenStatus_t done = run(handle, problem, algo, first, second, space, size, id, turned);
    return done ? done : turn(handle, filter, turned, result);
  }
  bool forward = problem->direction == CUDNN_FORWARD;
  miopenStatus_t done = turn(handle, filter, forward ? first : second, turned);
  return done ? done : run(handle, problem, algo, forward ? turned : first, forward ? second : turned, space, size, id,
                           result);
}

miopenStatus_t cudnn_convolve(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo, const void *alpha,
                             const void *first, const void *second, void *space, size_t space_size, const void *beta,
                             void *result) {
  miopenConvSolution_t solution;
  if (!first || !second || (space_size && !space)) return miopenStatusBadParm;
  miopenStatus_t status = check(problem, algo);
  if (!status) status = choose(handle, problem, algo, space_size, &solution);
  if (status) return status;
  return CUDNN_BLEND(0, handle, alpha, beta, problem->result, result,
                     run_turned(handle, problem, algo, first, second, space, space_size, solution.solution_id,
                                result));
}

/* ---- lists of algorithms ---- */

static bool is_alias(enum cudnn_direction direction, int algo) {
  for (int i = 0; i < algo; i++) {
    if (algorithms[direction][i].kinds == algorithms[direction][algo].kinds) return true;
  }
  return false;
}

/* The algorithms that there are, best first, with what MIOpen expects of them. */
miopenStatus_t cudnn_convolution_list(cudnnHandle_t handle, const struct cudnn_problem *problem, int wanted,
                                     int *returned, struct cudnn_performance *out) {
  miopenConvSolution_t solutions[2][SOLUTIONS];
  int found[2], given = 0;
  if (wanted < 1 || !returned || !out) return miopenStatusBadParm;
  miopenStatus_t status = check(problem, 0);
  if (status) return status;
  for (int same = 0; same < 2; same++) {
    found[same] = list(handle, problem, same, solutions[same]);
    if (found[same] < 0) return (miopenStatus_t)-found[same];
  }
  struct cudnn_performance all[ALGORITHMS];
  for (int algo = 0; algo < counts[problem->direction]; algo++) {
    bool same = algorithms[problem->direction][algo].same;
    const miopenConvSolution_t *one =
        is_alias(problem->direction, algo)
            ? NULL
            : best(solutions[same], found[same], algorithms[problem->direction][algo].kinds, SIZE_MAX);
    if (!one) continue;
    int at = given++;
    for (; at && all[at - 1].time > one->time; at--) all[at] = all[at - 1];
    all[at] = (struct cudnn_performance){.algo = algo, .time = one->time, .memory = one->workspace_size,
                                         .determinism = same, .mathType = problem->convolution->math};
  }
  if (!given) return cudnn_no("a convolution that MIOpen has no solution for");
  *returned = given < wanted ? given : wanted;
  memcpy(out, all, (size_t)*returned * sizeof *out);
  return miopenStatusSuccess;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

miopenStatus_t cudnn_convolution_find(cudnnHandle_t handle, const struct cudnn_problem *problem, const void *first,
                                     const void *second, void *result, int wanted, int *returned,
                                     struct cudnn_performance *out, void *space, size_t size) {
  const struct { double twice; float once; } ones = {1, 1}, zeros = {0, 0};
  bool wide = problem->result->type == CUDNN_DATA_DOUBLE;
  const void *one = wide ? (const void *)&ones.twice : &ones.once;
  const void *zero = wide ? (const void *)&zeros.twice : &zeros.once;
  struct cudnn_performance all[ALGORITHMS];
  int found, good = 0;
  if (wanted < 1 || !returned || !out || !first || !second || !result) return miopenStatusBadParm;
  miopenStatus_t status = cudnn_convolution_list(handle, problem, ALGORITHMS, &found, all);
  for (int i = 0; i < found && !status; i++) {
    if (all[i].memory > size) continue;
    double start = 0;
    for (int turn = 0; turn < 2 && !all[i].status; turn++) { /* the first compiles */
      start = now();
      all[i].status = cudnn_status(cudnn_convolve(handle, problem, all[i].algo, one, first, second, space, size, zero,
                                                  result));
      if (libmap_driver.synchronize(handle->stream)) return miopenStatusUnknownError;
    }
    if (all[i].status) continue;
    struct cudnn_performance measured = all[i];
    measured.time = (float)(now() - start);
    int at = good++;
    for (; at && all[at - 1].time > measured.time; at--) all[at] = all[at - 1];
    all[at] = measured;
  }
  if (status) return status;
  if (!good) return miopenStatusUnknownError;
  *returned = good < wanted ? good : wanted;
  memcpy(out, all, (size_t)*returned * sizeof *out);
  return miopenStatusSuccess;
}

miopenStatus_t cudnn_convolution_try(cudnnHandle_t handle, const struct cudnn_problem *problem, int wanted,
                                    int *returned, struct cudnn_performance *out) {
  struct cudnn_performance all[ALGORITHMS];
  int found;
  miopenStatus_t status = cudnn_convolution_list(handle, problem, ALGORITHMS, &found, all);
  if (status) return status;
  size_t space = 0, sizes[] = {cudnn_bytes(problem->first), cudnn_bytes(problem->second), cudnn_bytes(problem->result), 0};
  for (int i = 0; i < found; i++) space = all[i].memory > space ? all[i].memory : space;
  sizes[3] = space ? space : 1;
  uint64_t at[4] = {0};
  for (int i = 0; i < 4 && !status; i++) {
    if (libmap_driver.allocate(&at[i], sizes[i])) status = miopenStatusAllocFailed;
  }
  if (!status) {
    status = cudnn_convolution_find(handle, problem, (void *)(uintptr_t)at[0], (void *)(uintptr_t)at[1],
                                    (void *)(uintptr_t)at[2], wanted, returned, out, (void *)(uintptr_t)at[3], space);
  }
  for (int i = 0; i < 4; i++) {
    if (at[i]) libmap_driver.release(at[i]);
  }
  return status;
}
