/* Queues: each has a thread that executes its packets in order. Doorbells are not read: the thread polls the write
 * index, immediately while there is work and less and less often when there is none. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "kfd.h"
#include "hsa_abi.h"

enum { MAX_QUEUES = 1024, DOORBELL_BYTES = 8 };
static struct queue *queues[MAX_QUEUES];   /* by id; 0 is not used */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pause_a_while(struct pause *p) {
  enum { SPIN = 500, FIRST_SLEEP = 10000, LAST_SLEEP = 1000000 /* ns */, ROUNDS = 32 /* of a length */ };
  unsigned round = p->rounds++, doubled = (round - SPIN) / ROUNDS;
  if (round < SPIN) {   /* yielding could lose the processor for a long time if other threads are ready */
    __builtin_ia32_pause();
    return;
  }
  long sleep = doubled < 7 ? FIRST_SLEEP << doubled : LAST_SLEEP;
  nanosleep(&(struct timespec){.tv_nsec = sleep < LAST_SLEEP ? sleep : LAST_SLEEP}, NULL);
}

static bool is_sdma(uint32_t type) {
  return type == KFD_QUEUE_SDMA || type == KFD_QUEUE_SDMA_XGMI || type == KFD_QUEUE_SDMA_BY_ENGINE;
}

static void *work(void *argument) {
  struct queue *q = argument;
  prctl(PR_SET_TIMERSLACK, 1000);   /* ns: the sleeps are short */
  bool (*run)(struct queue *) = is_sdma(q->type) ? sdma_run : aql_run;
  struct pause pause = {0};
  while (!atomic_load_explicit(&q->stop, memory_order_relaxed)) {
    if (!q->failed && run(q)) pause.rounds = 0;
    else pause_a_while(&pause);
  }
  return NULL;
}

int queue_create(struct kfd_create_queue *a) {
  struct gpu *g = gpu_by_id(a->gpu_id);
  if (!g || a->type > KFD_QUEUE_SDMA_BY_ENGINE || a->type == KFD_QUEUE_COMPUTE || !a->ring_size) return -EINVAL;
  struct queue *q = calloc(1, sizeof *q);
  if (!q) return -ENOMEM;
  *q = (struct queue){.type = a->type, .gpu = g, .ring = a->ring, .size = a->ring_size, .read_pointer = a->read_pointer,
                      .write_pointer = a->write_pointer, .done = *(uint64_t *)a->read_pointer};
  int error = 0;
  pthread_mutex_lock(&lock);
  q->id = 1;
  while (q->id < MAX_QUEUES && queues[q->id]) q->id++;
  if (q->id == MAX_QUEUES || pthread_create(&q->thread, NULL, work, q)) error = -ENOMEM;
  else queues[q->id] = q;
  pthread_mutex_unlock(&lock);
  if (error) return free(q), error;
  a->queue_id = q->id;
  a->doorbell_offset = KFD_MMAP_DOORBELL | KFD_MMAP_GPU(g->id) | q->id * DOORBELL_BYTES;
  return 0;
}

/* Under the lock. */
static struct queue *queue_of(uint32_t id) { return id < MAX_QUEUES ? queues[id] : NULL; }

int queue_destroy(uint32_t id) {
  pthread_mutex_lock(&lock);
  struct queue *q = queue_of(id);
  if (q) queues[id] = NULL;
  pthread_mutex_unlock(&lock);
  if (!q) return -EINVAL;
  atomic_store(&q->stop, true);
  pthread_join(q->thread, NULL);
  free(q);
  return 0;
}

/* Rings are never moved; a queue is suspended (0 percent) by its owner, who then sends no packets. */
int queue_update(const struct kfd_update_queue *a) {
  pthread_mutex_lock(&lock);
  struct queue *q = queue_of(a->queue_id);
  pthread_mutex_unlock(&lock);
  return q ? 0 : -EINVAL;
}

int queue_cooperate(struct kfd_queue_gws *a) {
  pthread_mutex_lock(&lock);
  struct queue *q = queue_of(a->queue_id);
  if (q) q->cooperative = a->count > 0;
  pthread_mutex_unlock(&lock);
  a->first = 0;
  return q ? 0 : -EINVAL;
}
