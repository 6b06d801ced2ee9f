/* Messages to the user (stderr) and the trace (PTX2AMD_TRACE=FILE, one JSON object per line). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

enum { LINE = 4096 };
int trace_on;
static FILE *trace_file;

/* Libraries that look for a kernel that works ask for one after the other: the same line is not said twice running. */
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
  if (write(STDERR_FILENO, line, (size_t)n) < 0) return; /* nobody listens: nothing to do about it */
}

CUresult refuse(int *said, const char *function) {
  if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) say("%s is not supported", function);
  return CUDA_ERROR_NOT_SUPPORTED;
}

double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void trace_open(void) {
  const char *path = getenv("PTX2AMD_TRACE");
  if (!path || !*path || trace_file) return;
  trace_file = fopen(path, "ae");
  if (!trace_file) say("cannot write the trace to %s", path);
  else setvbuf(trace_file, NULL, _IOLBF, 1 << 16);
  trace_on = trace_file != NULL;
}

void trace(const char *format, ...) {
  if (!trace_file) return;
  va_list args;
  va_start(args, format);
  flockfile(trace_file);
  fprintf(trace_file, "{\"pid\": %d, \"ms\": %.3f, ", (int)getpid(), now_ms());
  vfprintf(trace_file, format, args);
  fputs("}\n", trace_file);
  funlockfile(trace_file);
  va_end(args);
}

const char *json_string(const char *text, char *out, size_t size) {
  size_t n = 0;
  out[n++] = '"';
  for (; *text && n + 8 < size; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') n += (size_t)sprintf(out + n, "\\%c", c);
    else if (c < 0x20) n += (size_t)sprintf(out + n, "\\u%04x", c);
    else out[n++] = (char)c;
  }
  out[n++] = '"';
  out[n] = 0;
  return out;
}
