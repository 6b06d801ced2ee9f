/* Checkpoints: a locked process makes no call of the driver, and nothing runs on its devices. All memory of the software
 * GPU is memory of the process, so that it is its own checkpoint: who saves the process (CRIU) saves that as well. On
 * AMD's chips nothing here can take device memory away from the driver: a process can be locked there, no more. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "checkpoint.h"
#include "entry.h"
#include "readers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static enum { RUNNING, LOCKED, CHECKPOINTED } state;
static bool locking;
static unsigned turn, quiet; /* numbers of locks: the last one, and of those for which work has ended */

void checkpoint_wait(void) {
  pthread_mutex_lock(&lock);
  while (__atomic_load_n(&entry_state, __ATOMIC_RELAXED) & ENTRY_LOCKED) pthread_cond_wait(&moved, &lock);
  pthread_mutex_unlock(&lock);
}

static void open_entries(void) {
  __atomic_and_fetch(&entry_state, ~ENTRY_LOCKED, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&moved);
}

/* Until calls that had begun to look at kernels have ended, and what they and others have started. */
static void *wait_for_work(void *number) {
  bool seen[MAX_DEVICES] = {false};
  readers_wait();
  for (struct context *c = handle_next(HANDLE_CONTEXT, NULL); c; c = handle_next(HANDLE_CONTEXT, c)) {
    if (!c->active || seen[c->device]) continue;
    seen[c->device] = true;
    hip.SetDevice(c->device);
    hip.DeviceSynchronize(); /* a failed device has ended its work, too */
  }
  pthread_mutex_lock(&lock);
  if ((unsigned)(uintptr_t)number > quiet) quiet = (unsigned)(uintptr_t)number;
  pthread_cond_broadcast(&moved);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static CUresult start_waiting(void) {
  pthread_t thread;
  int error = pthread_create(&thread, NULL, wait_for_work, (void *)(uintptr_t)turn);
  if (!error) pthread_detach(thread);
  return error ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

static CUresult lock_process(unsigned timeout_ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += timeout_ms / 1000;
  until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  if (state != RUNNING || locking) return CUDA_ERROR_ILLEGAL_STATE;
  locking = true;
  unsigned mine = ++turn;
  __atomic_or_fetch(&entry_state, ENTRY_LOCKED, __ATOMIC_SEQ_CST);
  CUresult result = start_waiting();
  while (!result && quiet < mine) {
    if (!timeout_ms) pthread_cond_wait(&moved, &lock);
    else if (pthread_cond_timedwait(&moved, &lock, &until) == ETIMEDOUT && quiet < mine) result = CUDA_ERROR_NOT_READY;
  }
  locking = false;
  if (result) open_entries();
  else state = LOCKED;
  return result;
}

static int device_of(const CUuuid *uuid) {
  for (int i = 0; i < device_count; i++)
    if (!memcmp(uuid, &devices[i].uuid, sizeof *uuid)) return i;
  return -1;
}

/* Pairs name every device in use, and each of them again. */
static CUresult check_pairs(const struct checkpoint_request *r) {
  bool named[MAX_DEVICES] = {false};
  for (unsigned i = 0; i < r->pairs; i++) {
    int old = device_of(&r->pair[i].oldUuid), new = device_of(&r->pair[i].newUuid);
    if (old < 0 || new < 0) return CUDA_ERROR_INVALID_VALUE;
    if (old != new) return CUDA_ERROR_NOT_SUPPORTED;
    named[old] = true;
  }
  for (struct context *c = handle_next(HANDLE_CONTEXT, NULL); c && r->pairs; c = handle_next(HANDLE_CONTEXT, c))
    if (c->active && !named[c->device]) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

static CUresult operate(const struct checkpoint_request *r) {
  static int said;
  switch (r->operation) {
    case CHECKPOINT_LOCK: return lock_process(r->timeout_ms);
    case CHECKPOINT_SAVE:
      if (state != LOCKED) return CUDA_ERROR_ILLEGAL_STATE;
      if (!hip_is_software)
        return refuse(&said, "a checkpoint of memory on an AMD GPU (CRIU's plugin for amdgpu saves that of a locked process)");
      state = CHECKPOINTED;
      return CUDA_SUCCESS;
    case CHECKPOINT_RESTORE:
      if (state != CHECKPOINTED) return CUDA_ERROR_ILLEGAL_STATE;
      CUresult result = check_pairs(r);
      if (!result) state = LOCKED;
      return result;
    case CHECKPOINT_UNLOCK:
      if (state != LOCKED) return CUDA_ERROR_ILLEGAL_STATE;
      state = RUNNING;
      open_entries();
      return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
  }
}

struct checkpoint_answer checkpoint_here(const struct checkpoint_request *r) {
  if (!initialised) return (struct checkpoint_answer){CUDA_ERROR_NOT_INITIALIZED, 0};
  pthread_mutex_lock(&lock);
  CUresult result = operate(r);
  int value = r->operation == CHECKPOINT_THREAD ? checkpoint_thread() : (int)state;
  pthread_mutex_unlock(&lock);
  if (r->operation == CHECKPOINT_THREAD && !value) result = CUDA_ERROR_NOT_SUPPORTED;
  return (struct checkpoint_answer){result, value};
}

/* ---- calls ---- */

static bool zeros(const void *at, size_t size) {
  const char *byte = at;
  while (size && !*byte) size--, byte++;
  return !size;
}

static CUresult question(int pid, enum checkpoint_operation operation, int *value) {
  struct checkpoint_request r = {.operation = operation};
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  struct checkpoint_answer answer = checkpoint_ask(pid, &r);
  if (!answer.result) *value = answer.value;
  return answer.result;
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *tid) { return question(pid, CHECKPOINT_THREAD, tid); }
CUresult cuCheckpointProcessGetState(int pid, CUprocessState *current) { return question(pid, CHECKPOINT_STATE, current); }

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *args) {
  struct checkpoint_request r = {.operation = CHECKPOINT_LOCK, .timeout_ms = args ? args->timeoutMs : 0};
  if (args && (args->reserved0 || !zeros(args->reserved1, sizeof args->reserved1))) return CUDA_ERROR_INVALID_VALUE;
  return checkpoint_ask(pid, &r).result;
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *args) {
  struct checkpoint_request r = {.operation = CHECKPOINT_SAVE};
  if (args && !zeros(args->reserved, sizeof args->reserved)) return CUDA_ERROR_INVALID_VALUE;
  if (args && args->customStorageInfo_out) return CUDA_ERROR_NOT_SUPPORTED;
  return checkpoint_ask(pid, &r).result;
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *args) {
  struct checkpoint_request r = {.operation = CHECKPOINT_RESTORE, .pairs = args ? args->gpuPairsCount : 0};
  if (args && (!zeros(args->reserved, sizeof args->reserved) || (r.pairs && !args->gpuPairs) || r.pairs > MAX_DEVICES))
    return CUDA_ERROR_INVALID_VALUE;
  if (args && args->customStorageInfo_out) return CUDA_ERROR_NOT_SUPPORTED;
  if (r.pairs) memcpy(r.pair, args->gpuPairs, r.pairs * sizeof r.pair[0]);
  return checkpoint_ask(pid, &r).result;
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *args) {
  struct checkpoint_request r = {.operation = CHECKPOINT_UNLOCK};
  if (args && !zeros(args->reserved, sizeof args->reserved)) return CUDA_ERROR_INVALID_VALUE;
  return checkpoint_ask(pid, &r).result;
}
