/* A program that waits for translations says so, if standard error is a terminal: a line while it waits, once it has
 * waited for PTX2AMD_PROGRESS_AFTER in all, and at exit a line that says what the translations took. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cache.h"
#include "progress.h"
#include "shim.h"

enum { NAME = 80, REDRAW_MS = 100, WIDEST = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  pid_t process;          /* a forked child has waited for nothing yet */
  unsigned requests;      /* that are being waited for */
  unsigned kernels;       /* translated so far */
  double since, waited;   /* ms: when the first of these requests began; the waits before */
  double drawn;
  char name[NAME];        /* the kernel that was asked for last */
} state;

/* Columns of the terminal; 0 where there is none that this process may write to at any time. */
static unsigned terminal(void) {
  struct winsize size = {0};
  if (setting_on(SETTING_QUIET) || !isatty(STDERR_FILENO) || tcgetpgrp(STDERR_FILENO) != getpgrp()) return 0;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

static bool is_long(double waited) { return waited >= 1e3 * setting_number(SETTING_PROGRESS_AFTER); }

static double waited(double now) { return state.waited + (state.requests ? now - state.since : 0); }

static void draw(void) {
  double now = now_ms(), total = waited(now);
  unsigned columns;
  char line[WIDEST];
  if (!is_long(total) || now - state.drawn < REDRAW_MS || !(columns = terminal())) return;
  int n = snprintf(line, sizeof line, "ptx2amd: translating kernels for this GPU: %u done in %.0f s, now %s", state.kernels,
                   total / 1e3, state.name);
  if (n >= (int)columns) n = (int)columns - 1;
  if (n >= WIDEST) n = WIDEST - 1;
  line[n] = 0;
  say_passing(line);
  state.drawn = now;
}

void progress_begin(const char *kernel) {
  pthread_mutex_lock(&lock);
  if (state.process != getpid()) {
    memset(&state, 0, sizeof state);
    state.process = getpid();
  }
  if (!state.requests++) state.since = now_ms();
  snprintf(state.name, sizeof state.name, "%s", kernel ? kernel : "the list of a module's kernels");
  draw();
  pthread_mutex_unlock(&lock);
}

void progress_tick(void) {
  pthread_mutex_lock(&lock);
  if (state.requests) draw();
  pthread_mutex_unlock(&lock);
}

void progress_end(bool translated) {
  pthread_mutex_lock(&lock);
  if (state.process == getpid() && state.requests) {
    state.kernels += translated;
    if (!--state.requests) {
      state.waited += now_ms() - state.since;
      say_passing("");
    }
  }
  pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void summary(void) {
  if (state.process != getpid() || !state.kernels || !is_long(state.waited) || !terminal()) return;
  const char *cache = cache_directory();
  say("%u kernel%s translated in %.0f s; %s%s", state.kernels, state.kernels == 1 ? " was" : "s were", state.waited / 1e3,
      *cache ? "the next run takes them from the cache in " : "the cache is off, so the next run translates them again",
      cache);
}
