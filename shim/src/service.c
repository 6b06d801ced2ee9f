/* One request per connection; the service is started when nobody listens. Every wait ends. */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "shim.h"

enum { START_MS = 30000, REQUEST_MS = 1800000, REPLY_HEADER_MAX = 1 << 16, REPLY_BODY_MAX = 1 << 24 };
enum { SOCKET_DIRECTORY = 70 }; /* bytes; a socket's whole path has 108 */

CUresult error_by_name(const char *name, CUresult otherwise); /* errors.c */

static bool ours_alone(const char *path) {
  struct stat st;
  mkdir(path, 0700);
  return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 077);
}

/* XDG_RUNTIME_DIR may be of another login, or not there (su, containers): then /tmp. */
static bool choose_directory(char *out, size_t size) {
  const char *own = setting_text(SETTING_RUNTIME_DIR), *xdg = getenv("XDG_RUNTIME_DIR");
  if (*own) snprintf(out, size, "%s", own);
  else if (xdg && *xdg && snprintf(out, size, "%s/ptx2amd", xdg) < SOCKET_DIRECTORY && ours_alone(out)) return true;
  else snprintf(out, size, "/tmp/ptx2amd-%u", (unsigned)getuid());
  return ours_alone(out);
}

/* As it is called from everywhere: the service is in a folder of its own. */
static bool run_directory(char *out, size_t size) {
  if (!choose_directory(out, size)) return false;
  char *whole = realpath(out, NULL);
  if (whole) snprintf(out, size, "%s", whole);
  free(whole);
  return true;
}

/* The path without its ".sock". */
static bool socket_stem(char *out, size_t size, char *why, size_t why_size) {
  char directory[PATH_LENGTH];
  if (!run_directory(directory, sizeof directory)) {
    snprintf(why, why_size, "%s must be a directory of yours with mode 0700", directory);
    return false;
  }
  int n = snprintf(out, size, "%s/service-%.16s", directory, build_id());
  if ((size_t)n + 6 < sizeof ((struct sockaddr_un *)0)->sun_path) return true;
  snprintf(why, why_size, "%s is too long for a socket; set PTX2AMD_RUNTIME_DIR", directory);
  return false;
}

static int try_connect(const char *stem) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%.*s.sock", (int)sizeof address.sun_path - 6, stem);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) ||
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.uid != getuid()) {
    close(fd);
    return -1;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
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

/* By way of a shell that puts it into the background: the service must not become a child of the program, which
 * may wait for all of its children. A service that fails leaves STEM.failed. */
static bool start(const char *stem, char *why, size_t why_size) {
  static char script[] = "rm -f \"$1.failed\"; cd / ; "
                         "( \"$0\" -m ptx2amd.service || : >\"$1.failed\" ) >\"$1.log\" 2>&1 </dev/null &";
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
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
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
  snprintf(path, sizeof path, "%.*s.log", PATH_LENGTH - 8, stem);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (line[0] > ' ') snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
  if (file) fclose(file);
}

/* A service that did not start is not tried again at once: every kernel would wait for it. */
static char start_failure[2 * PATH_LENGTH];
static double start_failed_at;

static int connect_or_start(char *why, size_t why_size) {
  enum { RETRY_MS = 20000 };
  char stem[PATH_LENGTH], failed[PATH_LENGTH], line[512];
  if (!socket_stem(stem, sizeof stem, why, why_size)) return -1;
  int fd = try_connect(stem);
  if (fd >= 0) return fd;
  if (start_failed_at && now_ms() - start_failed_at < RETRY_MS) {
    snprintf(why, why_size, "%s", start_failure);
    return -1;
  }
  if (!start(stem, why, why_size)) return -1;
  snprintf(failed, sizeof failed, "%.*s.failed", PATH_LENGTH - 8, stem);
  double deadline = now_ms() + START_MS;
  while (now_ms() < deadline) {
    if ((fd = try_connect(stem)) >= 0) return fd;
    if (!access(failed, F_OK)) break;
    usleep(5000);
  }
  last_line(stem, line, sizeof line);
  snprintf(why, why_size, "the translation service does not start: %s (see %s.log)",
           *line ? line : "it does not answer", stem);
  snprintf(start_failure, sizeof start_failure, "%s", why);
  start_failed_at = now_ms();
  return -1;
}

static bool wait_for(int fd, short events, double deadline) {
  struct pollfd p = {fd, events, 0};
  for (;;) {
    double left = deadline - now_ms();
    if (left <= 0) return false;
    int n = poll(&p, 1, left > 60000 ? 60000 : (int)left + 1);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

static bool send_all(int fd, const void *data, size_t size, double deadline) {
  for (const char *p = data; size;) {
    ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n < 0 && !wait_for(fd, POLLOUT, deadline)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

static bool receive_all(int fd, void *data, size_t size, double deadline) {
  for (char *p = data; size;) {
    ssize_t n = recv(fd, p, size, 0);
    if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n < 0 && !wait_for(fd, POLLIN, deadline)) return false;
    if (n > 0) p += n, size -= (size_t)n;
  }
  return true;
}

struct frame { uint32_t header, zero; uint64_t body; };

static bool send_request(int fd, const struct service_request *r, double deadline) {
  static const char *const encodings[] = {"none", "zstd", "lz4", "linked"};
  char header[3 * PATH_LENGTH + 65536];
  int n = snprintf(header, sizeof header, "op %s\nmodule %s\nencoding %s\nsize %zu\ncache %s\n", r->operation,
                   r->module_id, encodings[r->image->encoding], r->image->full_size, cache_directory());
  if (r->arch) n += snprintf(header + n, sizeof header - (size_t)n, "arch %s\n", r->arch);
  if (r->kernel) n += snprintf(header + n, sizeof header - (size_t)n, "kernel %.60000s\n", r->kernel);
  if (r->options && *r->options) n += snprintf(header + n, sizeof header - (size_t)n, "options %s\n", r->options);
  n += snprintf(header + n, sizeof header - (size_t)n, "name %s\n", r->name);
  struct frame frame = {(uint32_t)n, 0, r->image->size};
  return send_all(fd, &frame, sizeof frame, deadline) && send_all(fd, header, (size_t)n, deadline) &&
         send_all(fd, r->image->data, r->image->size, deadline);
}

static bool receive_reply(int fd, struct service_reply *reply, CUresult *result, double deadline) {
  struct frame frame;
  if (!receive_all(fd, &frame, sizeof frame, deadline)) return false;
  if (frame.header > REPLY_HEADER_MAX || frame.body > REPLY_BODY_MAX) return false;
  char *text = calloc(1, frame.header + 1), *body = calloc(1, frame.body + 1), *save = NULL;
  bool good = text && body && receive_all(fd, text, frame.header, deadline) &&
              receive_all(fd, body, frame.body, deadline);
  bool status = false, ok = false;
  *result = CUDA_ERROR_UNKNOWN;
  for (char *line = good ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
    if (!strncmp(line, "status ", 7)) status = true, ok = !strcmp(line + 7, "ok");
    else if (!strncmp(line, "path ", 5)) snprintf(reply->path, sizeof reply->path, "%s", line + 5);
    else if (!strncmp(line, "code ", 5)) *result = error_by_name(line + 5, CUDA_ERROR_UNKNOWN);
    else if (!strncmp(line, "time_ms ", 8)) reply->time_ms = atof(line + 8);
  }
  if (ok) *result = CUDA_SUCCESS;
  else if (status) reply->error = strdup(*body ? body : "the translation failed");
  free(text);
  free(body);
  return good && status;
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
    int fd = connect_or_start(why, sizeof why);
    if (fd < 0) return failed(reply, why);
    bool done = send_request(fd, request, deadline) && receive_reply(fd, reply, &result, deadline);
    close(fd);
    if (done) return result;
    free(reply->error);
    reply->error = NULL;
    if (now_ms() >= deadline) return failed(reply, "the translation service did not answer in time");
  }
  return failed(reply, "the translation service closed the connection");
}
