/* 2-D and 3-D copies. Copies without arrays become HIP's plain pitched copies, whose form never changed. */
#include "copy.h"

#include "array.h"

int hip_memory_type(int cuda) {
  switch (cuda) {
    case CU_MEMORYTYPE_HOST: return hip_version >= 600 ? 1 : 0;
    case CU_MEMORYTYPE_DEVICE: return hip_version >= 600 ? 2 : 1;
    case CU_MEMORYTYPE_ARRAY: return hip_version >= 600 ? 10 : 2;
    case CU_MEMORYTYPE_UNIFIED: return hip_version >= 600 ? 11 : 3;
    default: return -1;
  }
}

CUresult copy_for_hip(const CUDA_MEMCPY3D *given, HIP_MEMCPY3D *out) {
  if (!given) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D resolved = *given, *c = &resolved;
  CUresult result = copy_resolve(c);
  if (result) return result;
  int src = hip_memory_type(c->srcMemoryType), dst = hip_memory_type(c->dstMemoryType);
  *out = (HIP_MEMCPY3D){
      c->srcXInBytes, c->srcY, c->srcZ, c->srcLOD, (hipMemoryType)src, c->srcHost, (void *)c->srcDevice,
      (hipArray_t)c->srcArray, c->srcPitch, c->srcHeight,
      c->dstXInBytes, c->dstY, c->dstZ, c->dstLOD, (hipMemoryType)dst, c->dstHost, (void *)c->dstDevice,
      (hipArray_t)c->dstArray, c->dstPitch, c->dstHeight, c->WidthInBytes, c->Height, c->Depth};
  /* What was given is what the program reads again. */
  if (given->srcMemoryType != CU_MEMORYTYPE_ARRAY) out->srcPitch = given->srcPitch, out->srcHeight = given->srcHeight;
  if (given->dstMemoryType != CU_MEMORYTYPE_ARRAY) out->dstPitch = given->dstPitch, out->dstHeight = given->dstHeight;
  return src >= 0 && dst >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int cuda_memory_type(int hip_type) {
  for (int cuda = CU_MEMORYTYPE_HOST; cuda <= CU_MEMORYTYPE_UNIFIED; cuda++)
    if (hip_memory_type(cuda) == hip_type) return cuda;
  return 0;
}

void copy_for_cuda(const HIP_MEMCPY3D *c, CUDA_MEMCPY3D *out) {
  *out = (CUDA_MEMCPY3D){
      c->srcXInBytes, c->srcY, c->srcZ, c->srcLOD, cuda_memory_type((int)c->srcMemoryType), c->srcHost,
      (CUdeviceptr)c->srcDevice, (CUarray)c->srcArray, NULL, c->srcPitch, c->srcHeight,
      c->dstXInBytes, c->dstY, c->dstZ, c->dstLOD, cuda_memory_type((int)c->dstMemoryType), c->dstHost,
      (CUdeviceptr)c->dstDevice, (CUarray)c->dstArray, NULL, c->dstPitch, c->dstHeight,
      c->WidthInBytes, c->Height, c->Depth};
}

static hipMemcpyKind direction(int src, int dst) {
  if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED) return hipMemcpyDefault;
  return (hipMemcpyKind)((src == CU_MEMORYTYPE_HOST ? 0 : 2) + (dst == CU_MEMORYTYPE_HOST ? 0 : 1));
}

static CUDA_MEMCPY3D deepened(const CUDA_MEMCPY2D *c) {
  return (CUDA_MEMCPY3D){
      .srcXInBytes = c->srcXInBytes, .srcY = c->srcY, .srcMemoryType = c->srcMemoryType, .srcHost = c->srcHost,
      .srcDevice = c->srcDevice, .srcArray = c->srcArray, .srcPitch = c->srcPitch,
      .dstXInBytes = c->dstXInBytes, .dstY = c->dstY, .dstMemoryType = c->dstMemoryType, .dstHost = c->dstHost,
      .dstDevice = c->dstDevice, .dstArray = c->dstArray, .dstPitch = c->dstPitch,
      .WidthInBytes = c->WidthInBytes, .Height = c->Height, .Depth = 1};
}

/* One slice of a copy between linear memories. */
static int copy_slice(const CUDA_MEMCPY3D *c, size_t z, bool async, hipStream_t stream) {
  const char *from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const char *)c->srcDevice;
  char *to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (char *)c->dstDevice;
  from += c->srcXInBytes + (c->srcY + (c->srcZ + z) * c->srcHeight) * c->srcPitch;
  to += c->dstXInBytes + (c->dstY + (c->dstZ + z) * c->dstHeight) * c->dstPitch;
  hipMemcpyKind kind = direction(c->srcMemoryType, c->dstMemoryType);
  return async ? hip.Memcpy2DAsync(to, c->dstPitch, from, c->srcPitch, c->WidthInBytes, c->Height, kind, stream)
               : hip.Memcpy2D(to, c->dstPitch, from, c->srcPitch, c->WidthInBytes, c->Height, kind);
}

static CUresult copy(const CUDA_MEMCPY3D *given, bool async, CUstream hStream) {
  hipStream_t stream;
  CUDA_MEMCPY3D resolved = *given, *c = &resolved;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (hip_memory_type(c->srcMemoryType) < 0 || hip_memory_type(c->dstMemoryType) < 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = copy_resolve(c);
  if (result) return result;
  if (!c->WidthInBytes || !c->Height || !c->Depth) return CUDA_SUCCESS;
  int error = 0;
  for (size_t z = 0; z < c->Depth && !error; z++) error = copy_slice(c, z, async, stream);
  return from_hip(error);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *pCopy, bool async, CUstream stream) {
  if (!pCopy) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D c = deepened(pCopy);
  /* Width and height of a 2-D copy lie within the pitch. */
  if ((c.srcPitch && c.srcMemoryType != CU_MEMORYTYPE_ARRAY && c.srcPitch < c.WidthInBytes) ||
      (c.dstPitch && c.dstMemoryType != CU_MEMORYTYPE_ARRAY && c.dstPitch < c.WidthInBytes))
    return CUDA_ERROR_INVALID_VALUE;
  return copy(&c, async, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) { return copy_2d(pCopy, false, NULL); }

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream) { return copy_2d(pCopy, true, hStream); }

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) {
  return pCopy ? copy(pCopy, false, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
  return pCopy ? copy(pCopy, true, hStream) : CUDA_ERROR_INVALID_VALUE;
}

/* Memory of all devices lies in one address space; the contexts say nothing more. Both addresses are a device's. */

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount) {
  if (!context_checked(dstContext) || !context_checked(srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return cuMemcpyDtoD_v2(dstDevice, srcDevice, ByteCount);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream) {
  if (!context_checked(dstContext) || !context_checked(srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream);
}

/* The peer form has contexts where the plain form has reserved words. */
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "same layout");

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) { return cuMemcpy3D_v2((const CUDA_MEMCPY3D *)pCopy); }

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
  return cuMemcpy3DAsync_v2((const CUDA_MEMCPY3D *)pCopy, hStream);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *attrIdxs, size_t numAttrs, CUstream hStream) {
  (void)attrs, (void)attrIdxs;
  if (!dsts || !srcs || !sizes || !count || numAttrs > count) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < count && !result; i++) result = cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream);
  return result;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
                            CUstream hStream) {
  (void)attrs, (void)attrsIdxs;
  if (!dsts || !srcs || !sizes || !count || numAttrs > count) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    CUresult result = cuMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream);
    if (result) {
      if (failIdx) *failIdx = i;
      return result;
    }
  }
  return CUDA_SUCCESS;
}

/* ---- batches of 3-D copies ---- */

enum { OPERAND_POINTER = 1, OPERAND_ARRAY = 2 };

/* One side: its array, or its address with rows and layers counted in elements (bytes here: no array says otherwise). */
static bool operand(const CUmemcpy3DOperand *o, const CUDA_MEMCPY3D_BATCH_OP *op, unsigned texel, bool source,
                    CUDA_MEMCPY3D *c) {
  bool array = o->type == OPERAND_ARRAY;
  if (!array && o->type != OPERAND_POINTER) return false;
  if (source) {
    c->srcMemoryType = array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    if (array) c->srcArray = o->op.array.array;
    else c->srcDevice = o->op.ptr.ptr;
    if (array) c->srcXInBytes = size_times(o->op.array.x, texel), c->srcY = o->op.array.y, c->srcZ = o->op.array.z;
    else c->srcPitch = size_times(o->op.ptr.rowLength ? o->op.ptr.rowLength : op->width, texel),
         c->srcHeight = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : op->height;
  } else {
    c->dstMemoryType = array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    if (array) c->dstArray = o->op.array.array;
    else c->dstDevice = o->op.ptr.ptr;
    if (array) c->dstXInBytes = size_times(o->op.array.x, texel), c->dstY = o->op.array.y, c->dstZ = o->op.array.z;
    else c->dstPitch = size_times(o->op.ptr.rowLength ? o->op.ptr.rowLength : op->width, texel),
         c->dstHeight = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : op->height;
  }
  return true;
}

static unsigned texel_of(const CUmemcpy3DOperand *o) {
  struct array *a = o->type == OPERAND_ARRAY ? array_checked(o->op.array.array) : NULL;
  return a ? texel_bytes(a->d.Format, a->d.NumChannels) : 0;
}

static CUresult copy_operands(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream) {
  unsigned src = texel_of(&op->src), dst = texel_of(&op->dst), texel = src ? src : dst ? dst : 1;
  if (src && dst && src != dst) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D c = {.WidthInBytes = size_times(op->width, texel), .Height = op->height, .Depth = op->depth};
  if (!operand(&op->src, op, texel, true, &c) || !operand(&op->dst, op, texel, false, &c)) return CUDA_ERROR_INVALID_VALUE;
  return copy(&c, true, stream);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numParams, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                 CUstream hStream) {
  return cuMemcpy3DBatchAsync(numParams, opList, NULL, flags, hStream);
}

CUresult cuMemcpy3DBatchAsync(size_t numParams, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                              unsigned long long flags, CUstream hStream) {
  if (!numParams || !opList || flags) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < numParams; i++) {
    CUresult result = copy_operands(&opList[i], hStream);
    if (!result) continue;
    if (failIdx) *failIdx = i;
    return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream hStream) {
  return op && !flags ? copy_operands(op, hStream) : CUDA_ERROR_INVALID_VALUE;
}

/* No memory can be given to units that decompress, as there are none: the first operation is wrong already. */
CUresult cuMemBatchDecompressAsync(CUmemDecompressParams *paramsArray, size_t count, unsigned int flags,
                                   size_t *errorIndex, CUstream stream) {
  if (!stream_hip(stream, &(hipStream_t){0})) return CUDA_ERROR_INVALID_HANDLE;
  if (errorIndex) *errorIndex = paramsArray && count && !flags ? 0 : SIZE_MAX;
  return CUDA_ERROR_INVALID_VALUE;
}
