/* Graph nodes whose parameters look different in HIP: kernels, fills, copies; and the generic node calls. */
#include <stdlib.h>
#include <string.h>

#include "children.h"
#include "copy.h"
#include "graph_move.h"

/* hipKernelNodeParams, hipMemsetParams. */
struct hip_kernel_node { unsigned block[3]; void **extra; void *function; unsigned grid[3]; void **params; unsigned shared; };
struct hip_memset_node { void *to; unsigned element; size_t height, pitch; unsigned value; size_t width; };

typedef int (*add_call)(const void *node, const void *graph, const void *dependencies, size_t count, const void *params);

/* The kernel that the parameters name (either field), loaded. */
static CUresult node_kernel(const CUDA_KERNEL_NODE_PARAMS *p, bool v2, struct kernel **k, struct kernel_code **code) {
  *k = kernel_checked(p->func ? (void *)p->func : v2 ? (void *)p->kern : NULL);
  if (!*k) return CUDA_ERROR_INVALID_HANDLE;
  return kernel_code_for(*k, thread_state.current->device, p->sharedMemBytes, code);
}

/* Converts and hands to `use`, which calls HIP; HIP copies the parameters. */
static CUresult with_kernel_params(const CUDA_KERNEL_NODE_PARAMS *p, int (*use)(const struct hip_kernel_node *, void *),
                                   void *context) {
  struct kernel *k;
  struct kernel_code *code;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = node_kernel(p, true, &k, &code);
  if (result) return result;
  if (code->launches) return children_refused(k, "graphs");
  int device = thread_state.current->device;
  char *buffer = calloc(1, k->parameter_bytes + LAUNCH_ROOM);
  void **pointers = calloc(k->parameter_count + LAUNCH_WORDS, sizeof *pointers);
  size_t size;
  result = buffer && pointers ? pack_parameters(k, p->kernelParams, p->extra, buffer, &size) : CUDA_ERROR_OUT_OF_MEMORY;
  struct shape s = {{p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ},
                    p->sharedMemBytes};
  if (!result) result = shape_checked(k, code, &s);
  if (!result) result = code_for_launch(k, device, &s, buffer, &code);
  if (!result) {
    result = launch_words(k, code, device, p->sharedMemBytes, false, 0, buffer, &size);
    point_at_parameters(k, code, buffer, pointers);
    struct hip_kernel_node node = {{p->blockDimX * code->spread, p->blockDimY, p->blockDimZ}, NULL, code->function,
                                   {p->gridDimX, p->gridDimY, p->gridDimZ}, pointers, launch_lds(code, device, p->sharedMemBytes)};
    if (!result) result = from_hip(use(&node, context));
  }
  free(buffer);
  free(pointers);
  return result;
}

struct add { CUgraphNode *node; CUgraph graph; const CUgraphNode *dependencies; size_t count; };
static int add_kernel(const struct hip_kernel_node *p, void *context) {
  struct add *a = context;
  return hip.GraphAddKernelNode(a->node, a->graph, a->dependencies, a->count, p);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  if (!phGraphNode) return CUDA_ERROR_INVALID_VALUE;
  struct add a = {phGraphNode, hGraph, dependencies, numDependencies};
  return with_kernel_params(nodeParams, add_kernel, &a);
}

static int set_kernel(const struct hip_kernel_node *p, void *node) { return hip.GraphKernelNodeSetParams(node, p); }

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return with_kernel_params(nodeParams, set_kernel, hNode);
}

struct exec_set { CUgraphExec exec; CUgraphNode node; };
static int exec_set_kernel(const struct hip_kernel_node *p, void *context) {
  struct exec_set *s = context;
  return hip.GraphExecKernelNodeSetParams(s->exec, s->node, p);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  struct exec_set s = {hGraphExec, hNode};
  if (!graph_exec_part(&s.exec, &s.node)) return CUDA_ERROR_INVALID_VALUE;
  return with_kernel_params(nodeParams, exec_set_kernel, &s);
}

/* The kernel, and which code of it, that a HIP function is. */
static struct kernel *kernel_of(const void *hip_function, struct kernel_code **code) {
  int device = thread_state.current->device;
  for (struct kernel *k = handle_next(HANDLE_KERNEL, NULL); k; k = handle_next(HANDLE_KERNEL, k)) {
    for (int i = 0; i < VARIANTS; i++) {
      *code = k->code[i][device];
      if (*code && (*code)->function == hip_function) return k;
    }
  }
  return NULL;
}

/* The dynamic shared memory that the program asked for. Of spilled code HIP knows only the LDS; the launch's words,
 * behind the parameters, have the size. */
static unsigned asked_shared(const struct kernel *k, const struct kernel_code *code, const struct hip_kernel_node *p) {
  if (!code->spilled || !p->params) return p->shared;
  return (unsigned)*(const uint64_t *)p->params[k->parameter_count + 1];
}

static CUresult get_kernel(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *p, size_t size) {
  struct hip_kernel_node node = {0};
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphKernelNodeGetParams(hNode, &node);
  if (error) return hip_error(error);
  struct kernel_code *code;
  struct kernel *k = kernel_of(node.function, &code);
  if (k) {
    node.block[0] /= code->spread;
    node.shared = asked_shared(k, code, &node);
  }
  CUDA_KERNEL_NODE_PARAMS found = {
      .func = (CUfunction)k, .kern = k && k->module->library ? (CUkernel)k : NULL, .gridDimX = node.grid[0], .gridDimY = node.grid[1],
      .gridDimZ = node.grid[2], .blockDimX = node.block[0], .blockDimY = node.block[1], .blockDimZ = node.block[2],
      .sharedMemBytes = node.shared, .kernelParams = node.params, .extra = node.extra,
      .ctx = (CUcontext)thread_state.current};
  memcpy(p, &found, size);
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return get_kernel(hNode, nodeParams, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return get_kernel(hNode, nodeParams, sizeof *nodeParams);
}

static CUresult kernel_node_checked(CUgraphNode node) {
  CUgraphNodeType type;
  CUresult result = cuGraphNodeGetType(node, &type);
  return result ? result : type == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Attributes of kernel nodes are hints. */
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *value_out) {
  CUresult result = kernel_node_checked(hNode);
  if (result) return result;
  if (!value_out || attr < 1 || attr > 18) return CUDA_ERROR_INVALID_VALUE;
  memset(value_out, 0, 64);
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue *value) {
  CUresult result = kernel_node_checked(hNode);
  if (result) return result;
  if (!value || attr < 1 || attr > 18) return CUDA_ERROR_INVALID_VALUE;
  return attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  CUresult result = kernel_node_checked(dst);
  return result ? result : kernel_node_checked(src);
}

/* ---- fills ---- */

static bool memset_node(const CUDA_MEMSET_NODE_PARAMS *p, struct hip_memset_node *out) {
  if (!p || !fill_fits(p->dst, p->pitch, p->elementSize, p->width, p->height)) return false;
  *out = (struct hip_memset_node){(void *)p->dst, p->elementSize, p->height, p->pitch, p->value, p->width};
  return true;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
  (void)ctx;
  struct hip_memset_node node;
  if (!phGraphNode || !memset_node(memsetParams, &node)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &node));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  struct hip_memset_node node = {0};
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphMemsetNodeGetParams(hNode, &node);
  *nodeParams = (CUDA_MEMSET_NODE_PARAMS){(CUdeviceptr)(uintptr_t)node.to, node.pitch, node.value, node.element,
                                          node.width, node.height};
  return from_hip(error);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  struct hip_memset_node node;
  if (!memset_node(nodeParams, &node)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphMemsetNodeSetParams(hNode, &node));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
  (void)ctx;
  struct hip_memset_node node;
  if (!memset_node(memsetParams, &node) || !graph_exec_part(&hGraphExec, &hNode)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphExecMemsetNodeSetParams(hGraphExec, hNode, &node));
}

/* ---- copies ---- */

/* hipMemcpy3DParms: what graphs take where they know no driver copies. Positions are folded into the addresses. */
struct hip_copy_parms {
  void *src_array; size_t src_pos[3]; struct { const void *at; size_t pitch, width, height; } src;
  void *dst_array; size_t dst_pos[3]; struct { const void *at; size_t pitch, width, height; } dst;
  size_t extent[3]; int kind;
};

static bool copy_parms(const struct hip_copy_3d *c, struct hip_copy_parms *out) {
  bool from_host = c->src_type == hip_memory_type(CU_MEMORYTYPE_HOST), to_host = c->dst_type == hip_memory_type(CU_MEMORYTYPE_HOST);
  size_t src_pitch = c->src_pitch ? c->src_pitch : c->width, src_height = c->src_height ? c->src_height : c->height;
  size_t dst_pitch = c->dst_pitch ? c->dst_pitch : c->width, dst_height = c->dst_height ? c->dst_height : c->height;
  const char *from = from_host ? c->src_host : (const char *)c->src_device;
  const char *to = to_host ? c->dst_host : (const char *)c->dst_device;
  *out = (struct hip_copy_parms){
      .src = {from + c->src_x + (c->src_y + c->src_z * src_height) * src_pitch, src_pitch, c->width, src_height},
      .dst = {to + c->dst_x + (c->dst_y + c->dst_z * dst_height) * dst_pitch, dst_pitch, c->width, dst_height},
      .extent = {c->width, c->height, c->depth}, .kind = HIP_COPY_DEFAULT};
  return !c->src_array && !c->dst_array;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
  (void)ctx;
  struct hip_copy_3d copy;
  if (!phGraphNode || copy_for_hip(copyParams, &copy)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &copy, NULL);
  struct hip_copy_parms parms;
  if (error == HIP_NOT_SUPPORTED && copy_parms(&copy, &parms))
    error = hip.GraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &parms);
  return from_hip(error);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
  struct hip_copy_3d copy = {0};
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphMemcpyNodeGetParams(hNode, &copy);
  if (!error) copy_for_cuda(&copy, nodeParams);
  return from_hip(error);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
  struct hip_copy_3d copy;
  if (copy_for_hip(nodeParams, &copy)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphMemcpyNodeSetParams(hNode, &copy);
  struct hip_copy_parms parms;
  if (error == HIP_NOT_SUPPORTED && copy_parms(&copy, &parms)) error = hip.GraphMemcpyNodeSetParams(hNode, &parms);
  return from_hip(error);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams,
                                        CUcontext ctx) {
  (void)ctx;
  struct hip_copy_3d copy;
  if (copy_for_hip(copyParams, &copy) || !graph_exec_part(&hGraphExec, &hNode)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphExecMemcpyNodeSetParams(hGraphExec, hNode, &copy, NULL);
  struct hip_copy_parms parms;
  if (error == HIP_NOT_SUPPORTED && copy_parms(&copy, &parms))
    error = hip.GraphExecMemcpyNodeSetParams(hGraphExec, hNode, &parms);
  return from_hip(error);
}

/* ---- memory: not in graphs that a parent has ---- */

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams) {
  if (!phGraphNode || graph_is_moved(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphAddMemAllocNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams));
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                               size_t numDependencies, CUdeviceptr dptr) {
  if (!phGraphNode || graph_is_moved(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphAddMemFreeNode(phGraphNode, hGraph, dependencies, numDependencies, (void *)dptr));
}
