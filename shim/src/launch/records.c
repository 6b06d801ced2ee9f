/* Memory in which a kernel leaves what it launches (children.h). */
#include "children.h"

#include <stdlib.h>
#include <string.h>

enum { PORTABLE = 1 };
enum { HEADER = sizeof(struct launch_records), ERROR_LIST = LAUNCH_ERRORS * sizeof(struct launch_error) };
enum { ATTRIBUTES = 160, RECORD_BYTES = 256 };
/* None of what a kernel launches begins before it has ended, while on NVIDIA's GPUs launches make room as they begin. */
enum { LAUNCHES_PER_SLOT = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct records *spare;

static struct launch_records *header_of(const struct records *r) { return (struct launch_records *)r->host; }

static size_t pending_launches(void) {
  struct context *c = thread_state.current;
  return (c ? c->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] : 2048) * LAUNCHES_PER_SLOT;
}

static void fill_attributes(struct records *r) {
  int32_t *table = (int32_t *)(r->host + HEADER + ERROR_LIST);
  for (int i = 1; i < ATTRIBUTES; i++)
    if (cuDeviceGetAttribute(&table[i], (CUdevice_attribute)i, r->device)) table[i] = 0;
}

static struct records *make(int device, size_t capacity) {
  struct records *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->device = device;
  r->capacity = capacity;
  r->room = capacity * RECORD_BYTES;
  r->queue = HEADER + ERROR_LIST + ATTRIBUTES * sizeof(int32_t);
  r->pool = (r->queue + capacity * sizeof(uint64_t) + 15) & ~(uint64_t)15;
  r->size = r->pool + r->room;
  void *host = NULL;
  if (hip_mapped(r->size, PORTABLE, &host, &r->seen)) {
    free(r);
    return NULL;
  }
  memset(host, 0, r->pool);
  r->host = host;
  fill_attributes(r);
  return r;
}

/* One that was used before, or a new one. */
static struct records *take(int device, size_t capacity) {
  pthread_mutex_lock(&lock);
  struct records **at = &spare;
  while (*at && ((*at)->device != device || (*at)->capacity != capacity)) at = &(*at)->next;
  struct records *r = *at;
  if (r) *at = r->next;
  pthread_mutex_unlock(&lock);
  if (r) return r;
  hipStreamCaptureMode mode = capture_relax();
  r = make(device, capacity);
  capture_return(mode);
  return r;
}

struct records *records_new(int device, unsigned depth) {
  struct records *r = take(device, pending_launches());
  if (!r) return NULL;
  struct launch_records *h = header_of(r);
  r->references = 1;
  memset(r->host + HEADER, 0,
         (h->error_count < LAUNCH_ERRORS ? h->error_count : LAUNCH_ERRORS) * sizeof(struct launch_error));
  *h = (struct launch_records){.capacity = r->capacity, .room = r->room, .queue = r->seen + r->queue, .pool = r->seen + r->pool,
                       .errors = r->seen + HEADER, .next_stream = FIRST_STREAM, .depth = depth, .device = (uint32_t)device,
                       .devices = (uint32_t)device_count, .attribute_count = ATTRIBUTES,
                       .attributes = r->seen + HEADER + ERROR_LIST};
  for (int i = 0; i < 5 && thread_state.current; i++) h->limits[i] = thread_state.current->limits[i];
  return r;
}

void records_drop(struct records *r) {
  if (--r->references) return;
  pthread_mutex_lock(&lock);
  r->next = spare;
  spare = r;
  pthread_mutex_unlock(&lock);
}

uint64_t records_count(const struct records *r) {
  uint64_t count = __atomic_load_n(&header_of(r)->count, __ATOMIC_ACQUIRE);
  return count < r->capacity ? count : r->capacity;
}

/* Kernels write where they like: nothing of it is trusted. */
struct launch_record *records_at(const struct records *r, uint64_t number) {
  uint64_t offset;
  memcpy(&offset, r->host + r->queue + number * sizeof offset, sizeof offset);
  if (offset % 16 || offset > r->room || r->room - offset < sizeof(struct launch_record)) return NULL;
  struct launch_record *found = (struct launch_record *)(r->host + r->pool + offset);
  return found->bytes <= r->room - offset - sizeof *found ? found : NULL;
}

unsigned records_depth(const struct records *r) { return header_of(r)->depth; }
