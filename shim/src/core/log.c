/* Messages to the user, on standard error. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

enum { LINE = 4096 };

/* Libraries try many kernels in a row until one loads: consecutive equal lines are printed once. */
static bool said_before(const char *line, size_t size) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static char last[LINE];
  static size_t last_size;
  pthread_mutex_lock(&lock);
  bool same = size == last_size && !memcmp(line, last, size);
  if (!same) memcpy(last, line, last_size = size);
  pthread_mutex_unlock(&lock);
  return same;
}

/* Whether the terminal's last line is a progress line, which the next message replaces. */
static bool passing;

void say_passing(const char *line) {
  char text[LINE];
  bool shown = __atomic_exchange_n(&passing, *line != 0, __ATOMIC_RELAXED);
  if (!shown && !*line) return;
  int n = snprintf(text, sizeof text, "\r\033[K%s", line);
  if (write(STDERR_FILENO, text, n < LINE ? (size_t)n : LINE - 1) < 0) return; /* standard error is closed */
}

void say(const char *format, ...) {
  char line[LINE];
  va_list args;
  va_start(args, format);
  int n = snprintf(line, sizeof line, "ptx2amd: ");
  n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
  va_end(args);
  if (n > (int)sizeof line - 2) n = (int)sizeof line - 2;
  line[n++] = '\n';
  if (said_before(line, (size_t)n)) return;
  say_passing("");
  if (write(STDERR_FILENO, line, (size_t)n) < 0) return; /* standard error is closed */
}

CUresult refuse(int *said, const char *function) {
  if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) say("%s is not supported", function);
  return CUDA_ERROR_NOT_SUPPORTED;
}
