/* Checkpoints of processes (checkpoint.c), and the way to ask another process for them (checkpoint_peer.c). */
#ifndef SHIM_CHECKPOINT_H
#define SHIM_CHECKPOINT_H
#include "shim.h"

enum checkpoint_operation {
  CHECKPOINT_STATE, CHECKPOINT_THREAD, CHECKPOINT_LOCK, CHECKPOINT_SAVE, CHECKPOINT_RESTORE, CHECKPOINT_UNLOCK
};

struct checkpoint_request {
  unsigned operation, timeout_ms, pairs; /* pairs: of a restore */
  CUcheckpointGpuPair pair[MAX_DEVICES];
};
struct checkpoint_answer { CUresult result; int value; };

/* Does it in this process. */
struct checkpoint_answer checkpoint_here(const struct checkpoint_request *request);
/* Waits while the process is locked. */
void checkpoint_wait(void);

/* Lets other processes ask this one; a thread that sleeps until one does. */
void checkpoint_offer(void);
void checkpoint_in_child(void); /* of a fork: the parent's offer is not ours */
int checkpoint_thread(void);    /* its number; 0: there is none */
/* Asks a process, which may be this one. */
struct checkpoint_answer checkpoint_ask(int pid, const struct checkpoint_request *request);
#endif
