/* CUDA's descriptions of 2-D and 3-D copies, for HIP. */
#ifndef SHIM_COPY_H
#define SHIM_COPY_H
#include "shim.h"

/* HIP_MEMCPY3D since HIP 6. */
struct hip_copy_3d {
  size_t src_x, src_y, src_z, src_lod; int src_type; const void *src_host; uint64_t src_device;
  CUarray src_array; size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod; int dst_type; void *dst_host; uint64_t dst_device;
  CUarray dst_array; size_t dst_pitch, dst_height;
  size_t width, height, depth;
};

CUresult copy_for_hip(const CUDA_MEMCPY3D *c, struct hip_copy_3d *out); /* or what is wrong with c, which may be null */
void copy_for_cuda(const struct hip_copy_3d *c, CUDA_MEMCPY3D *out);
int hip_memory_type(int cuda);                                      /* -1: none */
#endif
