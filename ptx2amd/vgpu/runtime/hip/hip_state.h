/* Definitions shared by the files of the HIP API: devices, contexts, streams, events, operations. */
#ifndef PTX2AMD_VGPU_HIP_STATE_H
#define PTX2AMD_VGPU_HIP_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine.h"
#include "handle.h"
#include "hip.h"
#include "hip_chip.h"
#include "loader.h"
#include "memory.h"
#include "range.h"

#define MAX_DEVICES 32

typedef struct ihipCtx_t context;
typedef struct ihipStream_t stream;
typedef struct ihipEvent_t event;
typedef struct ihipModuleSymbol_t function;
typedef struct ihipMemPoolHandle_t pool;

struct device {
  int ordinal;
  const struct arch *arch;
  const struct chip *chip;
  hipUUID uuid;
  _Atomic int sticky;             /* hipError_t of the first fault since the last reset */
  pthread_mutex_t lock;           /* protects the list of streams */
  stream *streams;                /* all streams, including the null stream */
  _Atomic unsigned stream_count;
  stream *null_stream;
  context *primary;
  _Atomic(pool *) current_pool;
  pool *default_pool;
  size_t limits[3];
  unsigned flags;
  int cache_config, shared_config;
  uint64_t total_memory;
};
extern struct device hip_devices[MAX_DEVICES];
extern int hip_device_count;

/* Initialisation. Every entry point begins with ENTER(); the child of a fork gets hipErrorNotInitialized. */
extern _Atomic int hip_started;
hipError_t hip_start(void);
static inline hipError_t hip_ready(void) {
  return __builtin_expect(atomic_load_explicit(&hip_started, memory_order_acquire) == 1, 1) ? hipSuccess : hip_start();
}
/* A traced call of a HIP function (hip_trace.c); ends with the function. */
struct hip_call { const char *name; uint64_t begin; bool traced; };
extern bool hip_traced;
extern __thread hipError_t hip_result;   /* the last argument of done() */
struct hip_call hip_call_begin(const char *name);
void hip_call_end(const struct hip_call *call);
static inline void hip_call_over(const struct hip_call *call) {
  if (__builtin_expect(call->traced, 0)) hip_call_end(call);
}
struct dispatch;
uint64_t hip_trace_time(void);
void hip_trace_kernel(const struct dispatch *d, uint64_t begin, int fault);

#define ENTER()                              \
  __attribute__((cleanup(hip_call_over))) const struct hip_call call_ =                                \
      __builtin_expect(hip_traced, 0) ? hip_call_begin(__func__) : (struct hip_call){NULL, 0, false}; \
  do {                                       \
    hipError_t ready_ = hip_ready();         \
    if (ready_ != hipSuccess) return ready_; \
  } while (0)

/* True on a thread that runs a host function of a stream: it must not wait for streams. */
extern __thread bool hip_in_callback;
#define MAY_WAIT()                                                  \
  do {                                                              \
    if (hip_in_callback) return done(hipErrorIllegalState);         \
  } while (0)

uint64_t host_memory(void);       /* memory size that is reported for a GPU, in bytes */
/* Records the thread's last error, and returns it. */
hipError_t done(hipError_t error);
/* One line on stderr, "ptx2amd vgpu: ...". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline struct device *device_at(int ordinal) {
  return ordinal >= 0 && ordinal < hip_device_count ? &hip_devices[ordinal] : NULL;
}
struct device *device_current(void);
hipError_t device_synchronize(struct device *d);    /* waits for all streams; the sticky error */
/* The device's sticky error, to return from calls that use the device. */
static inline hipError_t device_error(struct device *d) {
  return (hipError_t)atomic_load_explicit(&d->sticky, memory_order_relaxed);
}

struct ihipCtx_t {
  struct handle handle;
  struct device *device;
  unsigned flags;
  int references;                 /* of the primary context */
};
context *context_current(void);   /* as pushed or set; NULL: none */

/* Operations: executed by streams, stored in graph nodes. */

enum op_kind {
  OP_EMPTY, OP_KERNEL, OP_COPY, OP_FILL, OP_HOST, OP_CALLBACK, OP_RECORD, OP_WAIT, OP_EVENT_WAIT, OP_FREE,
  OP_WAIT_VALUE, OP_WRITE_VALUE, OP_SIGNAL, OP_AWAIT, OP_MARK, OP_MARK_WAIT, OP_BATCH,
  OP_GRAPH, OP_ALLOC, OP_DEALLOC,   /* in graphs only */
};

struct launch {
  function *function;
  uint32_t generation;            /* of the function's handle */
  uint32_t grid[3], block[3], last_block[3];
  uint32_t shared;                /* dynamic LDS, bytes */
  bool cooperative;
  struct kernarg *args;           /* in a stream: a pooled buffer; in a graph node: allocated separately */
};

/* depth slices of height rows of width bytes; pitches and slices in bytes */
struct copy {
  char *dst;
  const char *src;
  size_t dst_pitch, dst_slice, src_pitch, src_slice;
  size_t width, height, depth;
  bool dst_known, src_known;      /* must be an allocation, also at the time of execution (copy_learn) */
};

struct fill {
  char *dst;
  size_t pitch;                   /* bytes */
  size_t width, height;           /* elements, rows */
  unsigned element;               /* bytes: 1, 2, 4 */
  uint32_t value;
};

struct op {
  enum op_kind kind;
  union {
    struct launch launch;
    struct copy copy;
    struct fill fill;
    struct { hipHostFn_t fn; void *data; } host;
    struct { hipStreamCallback_t fn; void *data; hipStream_t handle; } callback;
    struct { event *event; uint32_t generation; } record;
    struct { stream *stream; uint64_t seq; } wait;
    struct mem_block *block;      /* OP_FREE */
    struct { void *ptr; uint64_t value, mask; unsigned flags; bool wide; } value;
    hipGraph_t graph;             /* OP_GRAPH */
    struct { int fd; } semaphore; /* OP_SIGNAL, OP_AWAIT: an eventfd */
    struct { struct shared_event *event; uint64_t seq; } mark;   /* OP_MARK, OP_MARK_WAIT */
    struct batch *batch;          /* OP_BATCH */
    struct graph_memory *memory;  /* OP_ALLOC, OP_DEALLOC */
  };
};
/* Operations with resources: a kernel's arguments, or a counted object. Each copy of the latter takes a reference and
 * releases it. */
void op_hold(const struct op *op);
void op_drop(const struct op *op);

struct ihipExternalSemaphore {
  struct handle handle;
  int fd;
};
extern struct handle_class semaphore_class;
/* Several operations that a stream executes as one, and the parameters they were made from (hip_batch.c). */
struct batch {
  _Atomic int references;
  hipGraphNodeType type;          /* references by graph nodes */
  size_t count;
  void *handles, *params;         /* the parameters, for queries */
  struct op ops[];
};

/* Memory that a graph allocates: its address belongs to the graph permanently (hip_graph_memory.c). */
struct graph_memory {
  _Atomic int references;         /* references by nodes, executable graphs */
  _Atomic bool live;              /* allocated by a launch and not freed since */
  struct mem_block *block;        /* its owner points here */
  hipMemAllocNodeParams params;
};
#define OF_GRAPH 0x40000000u      /* in api_flags: the block's owner is a struct graph_memory */
#define OF_IMPORT 0x20000000u     /* in api_flags: a pool's memory of another process; the owner is a struct import */
#define NON_BLOCKING 1u           /* in flags of a stream */
void graph_memory_free(struct mem_block *block);
hipError_t graph_memory_op(hipMemAllocNodeParams *params, struct op *op);
hipError_t graph_free_op(void *ptr, struct op *op);

/* The state of an interprocess event, in shared memory (hip_ipc.c). */
struct shared_event {
  _Atomic uint64_t recorded, completed;
};
struct shared_event *shared_event_new(int *fd);
void shared_event_free(struct shared_event *e, int fd);
void shared_event_wait(struct shared_event *e, uint64_t seq);
static inline bool shared_event_reached(struct shared_event *e, uint64_t seq) {
  return atomic_load_explicit(&e->completed, memory_order_acquire) >= seq;
}

struct command {
  struct command *next;
  uint64_t seq;
  struct op op;
};

struct capture;

struct ihipStream_t {
  struct handle handle;
  struct device *device;
  stream *next;                   /* in the device's list */
  unsigned flags;                 /* 1: non-blocking */
  int priority;
  unsigned long long id;
  bool prepared;                  /* lock and conditions are initialised: they outlive the handle */
  bool running;                   /* the worker thread has been started */
  bool closing;
  bool asleep;
  bool draining;                  /* a thread executes commands: the worker, or one that waits for them */
  int waiters;
  pthread_t worker;
  pthread_mutex_t lock;
  pthread_cond_t wake, progress;
  _Atomic(struct command *) head;
  struct command *tail, *spare;
  /* Command numbers; both only increase, even when the slot is reused. */
  _Atomic uint64_t submitted, completed;
  _Atomic uint64_t seen_null;     /* the null stream's last command for which this stream already waits */
  uint64_t seen_by_null;          /* this stream's last command for which the null stream already waits */
  struct capture *_Atomic capture;
  hipGraphNode_t *tail_nodes;     /* during a capture: the dependencies of the next node */
  size_t tail_count;
};

extern struct handle_class stream_class, event_class, function_class, module_class, context_class, pool_class;

/* Converts an API handle (0, 1: null stream, 2: per thread) to a stream; NULL: not a stream. */
stream *stream_resolve(hipStream_t handle);
stream *stream_new(struct device *d, unsigned flags, int priority);
/* Appends the operation to the stream, after the work required by HIP's null-stream rules; or adds it to the graph of
 * the stream's capture. *seq (may be NULL): its number. */
hipError_t stream_submit(stream *s, const struct op *op, uint64_t *seq);
void stream_wait(stream *s, uint64_t seq);
static inline bool stream_reached(stream *s, uint64_t seq) {
  return atomic_load_explicit(&s->completed, memory_order_acquire) >= seq;
}
static inline bool stream_idle(stream *s) {
  return stream_reached(s, atomic_load_explicit(&s->submitted, memory_order_acquire));
}
/* Whether all earlier work that a synchronous call on the stream must wait for has completed. */
bool stream_quiet(stream *s);
/* Submits, waits and returns the error: for synchronous calls. Runs on the calling thread if the stream is idle. */
hipError_t stream_perform(stream *s, const struct op *op);

/* Executes an operation; an error becomes the device's sticky error. */
hipError_t op_run(struct device *d, const struct op *op);
void op_discard(const struct op *op);      /* releases its resources */
/* Checks the locations of a copy's sides, and records which of them are allocations; devices: which must be. */
hipError_t copy_learn(struct copy *c, int devices);
/* The checks alone: repeated at execution. */
bool copy_ok(const struct copy *c);
bool fill_ok(const struct fill *f);
void copy_run(const struct copy *c);
void fill_run(const struct fill *f);

struct ihipEvent_t {
  struct handle handle;
  struct device *device;
  unsigned flags;
  pthread_mutex_t lock;
  bool prepared;
  stream *stream;                 /* the stream of the last record; NULL: never recorded */
  uint64_t seq;
  uint64_t time;                  /* ns, for the record numbered time_seq */
  uint64_t time_seq;
  unsigned long long capture;     /* id of the capture in which it was recorded, 0: none */
  hipGraphNode_t *nodes;          /* in a capture: the dependencies of a stream that waits for it */
  size_t node_count;
  struct shared_event *shared;    /* of an interprocess event; NULL: private to this process */
  int shared_fd;                  /* -1: opened, not created here */
};
hipError_t event_new(hipEvent_t *handle, unsigned flags);
uint64_t clock_ns(void);
hipError_t event_record(event *e, stream *s);
hipError_t event_wait(stream *s, event *e);
void event_completed(event *e, uint32_t generation, stream *s, uint64_t seq);

/* Kernel arguments of a launch, in memory that kernels can read. */
struct kernarg {
  struct kernarg *next;
  uint32_t size_class;
  uint64_t address;               /* 64-byte aligned, registered */
  struct mem_block *block;        /* separately allocated, if it is large */
};
struct kernarg *kernarg_new(size_t size);
/* A copy in ordinary memory, for graph nodes; released in the same way. */
struct kernarg *kernarg_keep(const struct kernarg *k, size_t size);
void kernarg_release(struct kernarg *k);

struct ihipModule_t {
  struct handle handle;
  struct device *device;
  struct image *image;
  pthread_mutex_t lock;
  bool prepared;
  function *functions;            /* bytes requested so far */
};

struct ihipModuleSymbol_t {
  struct handle handle;
  struct ihipModule_t *module;
  struct device *device;
  const struct kernel_info *kernel;
  function *next;
  int max_dynamic_shared;
};

/* Loads code for a device; from: the file it was found in, for messages (NULL: memory). */
hipError_t module_load(hipModule_t *module, struct device *d, const void *data, size_t size, const char *from);
hipError_t module_function(function **out, hipModule_t m, const char *name);
/* Resolves HIP's handle of a function: a hipFunction_t, or the host function of a registered kernel, which is loaded
 * for the device if necessary (program/registry.c). */
hipError_t function_of(const void *handle, struct device *d, function **out);
/* The device's address and the size of a registered variable, by the address of its host symbol. */
hipError_t variable_of(const void *symbol, struct device *d, char **address, size_t *size);
/* Managed variables that were registered before the devices were initialised become device memory. */
void program_start(void);
/* The major version of HIP for which the program was compiled (program/stand_in.c). */
int hip_major(void);

/* Checks a launch and packs its arguments. */
hipError_t launch_prepare(struct launch *l, function *f, const unsigned grid[3], const unsigned block[3],
                          unsigned shared, void **params, void **extra);
/* Memory for a launch's arguments, and the arguments that depend on its address: filled in when known. */
struct kernarg *launch_args_new(const struct launch *l);
void launch_args_bind(const struct launch *l);
/* The checks and the submission of all launches; op contains last_block and cooperative (hip_launch.c). */
hipError_t launch_submit(struct op *op, function *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                         hipStream_t handle, void **params, void **extra);
bool wants_cooperation(const hipLaunchAttribute *attributes, unsigned count);   /* set by a launch attribute */
hipError_t launch_cooperative(function *f, const unsigned grid[3], const unsigned block[3], unsigned shared,
                              hipStream_t stream, void **params, void **extra);
int occupancy(const function *f, unsigned block, size_t shared);   /* workgroups per multiprocessor */

/* Whether [ptr, ptr + size) lies within one allocation or adjacent mappings, if ptr is in one: running over the end of
 * an allocation is an error, while unknown memory is the program's own, and registered memory may go on as such.
 * device: it must be known (hip_memory.c). */
bool mem_spans(const void *ptr, size_t size, bool device);
/* Arrays (hip_array.c): bytes of an element, 0 if there is no such array; the memory of an array, if a copy that ends
 * at these bytes, rows and slices lies within it. */
size_t array_texel(hipArray_t array);
hipError_t array_side(hipArray_t array, size_t x_end, size_t y_end, size_t z_end, char **base, size_t *pitch,
                      size_t *height);
/* From copy parameters to operations (hip_copy.c): the first two only check the parameters. */
hipError_t copy_of_3d(const HIP_MEMCPY3D *p, struct copy *c, int *devices);
hipError_t copy_of_parms(const hipMemcpy3DParms *p, struct copy *c, int *devices);
hipError_t fill_check(const struct fill *f);

bool vmm_reserved(uint64_t addr);   /* in a range of hipMemAddressReserve */
void pool_give_back(struct mem_block *block);
uint64_t pool_identity(const struct mem_block *block);      /* of the block's pool; 0: of none that may be exported */
bool pool_imports(const pool *p, uint64_t identity);        /* p was imported from the pool with this identity */
void imported_free(struct mem_block *block);                /* an OF_IMPORT block (hip_ipc.c) */
bool external_buffer_free(const struct mem_block *block); /* mapped external memory; false: it is not */
bool pool_init(struct device *d);

/* Graphs (hip_graph.c). */
struct hipGraphNode {
  struct handle handle;
  hipGraph_t graph;
  struct op op;
  hipGraphNode_t *depends;
  size_t depend_count;
  hipGraphNode_t original;        /* of a clone */
  void **param_pointers;          /* the pointers returned by hipGraphKernelNodeGetParams */
  HIP_MEMCPY3D copy_params;       /* the parameters, if it was a copy with a descriptor */
  bool mark;
};
struct ihipGraph {
  struct handle handle;
  hipGraphNode_t *nodes;          /* in the order they were added */
  size_t count;
  bool owned;                     /* references by a child node */
  hipGraph_t original;
  struct user_hold *holds;
};
extern struct handle_class graph_class, node_class, exec_class;

/* The user objects of a graph, with its reference counts (hip_user_object.c). */
struct user_hold { hipUserObject_t object; unsigned count; struct user_hold *next; };
hipError_t user_holds_copy(struct user_hold **to, const struct user_hold *from);
void user_holds_drop(struct user_hold **list);
hipGraph_t graph_new(void);
void graph_free(hipGraph_t graph);
/* Takes ownership of op's resources, also on errors. */
hipError_t graph_add(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *depends, size_t count,
                     const struct op *op);

/* Graph capture (hip_capture.c). */
hipError_t capture_op(stream *s, const struct op *op);
hipError_t capture_record(stream *s, event *e);
hipError_t capture_wait(stream *s, event *e);
/* A call that is not allowed during a capture, like synchronising: invalidates the capture. */
hipError_t capture_forbids(stream *s);
/* For a call that belongs to no stream, like an allocation: affects this thread's captures, and others' according to
 * their modes. */
hipError_t capture_allows(void);
hipError_t capture_waits(struct device *d);
hipError_t capture_implicit(const stream *s, bool asks);
hipError_t capture_event_asked(const event *e);
void capture_loses(stream *s);
#endif
