/* What the graph files share beyond hip_state.h: descriptions of nodes to operations. */
#ifndef PTX2AMD_VGPU_HIP_GRAPH_H
#define PTX2AMD_VGPU_HIP_GRAPH_H
#include "hip_state.h"

/* What op owns afterwards (a kernel's arguments) belongs to the caller. */
hipError_t graph_kernel_op(const hipKernelNodeParams *p, struct op *op);
hipError_t graph_fill_op(const hipMemsetParams *p, struct op *op);
hipError_t graph_copy_op(const HIP_MEMCPY3D *p, struct op *op);
hipError_t graph_host_op(const hipHostNodeParams *p, struct op *op);
#endif
