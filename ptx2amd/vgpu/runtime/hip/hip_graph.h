/* Definitions shared by the graph files beyond hip_state.h: conversion of node parameters to operations. */
#ifndef PTX2AMD_VGPU_HIP_GRAPH_H
#define PTX2AMD_VGPU_HIP_GRAPH_H
#include "hip_state.h"

/* The resources of op (a kernel's arguments) belong to the caller afterwards. */
hipError_t graph_kernel_op(const hipKernelNodeParams *p, struct op *op);
hipError_t graph_fill_op(const hipMemsetParams *p, struct op *op);
hipError_t graph_copy_op(const HIP_MEMCPY3D *p, struct op *op);
hipError_t graph_host_op(const hipHostNodeParams *p, struct op *op);

/* A new operation for a node of an executable graph; takes ownership of op. */
hipError_t graph_exec_set(hipGraphExec_t exec, hipGraphNode_t node, enum op_kind kind, hipError_t error, struct op *op);
void graph_memory_drop(struct graph_memory *memory);
/* At a launch; again: reuse memory that an earlier launch left allocated instead of reporting an error. */
hipError_t graph_memory_launch(const struct op *op, bool again);
#endif
