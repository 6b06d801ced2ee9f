/* Streams: our handles, so that context, flags and liveness are known without asking HIP. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture_into.h"
#include "conditional.h"
#include "graph_end.h"
#include "graph_move.h"

struct stream {
  struct handle h;
  hipStream_t hip;
  struct context *context;
  unsigned flags;
  int priority;
  uint64_t id;
  struct stream_attributes attributes;
};
FITS(struct stream, SLOT_STREAM);

static uint64_t last_id = 2; /* 1 and 2 are the default streams */

bool stream_hip(CUstream stream, hipStream_t *hip_stream) {
  if (!stream || stream == CU_STREAM_LEGACY) {
    *hip_stream = NULL;
    return true;
  }
  if (stream == CU_STREAM_PER_THREAD) {
    *hip_stream = (hipStream_t)2; /* hipStreamPerThread */
    return true;
  }
  if (!handle_ok(HANDLE_STREAM, stream)) return false;
  *hip_stream = ((struct stream *)stream)->hip;
  return true;
}

/* For our libraries over ROCm's (libmap). A CUresult. */
__attribute__((visibility("default"))) int ptx2amd_hip_stream(CUstream stream, hipStream_t *found);
int ptx2amd_hip_stream(CUstream stream, hipStream_t *found) {
  return stream_hip(stream, found) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static struct stream *own(CUstream stream) {
  return handle_ok(HANDLE_STREAM, stream) ? (struct stream *)stream : NULL;
}

/* One that was there a moment ago: another thread may end it meanwhile, its memory stays. */
static struct stream *slot(CUstream stream) { return (struct stream *)stream; }

static bool is_default(CUstream stream) { return (uintptr_t)stream <= 2; }

CUresult stream_owner(CUstream stream, struct context **owner) {
  if (is_default(stream)) return context_missing();
  if (!own(stream)) return CUDA_ERROR_INVALID_HANDLE;
  *owner = slot(stream)->context;
  return CUDA_SUCCESS;
}

#define CHECK_STREAM(stream) if (!is_default(stream) && !own(stream)) return CUDA_ERROR_INVALID_HANDLE

/* In a green context, on its multiprocessors. */
static int create_hip(hipStream_t *made, unsigned flags, int priority, const struct multiprocessors *sms) {
  if (sms->count) {
    uint32_t mask[32] = {0};
    for (unsigned i = sms->first; i < sms->first + sms->count && i < 1024; i++) mask[i / 32] |= 1u << i % 32;
    int error = hip.ExtStreamCreateWithCUMask(made, 32, mask);
    if (error != HIP_NOT_SUPPORTED) return error;
  }
  return priority ? hip.StreamCreateWithPriority(made, flags, priority) : hip.StreamCreateWithFlags(made, flags);
}

CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
  if (!phStream || flags > 1) return CUDA_ERROR_INVALID_VALUE;
  int least = 0, greatest = 0;
  hip.DeviceGetStreamPriorityRange(&least, &greatest);
  priority = priority > least ? least : priority < greatest ? greatest : priority;
  hipStream_t made = NULL;
  int error = create_hip(&made, flags, priority, &thread_state.current->sms);
  if (error) return hip_error(error);
  struct stream *s = handle_new(HANDLE_STREAM);
  if (!s) {
    hip.StreamDestroy(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  s->hip = made;
  s->context = thread_state.current;
  s->flags = flags;
  s->priority = priority;
  s->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
  *phStream = (CUstream)s;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
  return cuStreamCreateWithPriority(phStream, Flags, 0);
}

/* AMD's library lets a capture outlive its stream, and refuses calls because of it from then on. */
static void abandon_capture(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  CUgraph graph = NULL;
  if (hip_is_software || hip.StreamIsCapturing(stream, &status) || !status) return;
  if (!hip.StreamEndCapture(stream, &graph) && graph && !graph_live(graph)) hip.GraphDestroy(graph);
  capture_forget(stream);
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct stream *s = own(hStream);
  if (!s) return CUDA_ERROR_INVALID_HANDLE;
  hipStream_t made = s->hip;
  if (!handle_free(HANDLE_STREAM, s)) return CUDA_ERROR_INVALID_HANDLE;
  abandon_capture(made);
  graph_stream_ended(made);
  return from_hip(hip.StreamDestroy(made));
}

void streams_abandon_captures(struct context *c) {
  for (struct stream *s = handle_next(HANDLE_STREAM, NULL); s; s = handle_next(HANDLE_STREAM, s))
    if (s->context == c) abandon_capture(s->hip);
}

void streams_drop(struct context *c) {
  for (struct stream *s = handle_next(HANDLE_STREAM, NULL); s; s = handle_next(HANDLE_STREAM, s))
    if (s->context == c) cuStreamDestroy_v2((CUstream)s);
}

/* HIP 5 waits for no stream while any stream is captured, but says of events whether they have come. */
int stream_wait(hipStream_t stream) {
  enum { WITHOUT_TIME = 2 };
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  hipEvent_t event;
  int error = hip.StreamSynchronize(stream);
  if (error != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || hip_version >= 600) return error;
  if (hip.StreamIsCapturing(stream, &status) || status) return error;
  error = hip.EventCreateWithFlags(&event, WITHOUT_TIME);
  if (error) return error;
  error = hip.EventRecord(event, stream);
  if (!error)
    while ((error = hip.EventQuery(event)) == CUDA_ERROR_NOT_READY) usleep(20);
  hip.EventDestroy(event);
  return error;
}

CUresult cuStreamSynchronize(CUstream hStream) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = with_children(from_hip(stream_wait(stream)));
  printf_drain(thread_state.current->device);
  return result;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId) {
  CHECK_STREAM(hStream);
  if (!streamId) return CUDA_ERROR_INVALID_VALUE;
  *streamId = is_default(hStream) ? (hStream == CU_STREAM_PER_THREAD ? 2 : 1) : slot(hStream)->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream hStream, int *priority) {
  CHECK_STREAM(hStream);
  if (!priority) return CUDA_ERROR_INVALID_VALUE;
  *priority = is_default(hStream) ? 0 : slot(hStream)->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags) {
  CHECK_STREAM(hStream);
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = is_default(hStream) ? 0 : slot(hStream)->flags;
  return CUDA_SUCCESS;
}

struct context *stream_context(CUstream stream) {
  return is_default(stream) ? thread_state.current : slot(stream)->context;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
  CHECK_STREAM(hStream);
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  *pctx = (CUcontext)stream_context(hStream);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pctx, CUgreenCtx *pGreenCtx) {
  CUgreenCtx green;
  CUresult result = cuStreamGetGreenCtx(hStream, pGreenCtx ? pGreenCtx : &green);
  return result || !pctx ? result : cuStreamGetCtx(hStream, pctx);
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx) {
  CHECK_STREAM(hStream);
  if (!phCtx) return CUDA_ERROR_INVALID_VALUE;
  const struct context *c = stream_context(hStream);
  if (!c) return CUDA_ERROR_INVALID_HANDLE;
  *phCtx = c->sms.count ? (CUgreenCtx)c : NULL;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice *device) {
  CHECK_STREAM(hStream);
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  const struct context *c = stream_context(hStream);
  if (!c) return CUDA_ERROR_INVALID_HANDLE;
  *device = c->device;
  return CUDA_SUCCESS;
}

struct stream_attributes *stream_attributes(CUstream stream) {
  if (!is_default(stream)) return own(stream) ? &slot(stream)->attributes : NULL;
  struct context *c = thread_state.current;
  return c ? &c->default_attributes[stream == CU_STREAM_PER_THREAD] : NULL;
}

/* ---- callbacks ---- */

struct callback { CUstreamCallback function; CUstream stream; void *data; };

static void run_callback(hipStream_t hip_stream, hipError_t status, void *data) {
  struct callback c = *(struct callback *)data;
  (void)hip_stream;
  free(data);
  c.function(c.stream, from_hip((int)status), c.data);
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!callback || flags) return CUDA_ERROR_INVALID_VALUE;
  struct callback *c = malloc(sizeof *c);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  *c = (struct callback){callback, hStream, userData};
  int error = hip.StreamAddCallback(stream, run_callback, c, 0);
  if (error) free(c);
  return from_hip(error);
}

struct host_function { CUhostFn function; void *data; };

static void run_host_function(hipStream_t hip_stream, hipError_t status, void *data) {
  struct host_function f = *(struct host_function *)data;
  (void)hip_stream;
  free(data);
  if (!status) f.function(f.data);
}

/* For HIP libraries that have callbacks alone. */
static CUresult host_function_as_callback(hipStream_t stream, CUhostFn function, void *data) {
  struct host_function *f = malloc(sizeof *f);
  if (!f) return CUDA_ERROR_OUT_OF_MEMORY;
  *f = (struct host_function){function, data};
  int error = hip.StreamAddCallback(stream, run_host_function, f, 0);
  if (error) free(f);
  return from_hip(error);
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.LaunchHostFunc(stream, fn, userData);
  return error == HIP_NOT_SUPPORTED ? host_function_as_callback(stream, fn, userData) : from_hip(error);
}

/* ---- capture: state queries never fail for lack of the HIP function ---- */

hipStreamCaptureMode capture_relax(void) {
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  return hip.ThreadExchangeStreamCaptureMode(&mode) ? hipStreamCaptureModeRelaxed : mode;
}

void capture_return(hipStreamCaptureMode mode) {
  if (mode != hipStreamCaptureModeRelaxed) hip.ThreadExchangeStreamCaptureMode(&mode);
}

_Atomic bool captures_begun;

int capture_began(int error) {
  if (!error) captures_begun = true;
  return error;
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  return with_children(from_hip(capture_began(hip.StreamBeginCapture(stream, mode))));
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!captureStatus) return CUDA_ERROR_INVALID_VALUE;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  int error = hip.StreamIsCapturing(stream, &status);
  *captureStatus = error == HIP_NOT_SUPPORTED ? hipStreamCaptureStatusNone : status;
  return error == HIP_NOT_SUPPORTED ? CUDA_SUCCESS : from_hip(error);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                   CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                   size_t *numDependencies_out) {
  CUresult result = cuStreamIsCapturing(hStream, captureStatus_out);
  if (result || *captureStatus_out != 1) return result;
  hipStream_t stream = NULL;
  stream_hip(hStream, &stream);
  int error = hip.StreamGetCaptureInfo_v2(stream, captureStatus_out, id_out, graph_out, dependencies_out,
                                          numDependencies_out);
  if (!error && graph_out && *graph_out) graph_captured(*graph_out);
  return from_hip(error);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                   CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                   const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out) {
  if (edgeData_out) *edgeData_out = NULL;
  return cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                                   numDependencies_out);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out) {
  return cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, NULL, NULL, NULL);
}

/* NULL: HIP does not say. */
static CUgraph captured_into(hipStream_t stream) {
  hipStreamCaptureStatus status;
  CUgraph graph = NULL;
  return hip.StreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL) ? NULL : graph;
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  CUgraph into = captured_into(stream);
  bool known = capture_has_target(stream) || (into && graph_known(into));
  CUgraph graph = NULL;
  int error = hip.StreamEndCapture(stream, &graph);
  if (error) capture_forget(stream);
  else error = capture_finish(stream, &graph);
  if (phGraph) *phGraph = graph;
  if (!error && graph) graph_made(graph);
  if (error && into && !known) graph_left(into);
  if (error) conditionals_sweep();
  if (error) graph_moves_sweep();
  return from_hip(error);
}

/* ---- batches ---- */

enum { WAIT_32 = 1, WRITE_32, FLUSH_REMOTE_WRITES, WAIT_64, WRITE_64, BARRIER };

static int one_by_one(hipStream_t stream, const CUstreamBatchMemOpParams *p) {
  void *at = (void *)p->address;
  switch (p->operation) {
    case WAIT_32: return hip.StreamWaitValue32(stream, at, (uint32_t)p->value, p->flags, 0xffffffffu);
    case WAIT_64: return hip.StreamWaitValue64(stream, at, p->value, p->flags, ~0ull);
    case WRITE_32: return hip.StreamWriteValue32(stream, at, (uint32_t)p->value, 0);
    case WRITE_64: return hip.StreamWriteValue64(stream, at, p->value, 0);
    default: return 0; /* streams execute in order */
  }
}

CUresult cuStreamBatchMemOp_v2(CUstream hStream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                               unsigned int flags) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (count > 256 || (count && !paramArray) || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!count) return CUDA_SUCCESS;
  int error = hip.StreamBatchMemOp(stream, count, (hipStreamBatchMemOpParams *)paramArray, 0);
  if (error != HIP_NOT_SUPPORTED && error != HIP_INVALID_VALUE) return from_hip(error); /* HIP 7.2 takes no writes */
  for (unsigned i = 0; i < count; i++)
    if (paramArray[i].operation < WAIT_32 || paramArray[i].operation > BARRIER) return CUDA_ERROR_INVALID_VALUE;
  error = 0;
  for (unsigned i = 0; i < count && !error; i++) error = one_by_one(stream, &paramArray[i]);
  return from_hip(error);
}
