/* Device printf: ptx2amd/interface/printf.py has the layout. The buffer is host memory that kernels reach; it is drained at
 * every synchronisation. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface_printf.h"
#include "module.h"

enum { BUFFER_BYTES = 1 << 20, TEXT_MAX = 1 << 16 };
#define ASSERTION_FORMAT "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool asserted; /* a kernel's assert failed; no kernel runs after that */

CUresult printf_prepare(int device) {
  struct device *d = &devices[device];
  void *host = NULL;
  uint64_t seen;
  size_t size = BUFFER_BYTES;
  int error = 0;
  struct context *c = thread_state.current;
  if (c && c->limits[CU_LIMIT_PRINTF_FIFO_SIZE] > size) size = c->limits[CU_LIMIT_PRINTF_FIFO_SIZE];
  pthread_mutex_lock(&lock);
  if (!d->printf_buffer) {
    error = hip_mapped(size, 0, &host, &seen);
    if (!error) {
      size_t room = size - sizeof(struct printf_buffer); /* positions count from behind it */
      *(struct printf_buffer *)host = (struct printf_buffer){.capacity = (uint32_t)(room > 0xfffffff0u ? 0xfffffff0u : room)};
      d->device_printf = seen;
      d->printf_buffer = host;
    }
  }
  pthread_mutex_unlock(&lock);
  return from_hip(error);
}

/* A string in device memory: what can be read of it, up to its NUL. After a kernel failed, only what modules were
 * loaded with. */
static const char *device_string(uint64_t address, char *text) {
  CUdeviceptr base = 0;
  size_t size = 0, n = TEXT_MAX - 1;
  const char *initial;
  strcpy(text, "(null)");
  if (!address) return text;
  if (hip_answers(hip.MemGetAddressRange((void **)&base, &size, (void *)address)) && address >= base && address - base < size)
    n = base + size - address < n ? base + size - address : n;
  else n = 64;
  for (; n; n /= 2)
    if (!hip.MemcpyDtoH(text, (void *)address, n)) {
      text[n] = 0;
      return text;
    }
  initial = segment_initial(address, &size);
  if (!initial) return strcpy(text, "(unreadable)");
  n = size < TEXT_MAX ? size : TEXT_MAX - 1;
  memcpy(text, initial, n);
  text[n] = 0;
  return text;
}

struct arguments { const char *at, *end, *record; };

static bool take(struct arguments *a, size_t size, void *value) {
  const char *p = (const char *)(((uintptr_t)a->at + size - 1) & ~(uintptr_t)(size - 1)); /* naturally aligned */
  if (p + size > a->end) return false;
  memcpy(value, p, size);
  a->at = p + size;
  return true;
}

/* A string: one that is in the record, or in device memory. */
static const char *string_argument(uint64_t address, const struct arguments *a, char *text) {
  uint64_t position = address & ~PRINTF_COPIED;
  if (!(address & PRINTF_COPIED)) return device_string(address, text);
  if (position >= (uint64_t)(a->end - a->record)) return "(unreadable)";
  snprintf(text, TEXT_MAX, "%.*s", (int)(a->end - a->record - (ptrdiff_t)position), a->record + position);
  return text;
}

/* One conversion: `spec` is the text from % to the conversion letter, `wide`: a 64-bit integer was asked for. */
static void convert(FILE *out, const char *spec, char letter, bool wide, struct arguments *a) {
  uint64_t u64 = 0;
  uint32_t u32 = 0;
  double f = 0;
  char *text;
  switch (letter) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': case 'c':
      if (wide ? !take(a, 8, &u64) : !take(a, 4, &u32)) break;
      if (wide) fprintf(out, spec, (long long)u64);
      else fprintf(out, spec, (int)u32);
      return;
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
      if (!take(a, 8, &f)) break;
      fprintf(out, spec, f);
      return;
    case 'p':
      if (!take(a, 8, &u64)) break;
      fprintf(out, spec, (void *)(uintptr_t)u64);
      return;
    case 's':
      if (!take(a, 8, &u64)) break;
      text = malloc(TEXT_MAX);
      if (text) fprintf(out, spec, string_argument(u64, a, text));
      free(text);
      return;
    default: break;
  }
  fputs(spec, out);
}

/* Prints one record as CUDA does: flags, width, precision, h and hh are C's, lengths l and ll both mean 64 bits. */
static void print_record(FILE *out, const char *format, struct arguments a) {
  while (*format) {
    const char *percent = strchrnul(format, '%');
    fwrite(format, 1, (size_t)(percent - format), out);
    if (!*percent) return;
    const char *p = percent + 1;
    if (*p == '%') {
      fputc('%', out);
      format = p + 1;
      continue;
    }
    char spec[64] = "%";
    size_t n = 1;
    for (; *p && strchr("-+ #0123456789.*", *p) && n < 40; p++) {
      int32_t star;
      if (*p != '*') spec[n++] = *p;
      else if (take(&a, 4, &star)) n += (size_t)snprintf(spec + n, sizeof spec - n, "%d", star);
    }
    bool wide = false;
    int halves = 0;
    for (; *p && strchr("hlLqjzt", *p); p++) {
      if (*p == 'h') halves += halves < 2;
      else wide = true;
    }
    if (!*p) return;
    if (strchr("diuoxX", *p))
      for (int i = wide ? 2 : halves; i > 0; i--) spec[n++] = wide ? 'l' : 'h';
    spec[n++] = *p;
    spec[n] = 0;
    convert(out, spec, *p, wide && *p != 'c', &a);
    format = p + 1;
  }
}

static void drain(struct printf_buffer *buffer) {
  uint32_t position = __atomic_load_n(&buffer->position, __ATOMIC_ACQUIRE);
  uint32_t end = position < buffer->capacity ? position : buffer->capacity;
  char *format = malloc(TEXT_MAX), *records = (char *)(buffer + 1);
  struct printf_record head;
  for (uint32_t at = 0; format && at + sizeof head <= end; at += head.size) {
    const char *record = records + at;
    memcpy(&head, record, sizeof head);
    if (head.size < sizeof head || head.size > end - at) break; /* the last record may have been lost */
    struct arguments a = {record + sizeof head, record + head.size, record};
    if (head.kind == PRINTF_ASSERTION) print_record(stderr, ASSERTION_FORMAT, a), asserted = true;
    else print_record(stdout, device_string(head.format, format), a);
  }
  free(format);
  fflush(stdout);
  memset(records, 0, end);
  __atomic_store_n(&buffer->position, 0, __ATOMIC_RELEASE);
}

void printf_drain(int device) {
  struct printf_buffer *buffer = devices[device].printf_buffer;
  if (!buffer || !__atomic_load_n(&buffer->position, __ATOMIC_ACQUIRE)) return;
  pthread_mutex_lock(&lock);
  drain(buffer);
  pthread_mutex_unlock(&lock);
}

CUresult printf_failure(void) {
  for (int i = 0; i < device_count; i++) printf_drain(i);
  return asserted ? CUDA_ERROR_ASSERT : CUDA_ERROR_LAUNCH_FAILED;
}
