/* One request per connection; the service is started when nobody listens. Every wait ends. */
#define _GNU_SOURCE
#include "service.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "folder.h"
#include "progress.h"
#include "shim.h"

enum { START_MS = 30000, BUSY_MS = 30000, STOPPED_MS = 10000, LOOK_MS = 1000, REQUEST_MS = 1800000 };
enum { REPLY_HEADER_MAX = 1 << 16 };
static const uint64_t REPLY_BODY_MAX = 1ull << 36;

CUresult error_by_name(const char *name, CUresult otherwise); /* errors.c */

/* Where the service is: a folder that is this user's alone, and the path in it without ".sock". */
struct place { int folder; char stem[PATH_LENGTH]; };

static int open_place(char directory[PATH_LENGTH], unsigned how, char *why, size_t why_size) {
  return folder_open(directory, FOLDER_PRIVATE | how, why, why_size);
}

/* XDG_RUNTIME_DIR may be of another login, or not there (su, containers), and anybody can make /tmp/ptx2amd-UID first. */
static int choose_directory(char directory[PATH_LENGTH], char *why, size_t why_size) {
  const char *own = setting_text(SETTING_RUNTIME_DIR), *xdg = secure_getenv("XDG_RUNTIME_DIR");
  char later[PATH_LENGTH + 100];
  int folder = -1;
  if (*own) {
    snprintf(directory, PATH_LENGTH, "%s", own);
    return open_place(directory, FOLDER_MAKE_LAST, why, why_size);
  }
  if (xdg && *xdg == '/' && snprintf(directory, PATH_LENGTH, "%s/ptx2amd", xdg) < PATH_LENGTH)
    folder = open_place(directory, FOLDER_MAKE_LAST, why, why_size);
  if (folder >= 0) return folder;
  snprintf(directory, PATH_LENGTH, "/tmp/ptx2amd-%u", (unsigned)geteuid());
  folder = open_place(directory, FOLDER_MAKE_LAST, why, why_size);
  if (folder >= 0 || !*cache_directory()) return folder;
  if (snprintf(directory, PATH_LENGTH, "%s/run", cache_directory()) >= PATH_LENGTH) return -1;
  return open_place(directory, FOLDER_MAKE_LAST, later, sizeof later);
}

static bool find_place(struct place *place, char *why, size_t why_size) {
  char directory[PATH_LENGTH], reason[PATH_LENGTH + 100] = "";
  if ((place->folder = choose_directory(directory, reason, sizeof reason)) < 0) {
    snprintf(why, why_size, "there is no safe folder for the translation service: %s; set PTX2AMD_RUNTIME_DIR to a folder "
             "that you own with mode 700", reason);
    return false;
  }
  snprintf(place->stem, sizeof place->stem, "%.4000s/service-%.16s", directory, build_id());
  return true;
}

/* A socket's path has 108 bytes: a longer one goes through its folder's descriptor. */
static void address_of(const struct place *place, struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t size = sizeof address->sun_path;
  if (strlen(place->stem) + 6 < size) snprintf(address->sun_path, size, "%.*s.sock", (int)size - 6, place->stem);
  else snprintf(address->sun_path, size, "/proc/self/fd/%d%.40s.sock", place->folder, strrchr(place->stem, '/'));
}

/* A connection, the process at its other end, and until when it may take. */
struct channel { int fd; pid_t service; double deadline; bool stopped; };

/* errno is EAGAIN where a service is, but takes no more connections. */
static int try_connect(const struct place *place, pid_t *service) {
  struct sockaddr_un address;
  struct ucred peer;
  socklen_t length = sizeof peer;
  address_of(place, &address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) error = errno;
  else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.uid != geteuid()) error = EPERM;
  if (!error) {
    *service = peer.pid;
    return fd;
  }
  close(fd);
  errno = error;
  return -1;
}

static bool python_path(char *out, size_t size) {
  const char *given = setting_text(SETTING_PYTHON);
  char path[PATH_LENGTH + 16];
  if (*given) return snprintf(out, size, "%s", given) > 0;
  snprintf(path, sizeof path, "%s/python", own_directory());
  FILE *file = fopen(path, "re");
  bool found = file && fgets(out, (int)size, file);
  if (file) fclose(file);
  if (found) out[strcspn(out, "\r\n")] = 0;
  return found && *out;
}

/* The environment without what is meant for the program alone. */
static char **service_environment(const char *stem) {
  static const char *const dropped[] = {"LD_PRELOAD=", "LD_AUDIT=", "PYTHONHOME=", "PYTHONSTARTUP=",
                                        "PTX2AMD_TRACE=", "PTX2AMD_BUILD_ID=", "PTX2AMD_RUNTIME_DIR="};
  extern char **environ;
  static char expected[300], directory[PATH_LENGTH + 32];
  snprintf(directory, sizeof directory, "PTX2AMD_RUNTIME_DIR=%.*s", (int)(strrchr(stem, '/') - stem), stem);
  snprintf(expected, sizeof expected, "PTX2AMD_BUILD_ID=%s", build_id()); /* another translator must not answer */
  size_t n = 0, kept = 0;
  while (environ[n]) n++;
  char **copy = calloc(n + 3, sizeof *copy);
  for (size_t i = 0; copy && i < n; i++) {
    bool drop = false;
    for (size_t k = 0; k < sizeof dropped / sizeof *dropped; k++)
      drop |= !strncmp(environ[i], dropped[k], strlen(dropped[k]));
    if (!drop) copy[kept++] = environ[i];
  }
  if (copy) copy[kept++] = directory, copy[kept] = expected;
  return copy;
}

/* What the program has open is not for the service. Without glibc 2.34's function for it: all that is open now. */
static void close_inherited(posix_spawn_file_actions_t *actions) {
  int (*from)(posix_spawn_file_actions_t *, int) = NULL;
  *(void **)&from = dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
  if (from && !from(actions, 3)) return;
  DIR *open_files = opendir("/proc/self/fd");
  for (struct dirent *entry; open_files && (entry = readdir(open_files));) {
    int fd = atoi(entry->d_name); /* 0: "." and ".." */
    if (fd > 2) posix_spawn_file_actions_addclose(actions, fd);
  }
  if (open_files) closedir(open_files);
}

/* By way of a shell that puts it into the background: the service must not become a child of the program, which
 * may wait for all of its children. A service that fails leaves STEM.failed. */
static bool start(const char *stem, char *why, size_t why_size) {
  static char script[] = "umask 077; rm -f \"$1.failed\"; cd /; log=$1.log; true >>\"$log\" || log=/dev/null; "
                         "( \"$0\" -m ptx2amd.service || true >\"$1.failed\" ) >>\"$log\" 2>&1 </dev/null &";
  char python[PATH_LENGTH], stem_argument[PATH_LENGTH];
  if (!python_path(python, sizeof python)) {
    snprintf(why, why_size, "PTX2AMD_PYTHON is not set and there is no file 'python' in %s", own_directory());
    return false;
  }
  snprintf(stem_argument, sizeof stem_argument, "%s", stem);
  char *const argv[] = {"sh", "-c", script, python, stem_argument, NULL};
  char **environment = service_environment(stem);
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  sigset_t none, all;
  pid_t pid = 0;
  int status = 0;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  close_inherited(&actions);
  int error = environment ? posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, environment) : ENOMEM;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(environment);
  if (error) {
    snprintf(why, why_size, "cannot start the translation service: %s", strerror(error));
    return false;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return true;
}

/* The last line of the service's log: usually the exception. */
static void last_line(const char *stem, char *out, size_t size) {
  char path[PATH_LENGTH], line[1024];
  out[0] = 0;
  snprintf(path, sizeof path, "%.4000s.log", stem);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (line[0] > ' ') snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
  if (file) fclose(file);
}

static bool file_system_full(const struct place *place) {
  struct statvfs fs;
  return !fstatvfs(place->folder, &fs) && (!fs.f_bavail || (fs.f_files && !fs.f_favail));
}

/* A service that did not start, or is stopped, is not tried again at once: every kernel would wait for it. */
static char failure[2 * PATH_LENGTH];
static double failed_at;

static int remember(char *why, size_t why_size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why, why_size, format, args);
  va_end(args);
  snprintf(failure, sizeof failure, "%s", why);
  failed_at = now_ms();
  return -1;
}

/* Starts the service, and waits until it listens. */
static int start_and_connect(const struct place *place, pid_t *service, char *why, size_t why_size) {
  char failed[PATH_LENGTH + 8], line[512];
  int fd;
  if (!start(place->stem, why, why_size)) return -1;
  snprintf(failed, sizeof failed, "%s.failed", place->stem);
  double deadline = now_ms() + START_MS;
  while (now_ms() < deadline) {
    if ((fd = try_connect(place, service)) >= 0) return fd;
    if (!access(failed, F_OK)) break;
    usleep(5000);
  }
  last_line(place->stem, line, sizeof line);
  if (!*line) snprintf(line, sizeof line, file_system_full(place) ? "the file system of its folder is full" : "it does not answer");
  return remember(why, why_size, "cannot start the translation service: %s (see %s.log)", line, place->stem);
}

static bool is_stopped(pid_t process) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  FILE *file = process > 0 ? fopen(path, "re") : NULL;
  bool stopped = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && (state == 'T' || state == 't');
  if (file) fclose(file);
  return stopped;
}

static int connect_or_start(pid_t *service, char *why, size_t why_size) {
  enum { RETRY_MS = 20000 };
  struct place place;
  bool failed = failed_at && now_ms() - failed_at < RETRY_MS;
  if (!find_place(&place, why, why_size)) return -1;
  int fd = -1;
  double deadline = now_ms() + BUSY_MS;
  while ((fd = try_connect(&place, service)) < 0 && errno == EAGAIN && !failed && now_ms() < deadline) usleep(10000);
  if (failed && (fd < 0 || is_stopped(*service))) {
    snprintf(why, why_size, "%s", failure);
    if (fd >= 0) close(fd);
    fd = -1;
  } else if (fd < 0 && errno == EAGAIN)
    fd = remember(why, why_size, "the translation service takes no requests: it is stopped, or overloaded (see %s.log)", place.stem);
  else if (fd < 0)
    fd = start_and_connect(&place, service, why, why_size);
  close(place.folder);
  return fd;
}

static bool wait_for(struct channel *c, short events) {
  struct pollfd p = {c->fd, events, 0};
  double stopped_since = 0;
  for (;;) {
    double now = now_ms(), left = c->deadline - now;
    if (left <= 0) return false;
    int n = poll(&p, 1, left > LOOK_MS ? LOOK_MS : (int)left + 1);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
    progress_tick();
    if (!is_stopped(c->service)) stopped_since = 0;
    else if (!stopped_since) stopped_since = now;
    else if (now - stopped_since > STOPPED_MS) return !(c->stopped = true);
  }
}

static bool send_all(struct channel *c, const void *data, size_t size) {
  for (const char *p = data; size;) {
    ssize_t n = send(c->fd, p, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n < 0 && !wait_for(c, POLLOUT)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

static bool receive_all(struct channel *c, void *data, size_t size) {
  for (char *p = data; size;) {
    ssize_t n = recv(c->fd, p, size, 0);
    if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n < 0 && !wait_for(c, POLLIN)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

struct frame { uint32_t header, zero; uint64_t body; };

/* A line of the header; names and folders may hold anything. */
static void put(FILE *header, const char *key, const char *value) {
  fprintf(header, "%s ", key);
  for (; *value; value++)
    if (*value == '\n' || *value == '%') fprintf(header, "%%%02X", *value);
    else fputc(*value, header);
  fputc('\n', header);
}

static void plain(char *value) {
  char *to = value;
  for (; *value; value++)
    if (!strncmp(value, "%0A", 3)) *to++ = '\n', value += 2;
    else if (!strncmp(value, "%25", 3)) *to++ = '%', value += 2;
    else *to++ = *value;
  *to = 0;
}

/* Why entries are not stored: the same holds for the next one. */
static void say_once(char *note) {
  static bool said;
  plain(note);
  if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) say("%s", note);
}

static bool send_request(struct channel *c, const struct service_request *r) {
  static const char *const encodings[] = {"none", "zstd", "lz4", "linked"};
  char *header = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&header, &size);
  if (!text) return false;
  put(text, "op", r->operation);
  put(text, "module", r->module_id);
  put(text, "encoding", encodings[r->image->encoding]);
  fprintf(text, "size %zu\n", r->image->full_size);
  put(text, "cache", cache_directory());
  if (r->arch) put(text, "arch", r->arch);
  if (r->kernel) put(text, "kernel", r->kernel);
  if (r->options && *r->options) put(text, "options", r->options);
  if (r->check) put(text, "check", r->check);
  put(text, "name", r->name);
  bool whole = !fclose(text);
  struct frame frame = {(uint32_t)size, 0, r->image->size};
  bool sent = whole && send_all(c, &frame, sizeof frame) && send_all(c, header, size) &&
              send_all(c, r->image->data, r->image->size);
  free(header);
  return sent;
}

static bool receive_reply(struct channel *c, struct service_reply *reply, CUresult *result) {
  struct frame frame;
  if (!receive_all(c, &frame, sizeof frame)) return false;
  if (frame.header > REPLY_HEADER_MAX || frame.body > REPLY_BODY_MAX) return false;
  char *text = calloc(1, frame.header + 1), *body = malloc(frame.body + 1), *save = NULL;
  bool good = text && body && receive_all(c, text, frame.header) && receive_all(c, body, frame.body);
  bool status = false, ok = false;
  *result = CUDA_ERROR_UNKNOWN;
  for (char *line = good ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
    if (!strncmp(line, "status ", 7)) status = true, ok = !strcmp(line + 7, "ok");
    else if (!strcmp(line, "stored 1")) reply->stored = true;
    else if (!strncmp(line, "note ", 5)) say_once(line + 5);
    else if (!strncmp(line, "code ", 5)) *result = error_by_name(line + 5, CUDA_ERROR_UNKNOWN);
    else if (!strncmp(line, "time_ms ", 8)) reply->time_ms = atof(line + 8);
  }
  free(text);
  if (!good || !status) {
    free(body);
    return false;
  }
  body[frame.body] = 0;
  if (ok) *result = CUDA_SUCCESS, reply->entry = body, reply->entry_size = frame.body;
  else reply->error = *body ? body : (free(body), strdup("the translation failed"));
  return true;
}

static CUresult failed(struct service_reply *reply, const char *why) {
  reply->error = strdup(why);
  return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

CUresult service_ask(const struct service_request *request, struct service_reply *reply) {
  char why[2 * PATH_LENGTH] = "";
  double deadline = now_ms() + REQUEST_MS;
  CUresult result = CUDA_ERROR_UNKNOWN;
  memset(reply, 0, sizeof *reply);
  /* Twice: a service may end, for lack of work, just when we come. */
  for (int attempt = 0; attempt < 2; attempt++) {
    struct channel c = {.deadline = deadline};
    if ((c.fd = connect_or_start(&c.service, why, sizeof why)) < 0) return failed(reply, why);
    bool done = send_request(&c, request) && receive_reply(&c, reply, &result);
    close(c.fd);
    if (done) return result;
    if (c.stopped) {
      remember(why, sizeof why, "the translation service is stopped: `kill -CONT %d` lets it go on, `kill -9 %d` ends it",
               (int)c.service, (int)c.service);
      return failed(reply, why);
    }
    if (now_ms() >= deadline) return failed(reply, "the translation service did not answer in time");
  }
  return failed(reply, "the translation service closed the connection");
}
