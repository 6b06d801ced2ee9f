/* Contexts: a stack per thread, one primary context per device. HIP has one context per device, so CUDA's contexts
 * exist here; what belongs to one (modules, streams, events) is dropped with it. */
#define _GNU_SOURCE
#include <string.h>

#include "deferred.h"
#include "module.h"
#include "shim.h"

__thread struct thread_state thread_state __attribute__((tls_model("initial-exec")));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *primaries[MAX_DEVICES];

static struct context *create(int device, unsigned flags, bool primary) {
  static uint64_t last_id;
  struct context *c = handle_new(HANDLE_CONTEXT);
  if (!c) return NULL;
  c->device = device;
  c->flags = flags;
  c->primary = primary;
  c->active = !primary;
  c->retained = !primary;
  c->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  c->limits[CU_LIMIT_STACK_SIZE] = 1024;
  c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  c->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
  c->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
  c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
  c->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
  return c;
}

struct context *context_new(int device) { return create(device, 0, false); }

struct context *primary_context(int device) {
  pthread_mutex_lock(&lock);
  if (!primaries[device]) primaries[device] = create(device, 0, true);
  struct context *c = primaries[device];
  pthread_mutex_unlock(&lock);
  return c;
}

struct context *context_checked(CUcontext handle) {
  return handle_ok(HANDLE_CONTEXT, handle) ? (struct context *)handle : NULL;
}

CUresult context_missing(void) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return thread_state.current ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

static void make_current(struct context *c) {
  thread_state.current = c;
  if (c && thread_state.hip_device != c->device) {
    hip.SetDevice(c->device);
    thread_state.hip_device = c->device;
  }
}

CUresult context_owner(CUcontext c, struct context **owner) {
  *owner = context_checked(c);
  return *owner ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult any_owner(struct context **owner) {
  *owner = primary_context(0);
  return *owner ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

struct context *context_lend(struct context *owner) {
  struct context *before = thread_state.current;
  make_current(owner);
  return before;
}

void context_return(struct context *before) { make_current(before); }

/* What was made in a context goes with it, once nothing runs any more. */
static void drop_contents(struct context *c) {
  int device = thread_state.hip_device;
  if (device != c->device) hip.SetDevice(c->device);
  streams_abandon_captures(c);
  hipStreamCaptureMode mode = capture_relax();
  int error = hip.DeviceSynchronize();
  capture_return(mode);
  bool lost = error && error != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* another context's capture */
  if (lost) hip.DeviceReset(); /* a fault's error stays until then */
  if (lost) uploads_reset(c->device);
  printf_drain(c->device);
  children_reset(c->device, lost);
  storage_drop(c);
  streams_drop(c);
  events_drop(c);
  modules_drop(c);
  arena_reset(c->device);
  if (device != c->device) hip.SetDevice(device);
}

/* ---- primary contexts ---- */

#define CHECK_DEVICE(dev) do { \
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED; \
    if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE; \
  } while (0)

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
  CHECK_DEVICE(dev);
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = primary_context(dev);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  c->retained++;
  c->active = true;
  pthread_mutex_unlock(&lock);
  *pctx = (CUcontext)c;
  return CUDA_SUCCESS;
}

static void deactivate(struct context *c) {
  drop_contents(c);
  heap_reset(c->device);
  c->active = false;
  c->flags = 0;
}

static bool in_use(int device) {
  for (struct context *c = handle_next(HANDLE_CONTEXT, NULL); c; c = handle_next(HANDLE_CONTEXT, c))
    if (c->device == device && c->active) return true;
  return false;
}

/* Libraries outlive contexts. Their device memory is initialised again for the next one, here at the same addresses. */
static void end_primary(struct context *c) {
  deactivate(c);
  if (!in_use(c->device)) libraries_reset(c->device);
}

/* For our libraries over ROCm's (libmap): what these have on a device stays when it is reset, as they free it later. */
__attribute__((visibility("default"))) void ptx2amd_keep_memory(void);
static bool kept;
void ptx2amd_keep_memory(void) { __atomic_store_n(&kept, true, __ATOMIC_RELAXED); }

/* For our libraries over ROCm's (libmap): "gfx942"; NULL: there is no such device. */
__attribute__((visibility("default"))) const char *ptx2amd_chip(int device);
const char *ptx2amd_chip(int device) { return device >= 0 && device < device_count ? devices[device].arch : NULL; }

/* Frees the program's memory and ends an error state, unless another context lives on the device. AMD's hipDeviceReset
 * would take away what we have on the device as well: there memory stays until the process ends. */
static void reset_device(int device) {
  if (!hip_is_software || __atomic_load_n(&kept, __ATOMIC_RELAXED) || in_use(device)) return;
  int before = thread_state.hip_device;
  hip.SetDevice(device);
  hip.DeviceReset();
  hip.SetDevice(before);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  CHECK_DEVICE(dev);
  struct context *c = primary_context(dev);
  pthread_mutex_lock(&lock);
  bool retained = c && c->retained > 0, last = retained && --c->retained == 0;
  pthread_mutex_unlock(&lock);
  if (!retained) return CUDA_ERROR_INVALID_CONTEXT;
  if (last) end_primary(c);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  CHECK_DEVICE(dev);
  struct context *c = primary_context(dev);
  if (!c || !c->active) return CUDA_SUCCESS;
  end_primary(c);
  reset_device(dev);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  CHECK_DEVICE(dev);
  enum { MAP_HOST = 8 }; /* is always so in a primary context, and not its flag */
  struct context *c = primary_context(dev);
  if (!context_flags_ok(flags) || flags & MAP_HOST) return CUDA_ERROR_INVALID_VALUE;
  if (c) c->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
  CHECK_DEVICE(dev);
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = primary_context(dev);
  *flags = c ? c->flags : 0;
  *active = c && c->active;
  return CUDA_SUCCESS;
}

/* ---- the stack ---- */

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
  CHECK_DEVICE(dev);
  if (!pctx || !context_flags_ok(flags)) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = create(dev, flags, false);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  *pctx = (CUcontext)c;
  return cuCtxPushCurrent_v2(*pctx);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct context *c = context_checked(ctx);
  if (!c || c->primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (__atomic_exchange_n(&c->ending, true, __ATOMIC_ACQ_REL)) return CUDA_ERROR_INVALID_CONTEXT;
  struct context *current = thread_state.current;
  make_current(c); /* destructors may use it */
  drop_contents(c);
  c->active = false;
  handle_free(HANDLE_CONTEXT, c);
  if (current == c) {
    CUcontext popped;
    cuCtxPopCurrent_v2(&popped);
  } else {
    make_current(current);
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!ctx) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = context_checked(ctx);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  struct thread_state *t = &thread_state;
  if (t->depth == (int)(sizeof t->stack / sizeof *t->stack)) return CUDA_ERROR_OUT_OF_MEMORY;
  t->stack[t->depth++] = c;
  make_current(c);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct thread_state *t = &thread_state;
  if (!t->depth) return CUDA_ERROR_INVALID_CONTEXT;
  struct context *c = t->stack[--t->depth];
  make_current(t->depth ? t->stack[t->depth - 1] : NULL);
  if (pctx) *pctx = (CUcontext)c;
  return CUDA_SUCCESS;
}

/* Replaces the top of the stack; NULL removes it. */
CUresult cuCtxSetCurrent(CUcontext ctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct thread_state *t = &thread_state;
  struct context *c = ctx ? context_checked(ctx) : NULL;
  if (ctx && !c) return CUDA_ERROR_INVALID_CONTEXT;
  if (!c) return t->depth ? cuCtxPopCurrent_v2(&(CUcontext){0}) : CUDA_SUCCESS;
  if (!t->depth) return cuCtxPushCurrent_v2(ctx);
  t->stack[t->depth - 1] = c;
  make_current(c);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  *pctx = (CUcontext)thread_state.current;
  return CUDA_SUCCESS;
}

/* Of a primary context too that is not initialised yet, or was reset: NVIDIA's runtime 11.8 makes it current first. */
CUresult cuCtxGetDevice(CUdevice *device) {
  struct context *c = context_checked((CUcontext)thread_state.current);
  if (!initialised || !c || !(c->active || c->primary)) return context_missing();
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = c->device;
  return CUDA_SUCCESS;
}

/* A context by handle, or the current one for NULL. */
static CUresult named_context(CUcontext handle, struct context **c) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *c = handle ? context_checked(handle) : context_current();
  if (*c) return CUDA_SUCCESS;
  return handle ? CUDA_ERROR_INVALID_CONTEXT : context_missing();
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
  if (!ctx) return cuCtxGetDevice(device);
  struct context *c;
  CUresult result = named_context(ctx, &c);
  if (result) return result;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = c->device;
  return CUDA_SUCCESS;
}

static CUresult synchronise(struct context *c) {
  CUresult result = with_children(from_hip(hip.DeviceSynchronize()));
  printf_drain(c->device);
  return result;
}

CUresult cuCtxSynchronize(void) {
  return synchronise(thread_state.current);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  struct context *c, *current = thread_state.current;
  CUresult result = named_context(ctx, &c);
  if (result) return result;
  if (!c->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  make_current(c);
  result = synchronise(c);
  make_current(current);
  return result;
}

CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
  if (!pctx || flags) return CUDA_ERROR_INVALID_VALUE;
  thread_state.current->retained++;
  *pctx = (CUcontext)thread_state.current;
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext ctx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct context *c = context_checked(ctx);
  if (!c || c != thread_state.current) return CUDA_ERROR_INVALID_CONTEXT;
  if (c->primary || --c->retained > 0) return CUDA_SUCCESS;
  return cuCtxDestroy_v2(ctx);
}
