/* Carries out what kernels have launched. A launch of such a kernel is followed in its stream by a job (deferred.h), which
 * reads the kernel's records and launches them, one after the other in the order of the queue: the order that any of the
 * kernel's streams asks for. A child is complete when its own children are, so these come before the next one; what is in
 * the tail stream comes when all others are complete, as if the kernel's parent had launched it next. */
#include "children.h"

#include <stdlib.h>
#include <string.h>

#include "deferred.h"

enum { WAITING_MOST = 32 }; /* launches whose jobs are not done, before the program waits: each has a block of memory */

struct lane { struct line line; struct lane *next; hipStream_t stream; }; /* the program's, or NULL */
struct parent { struct job job; struct context *context; struct records *records; };
struct item { struct records *records; uint64_t number; };
struct stack { struct item *items; size_t count, capacity; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lane *lanes;
static _Atomic bool failed[MAX_DEVICES];
_Atomic bool children_failed; /* any of them */

CUresult children_result(void) {
  bool here = thread_state.current ? failed[thread_state.current->device] : children_failed;
  return here ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

void children_reset(int device, bool lost) {
  pthread_mutex_lock(&lock);
  failed[device] = children_failed = false;
  for (int i = 0; i < device_count; i++) children_failed |= failed[i];
  for (struct lane **at = &lanes, *a; lost && (a = *at);)
    if (a->line.device == device) *at = a->next;
    else at = &a->next;
  pthread_mutex_unlock(&lock);
}

/* ---- what is still to be done: the last item is next ---- */

static bool push(struct stack *s, struct records *r, uint64_t number) {
  if (s->count == s->capacity) {
    size_t capacity = s->capacity ? 2 * s->capacity : 256;
    struct item *grown = realloc(s->items, capacity * sizeof *grown);
    if (!grown) return false;
    s->items = grown;
    s->capacity = capacity;
  }
  r->references++;
  s->items[s->count++] = (struct item){r, number};
  return true;
}

/* All records of a kernel that has ended: those in the tail stream come last, so they go in first. */
static CUresult push_all(struct stack *s, struct records *r) {
  uint64_t count = records_count(r);
  for (int tail = 1; tail >= 0; tail--)
    for (uint64_t i = count; i-- > 0;) {
      const struct launch_record *c = records_at(r, i);
      if (!c) return CUDA_ERROR_LAUNCH_FAILED;
      if ((c->stream == STREAM_TAIL) == tail && !push(s, r, i)) return CUDA_ERROR_OUT_OF_MEMORY;
    }
  return CUDA_SUCCESS;
}

/* ---- one record ---- */

static struct kernel *kernel_at(uint64_t facts, int device) {
  for (struct module *m = handle_next(HANDLE_MODULE, NULL); m; m = handle_next(HANDLE_MODULE, m)) {
    uint64_t base = m->segment[device];
    if (!base || facts < base || facts - base >= m->index.segment_size) continue;
    for (uint32_t i = 0; i < m->kernel_count; i++)
      if (m->kernels[i]->index.facts == (int64_t)(facts - base)) return m->kernels[i];
  }
  return NULL;
}

static void explain(const struct kernel *k, const struct launch_record *c, CUresult result) {
  const char *text = "";
  cuGetErrorString(result, &text);
  say("kernel %s, launched by a kernel with %u x %u x %u blocks of %u x %u x %u threads and %u bytes of shared memory: %s",
      k->name, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, text);
}

static CUresult launch_child(const struct line *l, struct launch_record *c, struct records *of, struct stack *s) {
  struct kernel *k = kernel_at(c->kernel, l->device);
  if (!k) {
    say("a kernel tried to launch 0x%llx, which is not a kernel", (unsigned long long)c->kernel);
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  struct kernel_code *code;
  CUresult result = kernel_code(k, l->device, &code);
  if (result) return result;
  struct records *own = NULL;
  if (code->properties.launches && !(own = records_new(l->device, records_depth(of) + (c->stream != STREAM_TAIL))))
    return CUDA_ERROR_OUT_OF_MEMORY;
  size_t size = c->bytes;
  void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, c->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  struct launch launch = {.kernel = k, .shape = {{c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared},
                          .device = l->device, .stream = l->stream, .extra = packed, .records = own ? own->seen : 0};
  result = kernel_launch(&launch);
  if (result) explain(k, c, result);
  if (!own) return result;
  if (!result) result = from_hip(stream_wait(l->stream));
  if (!result) result = push_all(s, own);
  records_drop(own);
  return result;
}

static int fill(uint64_t to, uint64_t pitch, unsigned char value, uint64_t width, uint64_t height, hipStream_t stream) {
  if (pitch == width || height == 1) return hip.MemsetD8Async((void *)to, value, width * height, stream);
  int error = 0;
  for (uint64_t y = 0; y < height && !error; y++) error = hip.MemsetD8Async((void *)(to + y * pitch), value, width, stream);
  return error;
}

/* HIP 5 copies no rectangles of variables of modules. */
static int copy(uint64_t to, uint64_t pitch, uint64_t from, uint64_t from_pitch, uint64_t width, uint64_t height,
                hipStream_t stream) {
  if (height > 1 && hip_version >= 600)
    return hip.Memcpy2DAsync((void *)to, pitch, (void *)from, from_pitch, width, height, hipMemcpyDefault, stream);
  int error = 0;
  for (uint64_t y = 0; y < height && !error; y++)
    error = hip.MemcpyAsync((void *)(to + y * pitch), (void *)(from + y * from_pitch), width, hipMemcpyDefault, stream);
  return error;
}

static CUresult carry_out(const struct line *l, struct launch_record *c, struct records *of, struct stack *s) {
  if (c->kind == RECORD_LAUNCH) return launch_child(l, c, of, s);
  struct launch_command words;
  if (c->bytes < sizeof words) return CUDA_ERROR_LAUNCH_FAILED;
  memcpy(&words, c->parameters, sizeof words);
  if (!words.width || !words.height) return CUDA_SUCCESS;
  if (c->kind == RECORD_COPY)
    return from_hip(copy(words.to, words.pitch, words.source, words.source_pitch, words.width, words.height, l->stream));
  return from_hip(fill(words.to, words.pitch, (unsigned char)words.source, words.width, words.height, l->stream));
}

/* ---- the job ---- */

static CUresult run_all(const struct line *l, struct records *first) {
  struct stack s = {0};
  CUresult result = push_all(&s, first);
  while (s.count) {
    struct item next = s.items[--s.count];
    struct launch_record *c = result || lines_ending ? NULL : records_at(next.records, next.number);
    if (c) result = carry_out(l, c, next.records, &s);
    records_drop(next.records);
  }
  free(s.items);
  CUresult end = lines_ending ? CUDA_SUCCESS : from_hip(stream_wait(l->stream));
  return result ? result : end;
}

static void run(struct line *l, struct job *job, int error) {
  struct parent *p = (struct parent *)job;
  thread_state.current = p->context;
  thread_state.hip_device = l->device;
  CUresult result = error || failed[l->device] ? CUDA_SUCCESS : run_all(l, p->records);
  if (result) failed[l->device] = children_failed = true;
  records_drop(p->records);
}

static void drop(struct line *l) {
  line_free(l);
  free(l);
}

/* The line of a stream; of those that have nothing to do, any. */
static struct lane *lane_of(hipStream_t stream, int device) {
  struct lane *idle = NULL;
  for (struct lane *a = lanes; a; a = a->next) {
    if (a->line.device != device) continue;
    if (a->stream == stream) return a;
    if (a->line.given == a->line.done) idle = a;
  }
  if (idle) {
    idle->stream = stream;
    return idle;
  }
  struct lane *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->line.device = device;
  made->line.run = run;
  made->line.drop = drop;
  if (line_open(&made->line)) {
    drop(&made->line);
    return NULL;
  }
  made->stream = stream;
  made->next = lanes;
  return lanes = made;
}

/* ---- a launch by the program ---- */

CUresult children_refused(const struct kernel *k, const char *where) {
  say("kernel %s launches kernels, which is not supported in %s; launch it in a stream", k->name, where);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult children_launch(const struct launch *launch) {
  hipStreamCaptureStatus capturing = hipStreamCaptureStatusNone;
  if (!hip.StreamIsCapturing(launch->stream, &capturing) && capturing) return children_refused(launch->kernel, "a capture");
  struct parent *p = calloc(1, sizeof *p);
  struct records *r = p ? records_new(launch->device, 0) : NULL;
  if (!r) {
    free(p);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *p = (struct parent){.context = thread_state.current, .records = r};
  struct launch with = *launch;
  with.records = r->seen;
  pthread_mutex_lock(&lock);
  struct lane *lane = lane_of(launch->stream, launch->device);
  while (lane && lane->line.given - lane->line.done > WAITING_MOST) {
    uint64_t enough = lane->line.given - WAITING_MOST;
    pthread_mutex_unlock(&lock);
    line_await(&lane->line, enough);
    pthread_mutex_lock(&lock);
    lane = lane_of(launch->stream, launch->device);
  }
  CUresult result = lane ? kernel_launch(&with) : CUDA_ERROR_OUT_OF_MEMORY;
  if (!result) result = from_hip(line_add(&lane->line, &p->job, launch->stream));
  pthread_mutex_unlock(&lock);
  if (result) {
    records_drop(r);
    free(p);
  }
  return result;
}
