/* Launches. The path from cuLaunchKernel to HIP is meant to cost nanoseconds: checks by arithmetic, parameters
 * copied once. */
#include <stdlib.h>
#include <string.h>

#include "children.h"

enum { MAX_BLOCK = 1024 };

static inline void copy_parameter(char *to, const void *from, uint32_t size) {
  if (size == 8) memcpy(to, from, 8);
  else if (size == 4) memcpy(to, from, 4);
  else memcpy(to, from, size);
}

/* The packed buffer that `extra` names; `size` becomes its size. */
static CUresult from_extra(void **extra, const void **buffer, size_t *size) {
  const size_t *given = NULL;
  *buffer = NULL;
  for (int i = 0; i < 8 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) *buffer = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) given = extra[i + 1];
    else return CUDA_ERROR_INVALID_VALUE;
  }
  if (!*buffer != !given) return CUDA_ERROR_INVALID_VALUE;
  *size = given ? *given : 0;
  return CUDA_SUCCESS;
}

CUresult pack_parameters(const struct kernel *k, void **params, void **extra, void *buffer, size_t *size) {
  *size = k->parameter_bytes;
  if (!k->index.param_count) return CUDA_SUCCESS;
  if (params) {
    if (extra) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < k->index.param_count; i++) {
      const struct index_kernel_param *p = &k->index.params[i];
      if (UNLIKELY(!params[i])) return CUDA_ERROR_INVALID_VALUE;
      copy_parameter((char *)buffer + p->offset, params[i], p->size);
    }
    return CUDA_SUCCESS;
  }
  if (!extra) return CUDA_ERROR_INVALID_VALUE;
  const void *given;
  size_t given_size;
  CUresult result = from_extra(extra, &given, &given_size);
  if (result || !given) return result ? result : CUDA_ERROR_INVALID_VALUE;
  if (given_size > k->parameter_bytes) given_size = k->parameter_bytes;
  memcpy(buffer, given, given_size);
  memset((char *)buffer + given_size, 0, k->parameter_bytes - given_size); /* what the kernel may not need */
  return CUDA_SUCCESS;
}

static CUresult block_checked(const struct kernel *k, const struct kernel_code *code, unsigned threads) {
  if (!code->properties.max_threads || threads <= (unsigned)code->properties.max_threads) return CUDA_SUCCESS;
  const char *hazard = hazard_of(code);
  if (code->spread > 1)
    say("kernel %s: %u threads in a block, where the padded warp mapping allows %d%s%s", k->name, threads,
        code->properties.max_threads, hazard ? "; it is needed because of PTX " : "", hazard ? hazard : "");
  return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

/* For a grid or block of no possible size the driver API has CUDA_ERROR_INVALID_VALUE, and the runtime, which hands on
 * the driver's numbers, one that the driver API lacks. */
static CUresult impossible_size(void) {
  enum { RUNTIME_INVALID_CONFIGURATION = 9 };
  return thread_state.by_runtime ? (CUresult)RUNTIME_INVALID_CONFIGURATION : CUDA_ERROR_INVALID_VALUE;
}

/* AMD's launches count threads, in 32 bits for each dimension. */
static CUresult too_many_threads(const struct kernel *k, const struct shape *s) {
  say("kernel %s: %u blocks of %u threads in one dimension are more than the 2^32 - 1 threads that AMD's GPUs launch; use "
      "more dimensions, or a loop over the grid", k->name, s->grid[0], s->block[0]);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult shape_checked(const struct kernel *k, const struct kernel_code *code, const struct shape *s) {
  uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];
  if (!threads || threads > MAX_BLOCK || s->block[0] > MAX_BLOCK || s->block[1] > MAX_BLOCK || s->block[2] > 64)
    return impossible_size();
  if (!s->grid[0] || !s->grid[1] || !s->grid[2] || s->grid[0] > 2147483647u || s->grid[1] > 65535 ||
      s->grid[2] > 65535)
    return impossible_size();
  if (k->index.required[0] && (s->block[0] != (unsigned)k->index.required[0] || s->block[1] != (unsigned)k->index.required[1] ||
                         s->block[2] != (unsigned)k->index.required[2]))
    return CUDA_ERROR_INVALID_VALUE;
  if (k->index.max_threads && threads > (unsigned)k->index.max_threads) return CUDA_ERROR_INVALID_VALUE;
  if (UNLIKELY((uint64_t)s->grid[0] * s->block[0] * code->spread > UINT32_MAX)) return too_many_threads(k, s);
  CUresult result = block_checked(k, code, (unsigned)threads);
  if (UNLIKELY(result)) return result;
  return s->shared > (unsigned)dynamic_limit(k) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* All blocks of a cooperative launch are resident at once: at most as many as the attributes say. */
static CUresult together_checked(struct kernel *k, int device, const struct kernel_code *code, const struct shape *s) {
  uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
  int each = 0;
  CUresult result = active_blocks(k, device, (int)(s->block[0] * s->block[1] * s->block[2]), s->shared, &each);
  uint64_t most = (uint64_t)each * (uint64_t)devices[device].multiprocessors;
  if (result || blocks <= most) return result;
  if (code->properties.spilled)
    say("kernel %s: a cooperative launch of %llu blocks with more shared memory than the chip has; %llu fit", k->name,
        (unsigned long long)blocks, (unsigned long long)most);
  return from_hip(HIP_COOPERATIVE_LAUNCH_TOO_LARGE);
}

static bool in_one_allocation(uint64_t a, uint64_t b) {
  uint64_t base = 0;
  size_t size = 0;
  if (!a || !b) return false;
  if (hip_answers(hip.MemGetAddressRange((void **)&base, &size, (void *)a))) return b - base < size;
  return !hip_answers(hip.MemGetAddressRange((void **)&base, &size, (void *)b)) || a - base < size; /* true if HIP knows neither allocation */
}

static bool needs_padding(const struct kernel_code *code, const struct shape *s, const char *buffer) {
  if (code->properties.rows && code->properties.rows % (int)s->block[0]) return true;
  for (unsigned i = 0; i < code->properties.apart_count; i++) {
    uint64_t pointers[2];
    memcpy(&pointers[0], buffer + code->properties.apart[i].first, 8);
    memcpy(&pointers[1], buffer + code->properties.apart[i].second, 8);
    if (in_one_allocation(pointers[0], pointers[1])) return true;
  }
  return false;
}

CUresult code_for_launch(struct kernel *k, int device, const struct shape *s, const char *buffer,
                         struct kernel_code **code) {
  const struct kernel_properties *p = &(*code)->properties;
  unsigned variant = 0;
  if (UNLIKELY(p->blocks && s->grid[0] > (unsigned)p->blocks)) variant |= WIDE;
  if (UNLIKELY(p->rows || p->apart_count) && needs_padding(*code, s, buffer)) variant |= PADDED;
  if (!UNLIKELY(variant)) return CUDA_SUCCESS;
  CUresult result = kernel_variant(k, device, variant | (p->spilled ? SPILLED : 0), code);
  return result ? result : shape_checked(k, *code, s);
}

static void trace_launch(const struct kernel *k, const struct kernel_code *code, const struct shape *s, CUresult result) {
  char name[1024], why[1024];
  trace("\"event\": \"launch\", \"kernel\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared\": %u, "
        "\"mapping\": \"%s\", \"spilled\": %s, \"hazard\": %s, \"result\": %d",
        json_string(k->name, name, sizeof name), s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
        s->shared, mapping_names[code->properties.mapping], code->properties.spilled ? "true" : "false",
        hazard_of(code) ? json_string(hazard_of(code), why, sizeof why) : "null", result);
}

/* Whether AMD's library makes a graph node of it: it gives the parameters of one back only if they came one by one. The
 * question costs as much as the rest of a launch here, as AMD's library takes a lock to answer it. */
static bool captured(hipStream_t stream) {
  hipStreamCaptureStatus status = 0;
  return UNLIKELY(captures_begun) && !hip_is_software && stream && !hip.StreamIsCapturing(stream, &status) && status;
}

/* HIP 5 and 6 do not capture a cooperative launch, but do it at once. As a plain one it is correct, too: the barrier is in
 * our code, and its blocks are resident at once (together_checked). */
static int launch_by_pointers(const struct launch *l, const struct kernel_code *code, unsigned lds, char *buffer,
                              bool capture) {
  const struct shape *s = &l->shape;
  unsigned x = s->block[0] * code->spread;
  void *pointers[l->kernel->index.param_count + LAUNCH_WORDS];
  point_at_parameters(l->kernel, code, buffer, pointers);
  return l->cooperative && !(capture && hip_version < 700) ? hip.ModuleLaunchCooperativeKernel(code->function, s->grid[0], s->grid[1], s->grid[2], x, s->block[1],
                                                            s->block[2], lds, l->stream, pointers)
                        : hip.ModuleLaunchKernel(code->function, s->grid[0], s->grid[1], s->grid[2], x, s->block[1],
                                                 s->block[2], lds, l->stream, pointers, NULL);
}

CUresult kernel_launch(const struct launch *l) {
  struct kernel *k = l->kernel;
  const struct shape *s = &l->shape;
  struct kernel_code *code;
  CUresult result = kernel_code(k, l->device, &code);
  if (UNLIKELY(result)) return result;
  result = shape_checked(k, code, s);
  thread_state.by_runtime = false;
  if (UNLIKELY(result)) return result;
  if (UNLIKELY((result = kernel_code_for(k, l->device, s->shared, &code)))) return result;
  if (UNLIKELY(l->cooperative && (result = together_checked(k, l->device, code, s)))) return result;
  if (UNLIKELY(code->properties.launches && !l->records)) return children_launch(l);
  _Alignas(16) char buffer[k->parameter_bytes + LAUNCH_ROOM];
  size_t size;
  result = pack_parameters(k, l->params, l->extra, buffer, &size);
  if (!result) result = code_for_launch(k, l->device, s, buffer, &code);
  if (!result) result = launch_words(k, code, l->device, s->shared, l->cooperative, l->records, buffer, &size);
  if (UNLIKELY(result)) return result;
  unsigned lds = launch_lds(code, l->device, s->shared);
  void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  bool capture = captured(l->stream);
  int error = UNLIKELY(l->cooperative || capture)
                  ? launch_by_pointers(l, code, lds, buffer, capture)
                  : hip.ModuleLaunchKernel(code->function, s->grid[0], s->grid[1], s->grid[2],
                                           s->block[0] * code->spread, s->block[1], s->block[2], lds, l->stream,
                                           NULL, size ? packed : NULL);
  result = from_hip(error);
  if (UNLIKELY(trace_on)) trace_launch(k, code, s, result);
  return result;
}

static CUresult launch(CUfunction f, const struct shape *s, CUstream hStream, void **params, void **extra,
                       bool cooperative) {
  struct launch l = {.kernel = kernel_checked(f), .shape = *s, .device = thread_state.current->device, .params = params,
                     .extra = extra, .cooperative = cooperative};
  if (UNLIKELY(!l.kernel || !stream_hip(hStream, &l.stream))) return CUDA_ERROR_INVALID_HANDLE;
  return with_children(kernel_launch(&l));
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra) {
  struct shape s = {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  return launch(f, &s, hStream, kernelParams, extra, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream, void **kernelParams) {
  struct shape s = {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes};
  return launch(f, &s, hStream, kernelParams, NULL, true);
}

static CUresult cluster_refused(CUfunction f, const CUlaunchAttribute *a) {
  struct kernel *k = kernel_checked(f);
  if (!k) return CUDA_ERROR_INVALID_HANDLE;
  say("kernel %s: clusters of %u x %u x %u blocks are not supported; a cluster has one block", k->name,
      a->value.dim[0], a->value.dim[1], a->value.dim[2]);
  return CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static CUresult launch_config(const CUlaunchConfig *config, CUstream stream, CUfunction f, void **params,
                              void **extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  struct shape s = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes};
  bool cooperative = false;
  CUevent after = NULL;
  if (config->numAttrs && !config->attrs) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = a->value.integer != 0;
    else if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
             (uint64_t)a->value.dim[0] * a->value.dim[1] * a->value.dim[2] > 1)
      return cluster_refused(f, a);
    else if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || a->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      after = a->value.event.event;
  }
  CUresult result = launch(f, &s, stream, params, extra, cooperative);
  return result || !after ? result : cuEventRecord(after, stream);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra) {
  return launch_config(config, config ? config->hStream : NULL, f, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList, unsigned int numDevices,
                                              unsigned int flags) {
  if (!launchParamsList || !numDevices || flags > 3) return CUDA_ERROR_INVALID_VALUE;
  if (numDevices > 1) return CUDA_ERROR_NOT_SUPPORTED;
  const CUDA_LAUNCH_PARAMS *p = launchParamsList;
  return cuLaunchCooperativeKernel(p->function, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY,
                                   p->blockDimZ, p->sharedMemBytes, p->hStream, p->kernelParams);
}
