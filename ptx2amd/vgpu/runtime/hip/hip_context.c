/* Contexts, and the current context of each thread. A context is a view of its device: memory and streams belong to the
 * device. */
#include "hip_state.h"

struct handle_class context_class = HANDLE_CLASS(struct ihipCtx_t, 4096);

#define DEPTH 64
static __thread context *stack[DEPTH];
static __thread int depth;

context *context_current(void) { return depth ? stack[depth - 1] : NULL; }

struct device *device_current(void) {
  context *c = context_current();
  return c && handle_ok(&context_class, c) ? c->device : &hip_devices[0];
}

static void set_current(context *c) {
  if (depth == 0) depth = 1;
  stack[depth - 1] = c;
}

hipError_t hipSetDevice(int device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  set_current(d->primary);
  return hipSuccess;
}

hipError_t hipGetDevice(int *device) {
  ENTER();
  if (!device) return done(hipErrorInvalidValue);
  if (!hip_device_count) return done(hipErrorNoDevice);
  *device = device_current()->ordinal;
  return hipSuccess;
}

hipError_t hipCtxCreate(hipCtx_t *ctx, unsigned flags, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!ctx) return done(hipErrorInvalidValue);
  if (!d) return done(hipErrorInvalidDevice);
  if (depth == DEPTH) return done(hipErrorOutOfMemory);
  context *c = handle_new(&context_class);
  if (!c) return done(hipErrorOutOfMemory);
  c->device = d;
  c->flags = flags;
  stack[depth++] = c;
  *ctx = c;
  return hipSuccess;
}

hipError_t hipCtxDestroy(hipCtx_t ctx) {
  ENTER();
  MAY_WAIT();
  if (!handle_ok(&context_class, ctx) || ctx == ctx->device->primary) return done(hipErrorInvalidContext);
  device_synchronize(ctx->device);
  atomic_store(&ctx->device->sticky, 0);
  if (context_current() == ctx) depth--;
  handle_free(&context_class, ctx);
  return hipSuccess;
}

hipError_t hipCtxPushCurrent(hipCtx_t ctx) {
  ENTER();
  if (!handle_ok(&context_class, ctx)) return done(hipErrorInvalidContext);
  if (depth == DEPTH) return done(hipErrorOutOfMemory);
  stack[depth++] = ctx;
  return hipSuccess;
}

hipError_t hipCtxPopCurrent(hipCtx_t *ctx) {
  ENTER();
  if (!depth) return done(hipErrorInvalidContext);
  context *c = stack[--depth];
  if (ctx) *ctx = c;
  return hipSuccess;
}

hipError_t hipCtxSetCurrent(hipCtx_t ctx) {
  ENTER();
  if (!ctx) {
    if (depth) depth--;
    return hipSuccess;
  }
  if (!handle_ok(&context_class, ctx)) return done(hipErrorInvalidContext);
  set_current(ctx);
  return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t *ctx) {
  ENTER();
  if (!ctx) return done(hipErrorInvalidValue);
  *ctx = context_current();
  return hipSuccess;
}

hipError_t hipCtxGetDevice(hipDevice_t *device) {
  ENTER();
  context *c = context_current();
  if (!device) return done(hipErrorInvalidValue);
  if (!handle_ok(&context_class, c)) return done(hipErrorInvalidContext);
  *device = c->device->ordinal;
  return hipSuccess;
}

hipError_t hipCtxGetApiVersion(hipCtx_t ctx, unsigned *version) {
  ENTER();
  if (!version) return done(hipErrorInvalidValue);
  if (ctx && !handle_ok(&context_class, ctx)) return done(hipErrorInvalidContext);
  *version = 4;
  return hipSuccess;
}

hipError_t hipCtxSynchronize(void) { return hipDeviceSynchronize(); }

hipError_t hipCtxGetFlags(unsigned *flags) {
  ENTER();
  context *c = context_current();
  if (!flags) return done(hipErrorInvalidValue);
  if (!handle_ok(&context_class, c)) return done(hipErrorInvalidContext);
  *flags = c->flags;
  return hipSuccess;
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
  ENTER();
  if (!handle_ok(&context_class, peer)) return done(hipErrorInvalidContext);
  return hipDeviceEnablePeerAccess(peer->device->ordinal, flags);
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
  ENTER();
  if (!handle_ok(&context_class, peer)) return done(hipErrorInvalidContext);
  return hipDeviceDisablePeerAccess(peer->device->ordinal);
}

/* The primary context */

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags, int *active) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  if (!flags || !active) return done(hipErrorInvalidValue);
  *flags = d->primary->flags;
  *active = __atomic_load_n(&d->primary->references, __ATOMIC_RELAXED) > 0;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *ctx, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!ctx) return done(hipErrorInvalidValue);
  if (!d) return done(hipErrorInvalidDevice);
  __atomic_fetch_add(&d->primary->references, 1, __ATOMIC_RELAXED);
  *ctx = d->primary;
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  int references = __atomic_load_n(&d->primary->references, __ATOMIC_RELAXED);
  if (references <= 0) return done(hipErrorInvalidContext);
  if (__atomic_fetch_sub(&d->primary->references, 1, __ATOMIC_RELAXED) == 1) return hipDevicePrimaryCtxReset(device);
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  ENTER();
  MAY_WAIT();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  device_synchronize(d);
  atomic_store(&d->sticky, 0);
  return hipSuccess;
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  d->primary->flags = flags;
  return hipSuccess;
}

/* Preferences: stored, without effect */

hipError_t hipGetDeviceFlags(unsigned *flags) {
  ENTER();
  if (!flags) return done(hipErrorInvalidValue);
  *flags = device_current()->flags;
  return hipSuccess;
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  ENTER();
  if (flags & ~0x1fu) return done(hipErrorInvalidValue);
  device_current()->flags = flags;
  return hipSuccess;
}

#define PREFERENCE(get, set, type, field, limit)          \
  hipError_t get(type *config) {                          \
    ENTER();                                              \
    if (!config) return done(hipErrorInvalidValue);       \
    *config = (type)device_current()->field;              \
    return hipSuccess;                                    \
  }                                                       \
  hipError_t set(type config) {                           \
    ENTER();                                              \
    if (config > limit) return done(hipErrorInvalidValue); \
    device_current()->field = (int)config;                \
    return hipSuccess;                                    \
  }
PREFERENCE(hipDeviceGetCacheConfig, hipDeviceSetCacheConfig, hipFuncCache_t, cache_config, hipFuncCachePreferEqual)
PREFERENCE(hipCtxGetCacheConfig, hipCtxSetCacheConfig, hipFuncCache_t, cache_config, hipFuncCachePreferEqual)
PREFERENCE(hipDeviceGetSharedMemConfig, hipDeviceSetSharedMemConfig, hipSharedMemConfig, shared_config,
           hipSharedMemBankSizeEightByte)
PREFERENCE(hipCtxGetSharedMemConfig, hipCtxSetSharedMemConfig, hipSharedMemConfig, shared_config,
           hipSharedMemBankSizeEightByte)
