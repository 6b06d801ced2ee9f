/* Executable graphs: HIP's, and those with conditional nodes (conditional.h). */
#include "conditional.h"
#include "graph_end.h"
#include "graph_move.h"

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags, struct outcome *why) {
  *why = (struct outcome){CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
  if (graph_is_moved(graph)) return CUDA_ERROR_INVALID_VALUE;
  if (has_conditionals(graph) || condition_unused(graph)) return conditional_instantiate(exec, graph, flags, why);
  int error = hip.GraphInstantiateWithFlags(exec, graph, flags);
  if (!error) graph_exec_made(*exec);
  *why = (struct outcome){!error                       ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                          : error == HIP_INVALID_VALUE ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
                                                       : CUDA_GRAPH_INSTANTIATE_ERROR, NULL};
  return from_hip(error);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags) {
  enum { UPLOAD = 2 }; /* by the call with parameters, which have the stream */
  struct outcome why;
  if (!phGraphExec || flags & UPLOAD) return CUDA_ERROR_INVALID_VALUE;
  return instantiate(phGraphExec, hGraph, flags, &why);
}

CUresult graph_instantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t size) {
  struct outcome why;
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  if (!has_conditionals(graph) && !condition_unused(graph) && !graph_is_moved(graph)) {
    int failed = hip.GraphInstantiate(exec, graph, error, log, size);
    if (!failed) graph_exec_made(*exec);
    return from_hip(failed);
  }
  CUresult result = instantiate(exec, graph, 0, &why);
  if (error) *error = result ? why.node : NULL;
  if (log && size) *log = 0;
  return result;
}

CUresult graph_instantiate_with_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
  enum { UPLOAD = 2 };
  struct outcome why;
  if (!exec || !params) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = instantiate(exec, graph, params->flags & ~(unsigned long long)UPLOAD, &why);
  params->hErrNode_out = handle_then(why.node);
  params->result_out = why.result;
  if (!result && params->flags & UPLOAD) result = cuGraphUpload(*exec, params->hUploadStream);
  return result;
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream) {
  struct exec *e = conditional_exec(hGraph);
  if (UNLIKELY(e != NULL)) return conditional_launch(e, hStream);
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  return from_hip(graph_exec_launch(hGraph, stream));
}

/* Uploading ahead is a hint: a HIP library without it uploads at the first launch. */
CUresult cuGraphUpload(CUgraphExec hGraph, CUstream hStream) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (conditional_exec(hGraph)) return CUDA_SUCCESS;
  int error = hip.GraphUpload(hGraph, stream);
  return error == HIP_NOT_SUPPORTED ? CUDA_SUCCESS : from_hip(error);
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags) {
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  const struct exec *e = conditional_exec(hGraphExec);
  if (e) *flags = conditional_flags(e);
  if (e) return CUDA_SUCCESS;
  int error = hip.GraphExecGetFlags(hGraphExec, flags);
  if (error == HIP_NOT_SUPPORTED) *flags = 0;
  return error == HIP_NOT_SUPPORTED ? CUDA_SUCCESS : from_hip(error);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo) {
  CUgraphExecUpdateResultInfo unwanted;
  if (!resultInfo) resultInfo = &unwanted;
  if (graph_is_moved(hGraph)) return CUDA_ERROR_INVALID_VALUE;
  *resultInfo = (CUgraphExecUpdateResultInfo){0};
  struct exec *e = conditional_exec(hGraphExec);
  if (e) return conditional_update(e, hGraph, resultInfo);
  if (has_conditionals(hGraph)) {
    resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  hipGraphExecUpdateResult updated = hipGraphExecUpdateSuccess;
  int error = hip.GraphExecUpdate(hGraphExec, hGraph, &resultInfo->errorNode, &updated);
  resultInfo->result = (int)updated; /* the numbers are CUDA's */
  resultInfo->errorNode = handle_then(resultInfo->errorNode);
  return from_hip(error);
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out) {
  CUgraphExecUpdateResultInfo info = {0};
  CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return result;
}
