/* Device variables by their host symbols. */
#include "hip_state.h"

hipError_t hipGetSymbolAddress(void **address, const void *symbol) {
  ENTER();
  size_t size;
  return done(address ? variable_of(symbol, device_current(), (char **)address, &size) : hipErrorInvalidValue);
}

hipError_t hipGetSymbolSize(size_t *size, const void *symbol) {
  ENTER();
  char *address;
  return done(size ? variable_of(symbol, device_current(), &address, size) : hipErrorInvalidValue);
}

/* The address of [offset, offset + size) of the variable. */
static hipError_t part_of(const void *symbol, size_t offset, size_t size, char **part) {
  char *address;
  size_t whole;
  hipError_t error = variable_of(symbol, device_current(), &address, &whole);
  if (error != hipSuccess) return error;
  if (offset > whole || size > whole - offset) return hipErrorInvalidValue;
  *part = address + offset;
  return hipSuccess;
}

static bool kind_fits(hipMemcpyKind kind, hipMemcpyKind host_kind) {
  return kind == host_kind || kind == hipMemcpyDeviceToDevice || kind == hipMemcpyDefault;
}

hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  ENTER();
  char *part;
  if (!kind_fits(kind, hipMemcpyHostToDevice)) return done(hipErrorInvalidMemcpyDirection);
  hipError_t error = part_of(symbol, offset, size, &part);
  return error == hipSuccess ? hipMemcpyAsync(part, src, size, kind, stream) : done(error);
}

hipError_t hipMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  ENTER();
  char *part;
  if (!kind_fits(kind, hipMemcpyDeviceToHost)) return done(hipErrorInvalidMemcpyDirection);
  hipError_t error = part_of(symbol, offset, size, &part);
  return error == hipSuccess ? hipMemcpyAsync(dst, part, size, kind, stream) : done(error);
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *src, size_t size, size_t offset, hipMemcpyKind kind) {
  hipError_t error = hipMemcpyToSymbolAsync(symbol, src, size, offset, kind, NULL);
  return error == hipSuccess ? hipStreamSynchronize(NULL) : error;
}

hipError_t hipMemcpyFromSymbol(void *dst, const void *symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  hipError_t error = hipMemcpyFromSymbolAsync(dst, symbol, size, offset, kind, NULL);
  return error == hipSuccess ? hipStreamSynchronize(NULL) : error;
}
