/* OpenGL buffers by their number, as programs from before CUDA 3 use them: HIP's graphics resources beneath. */
#include "shim.h"

enum { BUFFERS = 256 };
static struct gl_buffer { unsigned buffer; hipGraphicsResource_t resource; unsigned flags; bool used; } buffers[BUFFERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct gl_buffer *find(GLuint buffer) {
  for (int i = 0; i < BUFFERS; i++)
    if (buffers[i].used && buffers[i].buffer == buffer) return &buffers[i];
  return NULL;
}

static struct gl_buffer *room(void) {
  for (int i = 0; i < BUFFERS; i++)
    if (!buffers[i].used) return &buffers[i];
  return NULL;
}

CUresult cuGLInit(void) {
  return CUDA_SUCCESS; /* there is nothing to prepare */
}

CUresult cuGLGetDevices_v2(unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount,
                           CUGLDeviceList deviceList) {
  if (!pCudaDeviceCount || (cudaDeviceCount && !pCudaDevices) || deviceList < 1 || deviceList > 3)
    return CUDA_ERROR_INVALID_VALUE;
  return from_hip(hip.GLGetDevices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, (unsigned)deviceList));
}

CUresult cuGLRegisterBufferObject(GLuint buffer) {
  hipGraphicsResource_t resource = NULL;
  CUresult result = CUDA_ERROR_ALREADY_MAPPED;
  pthread_mutex_lock(&lock);
  struct gl_buffer *b = find(buffer) ? NULL : room();
  if (b) result = from_hip(hip.GraphicsGLRegisterBuffer(&resource, buffer, 0));
  if (b && !result) *b = (struct gl_buffer){buffer, resource, 0, true};
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuGLUnregisterBufferObject(GLuint buffer) {
  pthread_mutex_lock(&lock);
  struct gl_buffer *b = find(buffer);
  CUresult result = b ? from_hip(hip.GraphicsUnregisterResource(b->resource)) : CUDA_ERROR_INVALID_VALUE;
  if (b) b->used = false;
  pthread_mutex_unlock(&lock);
  return result;
}

/* How the buffer is used is a hint, which HIP takes at registration alone. */
CUresult cuGLSetBufferObjectMapFlags(GLuint buffer, unsigned int Flags) {
  pthread_mutex_lock(&lock);
  struct gl_buffer *b = Flags <= 2 ? find(buffer) : NULL;
  if (b) b->flags = Flags;
  pthread_mutex_unlock(&lock);
  return b ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGLMapBufferObjectAsync_v2(CUdeviceptr *dptr, size_t *size, GLuint buffer, CUstream hStream) {
  hipStream_t stream;
  size_t bytes = 0;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!dptr) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  struct gl_buffer *b = find(buffer);
  CUresult result = b ? from_hip(hip.GraphicsMapResources(1, &b->resource, stream)) : CUDA_ERROR_INVALID_VALUE;
  if (!result) result = from_hip(hip.GraphicsResourceGetMappedPointer((void **)dptr, &bytes, b->resource));
  pthread_mutex_unlock(&lock);
  if (!result && size) *size = bytes;
  return result;
}

CUresult cuGLMapBufferObject_v2(CUdeviceptr *dptr, size_t *size, GLuint buffer) {
  return cuGLMapBufferObjectAsync_v2(dptr, size, buffer, NULL);
}

CUresult cuGLUnmapBufferObjectAsync(GLuint buffer, CUstream hStream) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  pthread_mutex_lock(&lock);
  struct gl_buffer *b = find(buffer);
  CUresult result = b ? from_hip(hip.GraphicsUnmapResources(1, &b->resource, stream)) : CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuGLUnmapBufferObject(GLuint buffer) { return cuGLUnmapBufferObjectAsync(buffer, NULL); }

/* A hint as well. */
CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags) {
  return resource && flags <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
