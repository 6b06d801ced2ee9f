/* What the files of the shim share. */
#ifndef SHIM_H
#define SHIM_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_api.h"
#include "context.h"
#include "cuda_constants.h"
#include "handle.h"
#include "hip_table.h"
#include "../../../ptx2amd/vgpu/runtime/engine/range.h"
#include "settings.h"

enum { MAX_DEVICES = 16, PATH_LENGTH = 4096 };
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- log.c, trace.c ---- */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_passing(const char *line); /* a line on a terminal that the next one replaces; "": removes it */
CUresult refuse(int *said, const char *function); /* one line per function, CUDA_ERROR_NOT_SUPPORTED */
extern int trace_on;
void trace_open(void);
void trace(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line of JSON */
const char *json_string(const char *text, char *out, size_t size);         /* quoted and escaped */
double now_ms(void);

/* ---- hip.c ---- */
/* Host memory of ours that kernels reach, at *seen for them: coherent where HIP has that. A HIP error. */
int hip_mapped(size_t size, unsigned flags, void **host, uint64_t *seen);
void hip_internal(void *memory); /* an allocation of ours: no leak of the program (software GPU's memcheck) */
extern uint64_t (*hip_in_use)(int device); /* bytes of this process; NULL: not known (AMD's library) */
extern int hip_version;      /* of the HIP library: 503 is 5.3 */
extern bool hip_is_software; /* ours */
bool hip_load(void);         /* false: no library, or no device; said why */
const char *own_directory(void); /* of libcuda.so.1 */
CUresult hip_error(int e);
extern _Atomic bool children_failed; /* a kernel launched what cannot be; as after a fault, nothing goes on then */
static inline CUresult from_hip(int e) { return UNLIKELY(e) ? hip_error(e) : CUDA_SUCCESS; }
CUresult children_result(void); /* of the current device: whether all was launched */
/* What a call tells the program. */
static inline CUresult with_children(CUresult result) { return UNLIKELY(!result && children_failed) ? children_result() : result; }

/* ---- device.c, attributes.c ---- */
struct device {
  char name[256];
  char arch[64];      /* gfx942 */
  CUuuid uuid;
  int pci_domain, pci_bus, pci_device;
  size_t memory;
  int multiprocessors, lds;
  struct printf_buffer *printf_buffer;      /* host address; device_printf is what kernels see */
  uint64_t device_printf;
  uint64_t heap, heap_size; /* of device-side malloc; 0 before its first use */
  size_t stack_size;        /* as HIP was told */
};
extern struct device devices[MAX_DEVICES];
extern int device_count;
CUresult devices_find(void);
static inline bool device_ok(CUdevice d) { return d >= 0 && d < device_count; }
CUresult device_texture_1d_width(size_t *width, CUarray_format format, unsigned channels, CUdevice dev);

/* ---- capability.c ---- */
struct capability { int major, minor; };
void capability_read(void);
bool capability_is_set(void);                       /* by the user, for all */
struct capability capability_for(const void *data); /* the library that it is part of */
struct capability capability_for_caller(void);
const char *library_at(const void *address); /* its file name; NULL: none */
bool has_ptx_for_newer(const char *library);

/* ---- storage.c ---- */
void storage_drop(struct context *c); /* runs the destructors */
extern const void *const storage_table[];

/* ---- memory.c ---- */
/* [at, at + size) in the allocation where it begins, if that is known: for ranges that HIP gets in parts. */
bool allocation_holds(CUdeviceptr at, size_t size);

/* ---- fill.c ---- */
/* The rows are in one allocation. element: bytes; width: elements. */
bool fill_fits(CUdeviceptr to, size_t pitch, unsigned element, size_t width, size_t height);

/* ---- stream.c, event.c ---- */
bool stream_hip(CUstream stream, hipStream_t *hip_stream);
/* Around what a program may not do while it captures, but the loading of a kernel at its first launch has to. */
hipStreamCaptureMode capture_relax(void);
void capture_return(hipStreamCaptureMode mode);
struct context *stream_context(CUstream stream); /* of a stream that was there: NULL when it is none any more */
struct stream_attributes *stream_attributes(CUstream stream); /* NULL: it is none */
bool event_hip(CUevent event, hipEvent_t *hip_event);
void streams_drop(struct context *c);
void events_drop(struct context *c);
static inline CUstream per_thread_stream(CUstream s) { return s ? s : CU_STREAM_PER_THREAD; }

/* ---- launch.c, graph.c, graph_exec.c, graph_id.c ---- */
CUresult graph_instantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t size);
CUresult graph_instantiate_with_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult function_load(CUfunction f);
void graph_made(CUgraph graph); /* the program got a graph that it has to destroy */
void graph_captured(CUgraph graph); /* a stream is captured into it: it has a name from now on */
bool graph_known(CUgraph graph);
void graph_left(CUgraph graph); /* it is another graph's now */
void graph_renamed(const void *then, const void *now); /* a graph or a node: its number goes along */
int graph_end(CUgraph graph);   /* destroys it; a HIP error */
CUgraphNode *graph_nodes(CUgraph graph, size_t *count); /* the caller frees them */
CUgraph graph_child(CUgraphNode node);                  /* NULL: another type of node */
/* An executable graph and a node as HIP's calls take them; false: the node is not in it, or has no parameters. */
bool graph_exec_part(CUgraphExec *exec, CUgraphNode *node);

/* ---- children.c ---- */
void children_reset(int device, bool lost); /* forgets such errors; lost: HIP has taken the device's streams away */

/* ---- printf.c ---- */
/* ---- arena.c ---- */
void arena_reset(int device); /* all slots are free again */

/* ---- heap.c ---- */
#define HEAP_MOST ((size_t)32 << 30)
CUresult heap_prepare(int device); /* allocates at first use */
void heap_reset(int device);       /* frees all that kernels allocated */
void stack_prepare(int device);    /* tells HIP the stack limit */

CUresult printf_prepare(int device);
void printf_drain(int device);
CUresult printf_failure(void); /* why a kernel failed: CUDA_ERROR_ASSERT, or CUDA_ERROR_LAUNCH_FAILED */

#endif
