/* The trace of HIP programs (`run --hip --trace FILE`): one line of JSON for each call by the program, in the format of
 * the driver's trace, and for each kernel after its execution. Each line is one write, so that processes can share a
 * file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "hip_state.h"
#include "settings.h"

bool hip_traced;
__thread hipError_t hip_result;
static int file = -1;
static __thread unsigned depth;   /* HIP functions called by HIP functions are not traced */

static void open_trace(void) {
  const char *path = setting_text(SETTING_HIP_TRACE);
  if (!*path) return;
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) complain("cannot write the trace to %s", path);
  hip_traced = file >= 0;
}

__attribute__((constructor)) static void trace_open(void) { open_trace(); }

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
  char line[2048];
  int n = snprintf(line, sizeof line, "{\"pid\": %d, \"ms\": %.3f, ", (int)getpid(), (double)now_ns() / 1e6);
  va_list values;
  va_start(values, format);
  n += vsnprintf(line + n, sizeof line - (size_t)n, format, values);
  va_end(values);
  if (n < (int)sizeof line && write(file, line, (size_t)n) < 0) return;   /* if the disk is full, lines are lost, but
                                                                           * the program continues */
}

/* The contents of a JSON string: names come from files. */
static const char *escaped(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (; *text && n + 7 < size; text++) {
    unsigned char c = (unsigned char)*text;
    n += (size_t)snprintf(out + n, size - n, c < ' ' || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
  }
  out[n] = 0;
  return out;
}

struct hip_call hip_call_begin(const char *name) {
  struct hip_call call = {depth++ ? NULL : name, now_ns(), true};
  if (call.name) hip_result = hipSuccess;
  return call;
}

void hip_call_end(const struct hip_call *call) {
  depth--;
  if (call->name)
    put("\"event\": \"call\", \"name\": \"%s\", \"result\": %d, \"ns\": %llu}\n", call->name, (int)hip_result,
        (unsigned long long)(now_ns() - call->begin));
}

uint64_t hip_trace_time(void) { return hip_traced ? now_ns() : 0; }

void hip_trace_kernel(const struct dispatch *d, uint64_t begin, int fault) {
  char name[1024];
  if (!hip_traced) return;
  put("\"event\": \"launch\", \"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared\": %u, "
      "\"mapping\": \"none\", \"fault\": %d, \"ns\": %llu}\n", escaped(d->kernel, name, sizeof name), d->grid[0],
      d->grid[1], d->grid[2], d->block[0], d->block[1], d->block[2], (unsigned)d->dynamic_lds, fault,
      (unsigned long long)(now_ns() - begin));
}
