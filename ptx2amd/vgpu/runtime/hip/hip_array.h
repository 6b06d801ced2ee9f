/* Arrays: linear images in device memory. */
#ifndef PTX2AMD_VGPU_HIP_ARRAY_H
#define PTX2AMD_VGPU_HIP_ARRAY_H

#include "handle.h"
#include "hip.h"

struct hipArray {
  struct handle handle;
  void *data;
  uint64_t memory;            /* the id of data's allocation */
  HIP_ARRAY3D_DESCRIPTOR d;
  size_t texel, pitch;        /* bytes per element, and from row to row */
};
/* NULL: no such array. */
struct hipArray *array_checked(hipArray_t array);

/* Bytes of a channel, 0: no such format. */
unsigned channel_bytes(hipArray_Format format);
/* False: HIP has no such texel format. */
bool channels_of(const hipChannelFormatDesc *desc, hipArray_Format *format, unsigned *channels);
#endif
