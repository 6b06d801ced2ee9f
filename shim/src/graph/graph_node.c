/* Graph nodes whose parameters look different in HIP: kernels, fills, copies; and the generic node calls. */
#include <stdlib.h>
#include <string.h>

#include "children.h"
#include "copy.h"
#include "graph_move.h"

/* The kernel that the parameters name (either field), loaded. */
static CUresult node_kernel(const CUDA_KERNEL_NODE_PARAMS *p, bool v2, struct kernel **k, struct kernel_code **code) {
  *k = kernel_checked(p->func ? (void *)p->func : v2 ? (void *)p->kern : NULL);
  if (!*k) return CUDA_ERROR_INVALID_HANDLE;
  return kernel_code_for(*k, thread_state.current->device, p->sharedMemBytes, code);
}

/* HIP 5 reads the values that a node gets as those of the kernel that it had, which may have more of them, or larger
 * ones: there is memory for as many bytes of parameters as a kernel can have. */
enum { MOST_PARAMETER_BYTES = 4096 };
static size_t spare(void) { return hip_version < 600 ? MOST_PARAMETER_BYTES : 0; }

/* Converts and hands to `use`, which calls HIP; HIP copies the parameters. */
static CUresult with_kernel_params(const CUDA_KERNEL_NODE_PARAMS *p, int (*use)(const hipKernelNodeParams *, void *),
                                   void *context) {
  struct kernel *k;
  struct kernel_code *code;
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = node_kernel(p, true, &k, &code);
  if (result) return result;
  if (code->properties.launches) return children_refused(k, "graphs");
  int device = thread_state.current->device;
  size_t end = k->parameter_bytes + LAUNCH_ROOM, count = k->index.param_count + LAUNCH_WORDS;
  char *buffer = calloc(1, end + spare());
  void **pointers = calloc(count + spare(), sizeof *pointers);
  size_t size;
  result = buffer && pointers ? pack_parameters(k, p->kernelParams, p->extra, buffer, &size) : CUDA_ERROR_OUT_OF_MEMORY;
  struct shape s = {{p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ},
                    p->sharedMemBytes};
  if (!result) result = shape_checked(k, code, &s);
  if (!result) result = code_for_launch(k, device, &s, buffer, &code);
  if (!result) {
    result = launch_words(k, code, device, p->sharedMemBytes, false, 0, buffer, &size);
    point_at_parameters(k, code, buffer, pointers);
    for (size_t i = 0; i < count + spare(); i++)
      if (spare() && !pointers[i]) pointers[i] = buffer + end;
    hipKernelNodeParams node = {{p->blockDimX * code->spread, p->blockDimY, p->blockDimZ}, NULL, code->function,
                                   {p->gridDimX, p->gridDimY, p->gridDimZ}, pointers, launch_lds(code, device, p->sharedMemBytes)};
    if (!result) result = from_hip(use(&node, context));
  }
  free(buffer);
  free(pointers);
  return result;
}

struct add { CUgraphNode *node; CUgraph graph; const CUgraphNode *dependencies; size_t count; };
static int add_kernel(const hipKernelNodeParams *p, void *context) {
  struct add *a = context;
  return hip.GraphAddKernelNode(a->node, a->graph, a->dependencies, a->count, p);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  if (!phGraphNode) return CUDA_ERROR_INVALID_VALUE;
  struct add a = {phGraphNode, hGraph, dependencies, numDependencies};
  return with_kernel_params(nodeParams, add_kernel, &a);
}

static int set_kernel(const hipKernelNodeParams *p, void *node) { return hip.GraphKernelNodeSetParams(node, p); }

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams) {
  return with_kernel_params(nodeParams, set_kernel, hNode);
}

struct exec_set { CUgraphExec exec; CUgraphNode node; };
static int exec_set_kernel(const hipKernelNodeParams *p, void *context) {
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
static unsigned asked_shared(const struct kernel *k, const struct kernel_code *code, const hipKernelNodeParams *p) {
  if (!code->properties.spilled || !p->kernelParams) return p->sharedMemBytes;
  return (unsigned)*(const uint64_t *)p->kernelParams[k->index.param_count + 1];
}

static CUresult get_kernel(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *p, size_t size) {
  hipKernelNodeParams node = {0};
  if (!p || !graph_node_is(hNode, CU_GRAPH_NODE_TYPE_KERNEL)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphKernelNodeGetParams(hNode, &node);
  if (error) return hip_error(error);
  struct kernel_code *code;
  struct kernel *k = kernel_of(node.func, &code);
  if (k) {
    node.blockDim.x /= code->spread;
    node.sharedMemBytes = asked_shared(k, code, &node);
  }
  CUDA_KERNEL_NODE_PARAMS found = {
      .func = (CUfunction)k, .kern = k && k->module->library ? (CUkernel)k : NULL, .gridDimX = node.gridDim.x, .gridDimY = node.gridDim.y,
      .gridDimZ = node.gridDim.z, .blockDimX = node.blockDim.x, .blockDimY = node.blockDim.y, .blockDimZ = node.blockDim.z,
      .sharedMemBytes = node.sharedMemBytes, .kernelParams = node.kernelParams, .extra = node.extra,
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

bool graph_node_is(CUgraphNode node, CUgraphNodeType type) {
  CUgraphNodeType found;
  return !cuGraphNodeGetType(node, &found) && found == type;
}

static CUresult kernel_node_checked(CUgraphNode node) {
  CUgraphNodeType type;
  CUresult result = cuGraphNodeGetType(node, &type);
  return result ? result : type == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Attributes of kernel nodes are hints; these are theirs. */
static bool node_attribute(CUkernelNodeAttrID attribute) {
  enum { NODES = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 14 };
  return attribute > 0 && attribute < 31 && NODES >> attribute & 1;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue *value_out) {
  CUresult result = kernel_node_checked(hNode);
  if (result) return result;
  if (!value_out || !node_attribute(attr)) return CUDA_ERROR_INVALID_VALUE;
  memset(value_out, 0, 64);
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue *value) {
  CUresult result = kernel_node_checked(hNode);
  if (result) return result;
  enum { PREFERRED_CARVEOUT = 16 }; /* is set, and not told */
  if (!value || (!node_attribute(attr) && attr != PREFERRED_CARVEOUT)) return CUDA_ERROR_INVALID_VALUE;
  int cooperative;
  memcpy(&cooperative, value, sizeof cooperative);
  return attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && cooperative ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  CUresult result = kernel_node_checked(dst);
  return result ? result : kernel_node_checked(src);
}

/* ---- fills ---- */

static bool memset_node(const CUDA_MEMSET_NODE_PARAMS *p, hipMemsetParams *out) {
  if (!p || !p->width || !p->height || !fill_fits(p->dst, p->pitch, p->elementSize, p->width, p->height)) return false;
  *out = (hipMemsetParams){(void *)p->dst, p->elementSize, p->height, p->pitch, p->value, p->width};
  return true;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
  (void)ctx;
  hipMemsetParams node;
  if (!phGraphNode || !memset_node(memsetParams, &node)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &node));
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  hipMemsetParams node = {0};
  if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.GraphMemsetNodeGetParams(hNode, &node);
  *nodeParams = (CUDA_MEMSET_NODE_PARAMS){(CUdeviceptr)node.dst, node.pitch, node.value, node.elementSize,
                                          node.width, node.height};
  return from_hip(error);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams) {
  hipMemsetParams node;
  if (!memset_node(nodeParams, &node)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphMemsetNodeSetParams(hNode, &node));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx) {
  (void)ctx;
  hipMemsetParams node;
  if (!memset_node(memsetParams, &node) || !graph_exec_part(&hGraphExec, &hNode)) return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GraphExecMemsetNodeSetParams(hGraphExec, hNode, &node));
}

/* ---- copies ---- */

/* What graphs take where they know no driver copies. Positions are folded into the addresses. */
static bool copy_parms(const HIP_MEMCPY3D *c, hipMemcpy3DParms *out) {
  hipMemoryType host = (hipMemoryType)hip_memory_type(CU_MEMORYTYPE_HOST);
  size_t src_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes, src_height = c->srcHeight ? c->srcHeight : c->Height;
  size_t dst_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes, dst_height = c->dstHeight ? c->dstHeight : c->Height;
  char *from = c->srcMemoryType == host ? (char *)c->srcHost : c->srcDevice;
  char *to = c->dstMemoryType == host ? c->dstHost : c->dstDevice;
  *out = (hipMemcpy3DParms){
      .srcPtr = {from + c->srcXInBytes + (c->srcY + c->srcZ * src_height) * src_pitch, src_pitch, c->WidthInBytes, src_height},
      .dstPtr = {to + c->dstXInBytes + (c->dstY + c->dstZ * dst_height) * dst_pitch, dst_pitch, c->WidthInBytes, dst_height},
      .extent = {c->WidthInBytes, c->Height, c->Depth}, .kind = hipMemcpyDefault};
  return !c->srcArray && !c->dstArray;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx) {
  (void)ctx;
  HIP_MEMCPY3D copy;
  if (!phGraphNode || copy_for_hip(copyParams, &copy)) return CUDA_ERROR_INVALID_VALUE;
  hipCtx_t context = NULL;   /* some releases of AMD's library refuse none */
  int error = hip.CtxGetCurrent(&context);
  if (!error) error = hip.DrvGraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &copy, context);
  hipMemcpy3DParms parms;
  if (error == HIP_NOT_SUPPORTED && copy_parms(&copy, &parms))
    error = hip.GraphAddMemcpyNode(phGraphNode, hGraph, dependencies, numDependencies, &parms);
  return from_hip(error);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams) {
  HIP_MEMCPY3D copy = {0};
  if (!nodeParams || !graph_node_is(hNode, CU_GRAPH_NODE_TYPE_MEMCPY)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphMemcpyNodeGetParams(hNode, &copy);
  if (!error) copy_for_cuda(&copy, nodeParams);
  return from_hip(error);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams) {
  HIP_MEMCPY3D copy;
  if (copy_for_hip(nodeParams, &copy)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphMemcpyNodeSetParams(hNode, &copy);
  hipMemcpy3DParms parms;
  if (error == HIP_NOT_SUPPORTED && copy_parms(&copy, &parms)) error = hip.GraphMemcpyNodeSetParams(hNode, &parms);
  return from_hip(error);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams,
                                        CUcontext ctx) {
  (void)ctx;
  HIP_MEMCPY3D copy;
  if (copy_for_hip(copyParams, &copy) || !graph_exec_part(&hGraphExec, &hNode)) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.DrvGraphExecMemcpyNodeSetParams(hGraphExec, hNode, &copy, NULL);
  hipMemcpy3DParms parms;
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
