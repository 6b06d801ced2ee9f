/* Hints that matter on other GPUs; the software GPU stores them at most. */
#include <string.h>

#include "hip_state.h"

/* Streams restricted to some compute units: the software GPU has one compute unit per thread of the processor. */
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t size, const uint32_t *mask) {
  if (!size || !mask) return done(hipErrorInvalidValue);
  return hipStreamCreate(stream);
}
hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t size, uint32_t *mask) {
  ENTER();
  struct device *d = device_current();
  if (!mask || size * 32 < d->arch->compute_units) return done(hipErrorInvalidValue);
  if (!stream_resolve(stream)) return done(hipErrorInvalidHandle);
  for (uint32_t k = 0; k < size; k++) {
    uint32_t left = d->arch->compute_units > 32 * k ? d->arch->compute_units - 32 * k : 0;
    mask[k] = left >= 32 ? UINT32_MAX : (1u << left) - 1;
  }
  return hipSuccess;
}

static int ordinal_of(hipMemLocation location) {
  enum { HOST = -1 };
  return location.type == hipMemLocationTypeDevice ? location.id : HOST;
}
hipError_t hipMemAdvise_v2(const void *ptr, size_t count, hipMemoryAdvise advice, hipMemLocation location) {
  return hipMemAdvise(ptr, count, advice, ordinal_of(location));
}
hipError_t hipMemPrefetchAsync_v2(const void *ptr, size_t count, hipMemLocation location, unsigned flags,
                                  hipStream_t stream) {
  if (flags) return done(hipErrorInvalidValue);
  return hipMemPrefetchAsync(ptr, count, ordinal_of(location), stream);
}

/* Every device reaches every other in one hop. */
hipError_t hipExtGetLinkTypeAndHopCount(int first, int second, uint32_t *type, uint32_t *hops) {
  enum { LINK_XGMI = 4 };
  ENTER();
  if (!type || !hops || first == second) return done(hipErrorInvalidValue);
  if (!device_at(first) || !device_at(second)) return done(hipErrorInvalidDevice);
  *type = LINK_XGMI;
  *hops = 1;
  return hipSuccess;
}

hipError_t hipSetValidDevices(int *devices, int count) {
  ENTER();
  if (count < 0 || (count && !devices)) return done(hipErrorInvalidValue);
  for (int k = 0; k < count; k++)
    if (!device_at(devices[k])) return done(hipErrorInvalidDevice);
  return hipSuccess;
}

/* Executing them one after the other is as good as concurrently. */
hipError_t hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, hipMemcpyAttributes *attributes,
                               size_t *indices, size_t attribute_count, size_t *failed, hipStream_t stream) {
  ENTER();
  (void)attributes, (void)indices, (void)attribute_count;
  if (!dsts || !srcs || !sizes || !count) return done(hipErrorInvalidValue);
  for (size_t k = 0; k < count; k++) {
    hipError_t error = hipMemcpyAsync(dsts[k], srcs[k], sizes[k], hipMemcpyDefault, stream);
    if (error == hipSuccess) continue;
    if (failed) *failed = k;
    return error;
  }
  return hipSuccess;
}

hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *host, int blocks, int block) {
  ENTER();
  function *f;
  if (!size || blocks <= 0 || block <= 0) return done(hipErrorInvalidValue);
  hipError_t error = function_of(host, device_current(), &f);
  if (error != hipSuccess) return done(error);
  size_t most = f->device->arch->lds_bytes - f->kernel->group_size, granule = 256;
  for (most &= ~(granule - 1); most && occupancy(f, (unsigned)block, most) < blocks;) most -= granule;
  *size = occupancy(f, (unsigned)block, most) < blocks ? 0 : most;
  return hipSuccess;
}
