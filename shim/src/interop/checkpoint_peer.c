/* Checkpoints of other processes: each process that uses the driver listens on a socket that is named by its number. One
 * packet asks, one answers. Who asks must be the same user, or root; who answers must be the process that was meant. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "checkpoint.h"

enum { WAITING = 8, STACK = 256 << 10 };

static int listener = -1;
static _Atomic int thread_id;

int checkpoint_thread(void) { return thread_id; }

/* In no folder: nothing is left when the process is gone. */
static socklen_t address_of(int pid, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "ptx2amd-checkpoint-%d", pid);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static bool peer_of(int fd, struct ucred *peer) {
  socklen_t size = sizeof *peer;
  return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size);
}

/* ---- who is asked ---- */

static void *answer(void *socket) {
  int fd = (int)(intptr_t)socket;
  struct ucred peer;
  struct checkpoint_request request;
  if (peer_of(fd, &peer) && (peer.uid == geteuid() || !peer.uid) &&
      recv(fd, &request, sizeof request, 0) == sizeof request && request.pairs <= MAX_DEVICES) {
    struct checkpoint_answer done = checkpoint_here(&request);
    send(fd, &done, sizeof done, MSG_NOSIGNAL);
  }
  close(fd);
  return NULL;
}

static bool start(void *(*function)(void *), void *argument) {
  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&thread, &attributes, function, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return !error;
}

/* A thread for each question: a lock may take its time. */
static void *listen_to_others(void *unused) {
  (void)unused;
  thread_id = (int)syscall(SYS_gettid);
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && errno != EINTR && errno != ECONNABORTED && errno != EMFILE) break;
    if (fd < 0) usleep(errno == EMFILE ? 100000 : 0);
    else if (!start(answer, (void *)(intptr_t)fd)) close(fd);
  }
  thread_id = 0;
  return NULL;
}

/* Without the socket or the thread the process works as well: only itself can ask it then. */
void checkpoint_offer(void) {
  struct sockaddr_un address;
  socklen_t size = address_of((int)getpid(), &address);
  listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0) return;
  if (!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, WAITING) && start(listen_to_others, NULL)) return;
  close(listener);
  listener = -1;
}

void checkpoint_in_child(void) {
  if (listener >= 0) close(listener);
  listener = -1;
  thread_id = 0;
}

/* ---- who asks ---- */

struct checkpoint_answer checkpoint_ask(int pid, const struct checkpoint_request *request) {
  struct checkpoint_answer answer = {CUDA_ERROR_INVALID_VALUE, 0};
  struct sockaddr_un address;
  struct ucred peer;
  if (pid == (int)getpid()) return checkpoint_here(request);
  if (pid <= 0 || (kill(pid, 0) && errno == ESRCH)) return answer;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return (struct checkpoint_answer){CUDA_ERROR_OPERATING_SYSTEM, 0};
  socklen_t size = address_of(pid, &address);
  if (connect(fd, (struct sockaddr *)&address, size) || !peer_of(fd, &peer) || peer.pid != pid)
    answer.result = CUDA_ERROR_NOT_INITIALIZED; /* it does not use the driver */
  else if (send(fd, request, sizeof *request, MSG_NOSIGNAL) != sizeof *request ||
           recv(fd, &answer, sizeof answer, 0) != sizeof answer)
    answer = (struct checkpoint_answer){CUDA_ERROR_INVALID_VALUE, 0}; /* it ended, or is another user's */
  close(fd);
  return answer;
}
