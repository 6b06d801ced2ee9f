/* What the graph files share beyond hip_state.h: descriptions of nodes to operations. */
#ifndef PTX2AMD_VGPU_HIP_GRAPH_H
#define PTX2AMD_VGPU_HIP_GRAPH_H
#include "hip_state.h"

/* What op owns afterwards (a kernel's arguments) belongs to the caller. */
hipError_t graph_kernel_op(const hipKernelNodeParams *p, struct op *op);
hipError_t graph_fill_op(const hipMemsetParams *p, struct op *op);
hipError_t graph_copy_op(const HIP_MEMCPY3D *p, struct op *op);
hipError_t graph_host_op(const hipHostNodeParams *p, struct op *op);

/* A new operation for a node of an executable graph; op is taken over. */
hipError_t graph_exec_set(hipGraphExec_t exec, hipGraphNode_t node, enum op_kind kind, hipError_t error, struct op *op);
void graph_memory_drop(struct graph_memory *memory);
/* At a launch; again: memory that an earlier launch left is used again instead of being an error. */
hipError_t graph_memory_launch(const struct op *op, bool again);
#endif
