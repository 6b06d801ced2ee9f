/* Work of the host in the order of a stream: a thread does it when the stream has come to it, and the stream waits. */
#ifndef SHIM_DEFERRED_H
#define SHIM_DEFERRED_H
#include "shim.h"

/* Eight bytes of host memory that kernels and streams reach. */
struct cell { uint64_t *host; uint64_t device; struct cell *next; };
enum cell_kind { CELL_CONDITION, CELL_GATE };
struct cell *cell_new(enum cell_kind kind);
void cell_free(enum cell_kind kind, struct cell *cell);

/* First member of what is to be done; freed when that is over. */
struct job { struct job *next; hipEvent_t event; uint64_t number; };

/* Jobs that are done one after the other, by a thread that is there while jobs are. */
struct line {
  int device;
  hipStream_t stream; /* of its own, for what the jobs launch */
  struct cell *gate;  /* counts the jobs that are done; streams wait for that number */
  uint64_t given;
  _Atomic uint64_t done;
  struct job *first, **last;
  bool working, closed;
  void (*run)(struct line *line, struct job *job, int error); /* error: HIP's, of what was in the stream before */
  void (*drop)(struct line *line);                            /* after line_close, when nothing is to be done any more */
};
void lines_init(void);              /* once, when HIP is there: the process's end comes to lines before it comes to HIP */
extern _Atomic bool lines_ending; /* the process ends: jobs stay undone */

int line_open(struct line *line); /* stream and gate, for the current device; a HIP error */
void line_free(struct line *line); /* what line_open has made */
/* The job is done when what is in the stream now is done, and the stream waits for it. Takes the job, if it succeeds.
 * On a device whose streams cannot wait for values, the caller does. A HIP error. */
int line_add(struct line *line, struct job *job, hipStream_t stream);
void line_do(struct line *line, struct job *job); /* in no stream: as soon as the thread comes to it; may be called in a host function */
void line_await(struct line *line, uint64_t number);
void line_close(struct line *line);

/* A copy to the device for the shim's own purposes, in no stream of the program: those may wait for a line, and its
 * thread for what the caller holds. A HIP error. */
int upload(int device, uint64_t to, const void *from, size_t size);
int upload_zeros(int device, uint64_t to, size_t size);
void uploads_reset(int device); /* HIP has taken the device's streams away */
#endif
