/* Events: our handles around HIP's. */
#include <string.h>

#include "shim.h"

struct event {
  struct handle h;
  hipEvent_t hip;
  struct context *context;
};
FITS(struct event, SLOT_EVENT);

enum { HIP_BLOCKING = 1, HIP_NO_TIMING = 2, HIP_INTERPROCESS = 4 };
enum { EXTERNAL = 1, SET_DEPENDENCIES = 1 };

bool event_hip(CUevent event, hipEvent_t *hip_event) {
  if (!handle_ok(HANDLE_EVENT, event)) return false;
  *hip_event = ((struct event *)event)->hip;
  return true;
}

static bool shares_primary(const struct context *c) { return c->primary || c->sms.count; }

/* An event is recorded in its own context. Green contexts share the device's primary one. */
static bool records_in(CUevent event, const struct context *c) {
  const struct context *own = ((struct event *)event)->context;
  return own == c || (own && c && shares_primary(own) && shares_primary(c) && own->device == c->device);
}

static CUresult wrap(CUevent *phEvent, hipEvent_t made) {
  struct event *e = handle_new(HANDLE_EVENT);
  if (!e) {
    hip.EventDestroy(made);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  e->hip = made;
  e->context = thread_state.current;
  *phEvent = (CUevent)e;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
  if (!phEvent || Flags & ~7u) return CUDA_ERROR_INVALID_VALUE;
  if (Flags & HIP_INTERPROCESS && !(Flags & HIP_NO_TIMING)) return CUDA_ERROR_INVALID_VALUE;
  hipEvent_t made = NULL;
  int error = hip.EventCreateWithFlags(&made, Flags);
  return error ? hip_error(error) : wrap(phEvent, made);
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!handle_ok(HANDLE_EVENT, hEvent)) return CUDA_ERROR_INVALID_HANDLE;
  struct event *e = (struct event *)hEvent;
  hipEvent_t made = e->hip;
  return handle_free(HANDLE_EVENT, e) ? from_hip(hip.EventDestroy(made)) : CUDA_ERROR_INVALID_HANDLE;
}

void events_drop(struct context *c) {
  for (struct event *e = handle_next(HANDLE_EVENT, NULL); e; e = handle_next(HANDLE_EVENT, e))
    if (e->context == c) cuEventDestroy_v2((CUevent)e);
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  hipEvent_t event;
  hipStream_t stream;
  if (!event_hip(hEvent, &event) || !stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!records_in(hEvent, stream_context(hStream))) return CUDA_ERROR_INVALID_HANDLE;
  return from_hip(hip.EventRecord(event, stream));
}

typedef CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, CUevent event);

/* What a capture makes of an event with the flag EXTERNAL: a node that records or waits each time that the graph runs,
 * where without it only an order of the capture's own nodes follows. By calls that HIP had before it had the flag. */
static CUresult external(CUstream stream, CUevent event, add_node *add, bool *captured) {
  CUstreamCaptureStatus status = hipStreamCaptureStatusNone;
  CUgraph graph = NULL;
  const CUgraphNode *last = NULL;
  size_t count = 0;
  CUresult result = cuStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, &last, &count);
  *captured = status != hipStreamCaptureStatusNone;
  if (result || status != hipStreamCaptureStatusActive) return result;
  CUgraphNode node;
  result = add(&node, graph, last, count, event);
  return result ? result : cuStreamUpdateCaptureDependencies(stream, &node, 1, SET_DEPENDENCIES);
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  if (flags > EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  bool captured = false;
  CUresult result = flags ? external(hStream, hEvent, cuGraphAddEventRecordNode, &captured) : CUDA_SUCCESS;
  if (result || captured) return result;
  return flags ? CUDA_ERROR_ILLEGAL_STATE : cuEventRecord(hEvent, hStream);
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  hipEvent_t event;
  hipStream_t stream;
  if (!event_hip(hEvent, &event) || !stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (Flags > EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
  bool captured = false;
  CUresult result = Flags ? external(hStream, hEvent, cuGraphAddEventWaitNode, &captured) : CUDA_SUCCESS;
  if (result || captured) return result;
  return Flags ? CUDA_ERROR_ILLEGAL_STATE : from_hip(hip.StreamWaitEvent(stream, event, 0));
}

/* From any thread, with a current context or not: an event knows its own. */
CUresult cuEventSynchronize(CUevent hEvent) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  hipEvent_t event;
  if (!event_hip(hEvent, &event)) return CUDA_ERROR_INVALID_HANDLE;
  int device = ((struct event *)hEvent)->context->device;
  CUresult result = with_children(from_hip(hip.EventSynchronize(event)));
  printf_drain(device);
  return result;
}

/* Zeros for an event that has no handle, which is how Warp sees that. */
CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event) {
  hipEvent_t made;
  if (!event_hip(event, &made)) return CUDA_ERROR_INVALID_HANDLE;
  if (!pHandle) return CUDA_ERROR_INVALID_VALUE;
  memset(pHandle, 0, sizeof *pHandle);
  return hip.IpcGetEventHandle(pHandle, made) ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
  if (!phEvent) return CUDA_ERROR_INVALID_VALUE;
  hipEvent_t made = NULL;
  int error = hip.IpcOpenEventHandle(&made, handle);
  return error ? hip_error(error) : wrap(phEvent, made);
}

/* HIP's event of a graph node, as the handle that the program knows. */
static CUresult known_event(int error, hipEvent_t found, CUevent *out) {
  if (error) return hip_error(error);
  for (struct event *e = handle_next(HANDLE_EVENT, NULL); e; e = handle_next(HANDLE_EVENT, e))
    if (e->hip == found) {
      *out = (CUevent)e;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
  if (!event_out) return CUDA_ERROR_INVALID_VALUE;
  hipEvent_t found = NULL;
  int error = hip.GraphEventRecordNodeGetEvent(hNode, &found);
  return known_event(error, found, event_out);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out) {
  if (!event_out) return CUDA_ERROR_INVALID_VALUE;
  hipEvent_t found = NULL;
  int error = hip.GraphEventWaitNodeGetEvent(hNode, &found);
  return known_event(error, found, event_out);
}

/* On the context's default stream. */
CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  hipEvent_t event;
  if (!context_checked(hCtx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!event_hip(hEvent, &event) || !records_in(hEvent, (struct context *)hCtx)) return CUDA_ERROR_INVALID_HANDLE;
  return from_hip(hip.EventRecord(event, NULL));
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  hipEvent_t event;
  if (!context_checked(hCtx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!event_hip(hEvent, &event)) return CUDA_ERROR_INVALID_HANDLE;
  return from_hip(hip.StreamWaitEvent(NULL, event, 0));
}
