/* Declarations shared by the files of the shim. */
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
void say_passing(const char *line); /* a progress line, replaced by the next message; "" removes it */
CUresult refuse(int *said, const char *function); /* one line per function, CUDA_ERROR_NOT_SUPPORTED */
extern int trace_on;
void trace_open(void);
void trace(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line of JSON */
const char *json_string(const char *text, char *out, size_t size);         /* quoted and escaped */
double now_ms(void);

/* ---- hip.c ---- */
/* Host memory of the shim that kernels access at the address *seen; coherent if HIP supports it. A HIP error. */
int hip_mapped(size_t size, unsigned flags, void **host, uint64_t *seen);
void hip_internal(void *memory); /* marks an allocation of the shim: no leak for the software GPU's memcheck */
extern uint64_t (*hip_in_use)(int device); /* bytes that this process uses; NULL: unknown (AMD's library) */
extern int hip_version;      /* of the HIP library: 503 means 5.3 */
extern bool hip_is_software; /* the software GPU */
bool hip_load(void);         /* false: no library or no device; the reason has been printed */
const char *own_directory(void); /* of libcuda.so.1 */
/* HIP keeps the error of a thread's last call that failed, which ROCm's libraries take for one of their own calls': errors
 * that the program hears of from CUDA, or that answer a question, are forgotten. */
CUresult hip_error(int e);
bool hip_forget(void); /* false */
static inline bool hip_answers(int e) { return !UNLIKELY(e) || hip_forget(); }
extern _Atomic bool children_failed; /* a launch from a kernel failed; as after a fault, later calls fail */
static inline CUresult from_hip(int e) { return UNLIKELY(e) ? hip_error(e) : CUDA_SUCCESS; }
CUresult children_result(void); /* of the current device: the first error of a launch from a kernel */
/* The result that a call returns to the program. */
static inline CUresult with_children(CUresult result) { return UNLIKELY(!result && children_failed) ? children_result() : result; }

/* ---- device.c, attributes.c ---- */
struct device {
  char name[256];
  char arch[64];      /* gfx942 */
  CUuuid uuid;
  int pci_domain, pci_bus, pci_device;
  size_t memory;
  int multiprocessors, lds;
  struct printf_buffer *printf_buffer;      /* host address; device_printf is the kernels' address */
  uint64_t device_printf;
  uint64_t heap, heap_size; /* of device-side malloc; 0 before its first use */
  size_t stack_size;        /* the limit last set in HIP */
};
extern struct device devices[MAX_DEVICES];
extern int device_count;
CUresult devices_find(void);
static inline bool device_ok(CUdevice d) { return d >= 0 && d < device_count; }
CUresult device_texture_1d_width(size_t *width, CUarray_format format, unsigned channels, CUdevice dev);

/* ---- capability.c ---- */
struct capability { int major, minor; };
void capability_read(void);
bool capability_is_set(void);                       /* by the user, for all callers */
struct capability capability_for(const void *data); /* for the library that contains `data` */
struct capability capability_for_caller(void);
const char *library_at(const void *address); /* file name of the library that contains the address, or NULL */
bool has_ptx_for_newer(const char *library);

/* ---- storage.c ---- */
void storage_drop(struct context *c); /* runs the destructors */
extern const void *const storage_table[];

/* ---- memory.c ---- */
/* Whether [at, at + size) lies within the allocation that holds `at`; true if that is unknown. For ranges that are
 * passed to HIP in parts. */
bool allocation_holds(CUdeviceptr at, size_t size);

/* ---- pointer.c ---- */
bool pointer_is_pinned(const void *p); /* host memory that HIP allocated or registered */

/* Whether both sides of a copy are memory. AMD's library copies what it does not know with the processor, and crashes. */
bool copy_sides_there(CUdeviceptr to, CUdeviceptr from, size_t size);
static inline bool copy_fits(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return hip_is_software || copy_sides_there(to, from, size);
}

/* ---- fill.c ---- */
/* Whether all rows lie in one allocation. element: bytes; width: elements. */
bool fill_fits(CUdeviceptr to, size_t pitch, unsigned element, size_t width, size_t height);

/* ---- stream.c, event.c ---- */
bool stream_hip(CUstream stream, hipStream_t *hip_stream);
int stream_wait(hipStream_t stream); /* a HIP error */
/* Relaxes the thread's capture mode: loading a kernel at its first launch makes calls that are forbidden to programs
 * during a capture. Returns the previous mode. */
hipStreamCaptureMode capture_relax(void);
void capture_return(hipStreamCaptureMode mode);
extern _Atomic bool captures_begun; /* by this process, ever: if not, no stream is captured */
int capture_began(int error); /* to be called with the HIP error of each call that begins one; returns it */
struct context *stream_context(CUstream stream); /* NULL if the stream has been destroyed */
struct stream_attributes *stream_attributes(CUstream stream); /* NULL: not a stream */
bool event_hip(CUevent event, hipEvent_t *hip_event);
void streams_abandon_captures(struct context *c);
void streams_drop(struct context *c);
void events_drop(struct context *c);
static inline CUstream per_thread_stream(CUstream s) { return s ? s : CU_STREAM_PER_THREAD; }

/* ---- launch.c, graph.c, graph_exec.c, graph_id.c ---- */
CUresult graph_instantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log, size_t size);
CUresult graph_instantiate_with_params(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult function_load(CUfunction f);
void graph_made(CUgraph graph);     /* records a graph that the program owns */
void graph_captured(CUgraph graph); /* records that a stream is captured into it: it has a name from now on */
bool graph_known(CUgraph graph);
void graph_left(CUgraph graph); /* the graph now belongs to another graph */
void graph_renamed(const void *then, const void *now); /* moves the number of a graph or node to its new handle */
int graph_end(CUgraph graph);   /* destroys it; returns a HIP error */
CUgraphNode *graph_nodes(CUgraph graph, size_t *count); /* the caller frees them */
bool graph_node_is(CUgraphNode node, CUgraphNodeType type); /* AMD's library reads any node as what it is asked for */
CUgraph graph_child(CUgraphNode node);                  /* NULL: not a child-graph node */
/* Maps an executable graph and a node to HIP's handles; false: the node is not in the graph or has no parameters. */
bool graph_exec_part(CUgraphExec *exec, CUgraphNode *node);

/* ---- children.c ---- */
void children_reset(int device, bool lost); /* clears such errors; lost: HIP has destroyed the device's streams */

/* ---- printf.c ---- */
/* ---- arena.c ---- */
void arena_reset(int device); /* frees all slots */

/* ---- heap.c ---- */
#define HEAP_MOST ((size_t)32 << 30)
CUresult heap_prepare(int device); /* allocates at first use */
void heap_reset(int device);       /* frees all device-side allocations */
void stack_prepare(int device);    /* sets the stack limit in HIP */

CUresult printf_prepare(int device);
void printf_drain(int device);
CUresult printf_failure(void); /* why a kernel failed: CUDA_ERROR_ASSERT, or CUDA_ERROR_LAUNCH_FAILED */

#endif
