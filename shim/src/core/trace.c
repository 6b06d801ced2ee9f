/* The trace (PTX2AMD_TRACE=FILE): one JSON object per line. Lines are buffered and written as whole lines when the
 * buffer is full, after 100 ms, and at exit, so that processes can share a file. The buffer is a mapped file,
 * FILE.PID.rest: if the process is killed, its last lines remain there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "checkpoint.h"
#include "entry.h"
#include "module.h"
#include "shim.h"

enum { BUFFER = 1 << 16, LINE = 8192, TEXT = 512 };
#define FLUSH_NS 100000000u

int trace_on;
int entry_state = ENTRY_CLOSED;
CUresult entry_closed = CUDA_ERROR_NOT_INITIALIZED;
static int file = -1;
static char path[PATH_LENGTH];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer; /* opened at a process's first line */
static size_t used;  /* a 0 follows */
static bool closing; /* the process exits: flush each line */
static uint64_t flushed;
static int process;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double now_ms(void) { return (double)now_ns() / 1e6; }

static void write_all(const char *data, size_t size) {
  while (size) {
    ssize_t n = write(file, data, size);
    if (n <= 0) return; /* a full disk loses lines, not the program */
    data += n;
    size -= (size_t)n;
  }
}

static const char *rest(void) {
  static char name[PATH_LENGTH + 32];
  snprintf(name, sizeof name, "%s.%d.rest", path, process);
  return name;
}

/* If the trace is not a regular file, or its disk is full, the buffer is anonymous memory. Lines written before the
 * process called exec are kept. */
static void open_buffer(void) {
  static char plain[BUFFER];
  struct stat about;
  bool beside = !fstat(file, &about) && S_ISREG(about.st_mode);
  int behind = beside ? open(rest(), O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
  void *mapped = MAP_FAILED;
  if (behind >= 0 && !posix_fallocate(behind, 0, BUFFER))
    mapped = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED, behind, 0);
  if (behind >= 0) close(behind);
  buffer = mapped == MAP_FAILED ? plain : mapped;
  used = strnlen(buffer, BUFFER - 1);
}

/* Under the lock. */
static void flush(uint64_t now) {
  write_all(buffer, used);
  used = 0;
  buffer[0] = 0;
  flushed = now;
}

static void put(const char *line, size_t size, uint64_t now) {
  pthread_mutex_lock(&lock);
  if (!buffer) open_buffer();
  if (used + size >= BUFFER) flush(now);
  buffer[used + size] = 0;
  memcpy(buffer + used, line, size);
  used += size;
  if (closing || now - flushed > FLUSH_NS) flush(now);
  pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void trace_close(void) {
  if (!trace_on) return;
  pthread_mutex_lock(&lock);
  closing = true;
  if (buffer) {
    flush(now_ns());
    unlink(rest());
  }
  pthread_mutex_unlock(&lock);
}

/* After a fork, lines still in the buffer belong to the parent only. */
static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }
static void in_child(void) {
  buffer = NULL; /* the mapping belongs to the parent */
  process = (int)getpid();
  pthread_mutex_unlock(&lock);
}

static void open_file(void) {
  const char *wanted = setting_text(SETTING_TRACE);
  if (!*wanted) return;
  file = open(wanted, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    say("cannot write the trace to %s", wanted);
    return;
  }
  char *whole = realpath(wanted, NULL); /* the program may change its working directory */
  snprintf(path, sizeof path, "%s", whole ? whole : wanted);
  free(whole);
  process = (int)getpid();
  pthread_atfork(before_fork, in_parent, in_child);
  trace_on = 1;
  __atomic_or_fetch(&entry_state, ENTRY_TRACED, __ATOMIC_RELEASE);
}

void trace_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_file);
}

void trace(const char *format, ...) {
  if (!trace_on) return;
  char line[LINE];
  uint64_t now = now_ns();
  int n = snprintf(line, sizeof line, "{\"pid\": %d, \"ms\": %.3f, ", process, (double)now / 1e6);
  va_list args;
  va_start(args, format);
  n += vsnprintf(line + n, sizeof line - (size_t)n - 2, format, args);
  va_end(args);
  if (n > LINE - 3) return; /* too long: dropped */
  line[n++] = '}';
  line[n++] = '\n';
  put(line, (size_t)n, now);
}

const char *json_string(const char *text, char *out, size_t size) {
  size_t n = 0;
  out[n++] = '"';
  for (; *text && n + 8 < size; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') n += (size_t)sprintf(out + n, "\\%c", c);
    else if (c < 0x20 || c > 0x7e) n += (size_t)sprintf(out + n, "\\u%04x", c);
    else out[n++] = (char)c;
  }
  out[n++] = '"';
  out[n] = 0;
  return out;
}

/* ---- calls: formatted by hand, as printf would take longer than many calls ---- */

struct text { char *at, *end; };

static void add(struct text *t, const char *s) {
  while (*s && t->at < t->end) *t->at++ = *s++;
}

static void add_unsigned(struct text *t, uint64_t value) {
  char digits[20];
  int n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while (value /= 10);
  while (n && t->at < t->end) *t->at++ = digits[--n];
}

static void add_signed(struct text *t, int64_t value) {
  if (value < 0) add(t, "-");
  add_unsigned(t, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void add_hex(struct text *t, uint64_t value) {
  if (!value) {
    add(t, "null");
    return;
  }
  add(t, "\"0x");
  int shift = 60;
  while (!(value >> shift)) shift -= 4;
  for (; shift >= 0 && t->at < t->end; shift -= 4) *t->at++ = "0123456789abcdef"[value >> shift & 15];
  add(t, "\"");
}

static void add_float(struct text *t, uint32_t bits) {
  char out[32];
  float value;
  memcpy(&value, &bits, sizeof value);
  snprintf(out, sizeof out, value - value == 0 ? "%.9g" : "null", (double)value);
  add(t, out);
}

static void add_argument(struct text *t, char kind, uint64_t word, bool read) {
  char quoted[TEXT + 16];
  const void *p = (const void *)word;
  if (kind < 'a' && kind != ENTRY_STRUCT && (!read || !p)) kind = ENTRY_POINTER;
  switch (kind) {
    case ENTRY_SIGNED: add_signed(t, (int)word); break;
    case ENTRY_UNSIGNED: add_unsigned(t, word); break;
    case ENTRY_FLOAT: add_float(t, (uint32_t)word); break;
    case ENTRY_TEXT:
      if (p) add(t, json_string(p, quoted, sizeof quoted));
      else add(t, "null");
      break;
    case ENTRY_OUT_WORD: add_hex(t, *(const uint64_t *)p); break;
    case ENTRY_OUT_SIZE: add_unsigned(t, *(const uint64_t *)p); break;
    case ENTRY_OUT_INT: add_signed(t, *(const int *)p); break;
    case ENTRY_OUT_FLOAT: add_float(t, *(const uint32_t *)p); break;
    case ENTRY_STRUCT: add(t, "\"...\""); break;
    default: add_hex(t, word);
  }
}

static int thread_number(void) {
  static __thread int number __attribute__((tls_model("initial-exec")));
  if (!number) number = (int)syscall(SYS_gettid);
  return number;
}

/* Nested calls (from callbacks) get their own lines. */
bool entry_begin(struct call *call, const struct entry *about) {
  trace_open();
  *call = (struct call){.about = about};
  if (!about->early && __atomic_load_n(&entry_state, __ATOMIC_ACQUIRE) & ENTRY_CLOSED) {
    call->result = entry_closed;
    if (trace_on) trace("\"event\": \"call\", \"name\": \"%s\", \"result\": %d", about->name, call->result);
    return false;
  }
  if (trace_on) call->begin = now_ns();
  if (!about->early && __atomic_load_n(&entry_state, __ATOMIC_ACQUIRE) & ENTRY_LOCKED) checkpoint_wait();
  return true;
}

void entry_end(struct call *call, const uint64_t *arguments) {
  if (!call->begin) return;
  char line[LINE];
  struct text t = {line, line + sizeof line - 64};
  uint64_t end = now_ns();
  bool read = call->result == CUDA_SUCCESS;
  add(&t, "{\"pid\": ");
  add_unsigned(&t, (uint64_t)process);
  add(&t, ", \"ms\": ");
  add_unsigned(&t, call->begin / 1000000);
  add(&t, ".");
  for (uint64_t rest = call->begin % 1000000, unit = 100000; unit >= 1000; unit /= 10) add_unsigned(&t, rest / unit % 10);
  add(&t, ", \"event\": \"call\", \"thread\": ");
  add_unsigned(&t, (uint64_t)thread_number());
  add(&t, ", \"name\": \"");
  add(&t, call->about->name);
  add(&t, "\", \"args\": {");
  for (int i = 0; i < call->about->count && t.at < t.end - TEXT; i++) {
    add(&t, i ? ", \"" : "\"");
    add(&t, call->about->parameters[i].name);
    add(&t, "\": ");
    add_argument(&t, call->about->parameters[i].kind, arguments[i], read);
  }
  t.end = line + sizeof line;
  add(&t, "}, \"result\": ");
  add_signed(&t, call->result);
  add(&t, ", \"ns\": ");
  add_unsigned(&t, end - call->begin);
  add(&t, "}\n");
  put(line, (size_t)(t.at - line), end);
}

/* ---- modules ---- */

/* Stores the unmodified image once per module: FILE.modules/ID.ptx, or .zst, .lz4, .linked. */
static void dump(const struct module *m) {
  static const char *const ends[] = {[ENCODING_NONE] = "ptx", [ENCODING_ZSTD] = "zst", [ENCODING_LZ4] = "lz4",
                                     [ENCODING_LINKED] = "linked"};
  char name[PATH_LENGTH + 128];
  snprintf(name, sizeof name, "%s.modules", path);
  mkdir(name, 0777);
  snprintf(name, sizeof name, "%s.modules/%s.%s", path, m->id, ends[m->image.encoding]);
  int out = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out < 0) return; /* exists already */
  const char *data = m->image.data;
  for (size_t left = m->image.size; left;) {
    ssize_t n = write(out, data, left);
    if (n <= 0) break;
    data += n;
    left -= (size_t)n;
  }
  close(out);
}

void trace_module(const struct module *m) {
  if (!trace_on) return;
  dump(m);
  trace("\"event\": \"module\", \"id\": \"%s\", \"target\": \"sm_%d\", \"kernels\": %u, \"bytes\": %zu", m->id, m->index.target,
        m->kernel_count, m->image.full_size);
}
