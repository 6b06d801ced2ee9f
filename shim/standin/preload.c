/* LD_PRELOAD library, for what programs look for outside of libraries.
 *
 * - The device files of NVIDIA's driver, by which JAX decides whether there is a GPU: they seem to exist.
 * - The program ptxas, which XLA takes from folders of its own: our stand-in is started in its place, except below nvcc,
 *   which puts the result into executables. `nvcc -cubin` is for its caller to load (PyCUDA): there ours is right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static const char *const devices[] = {"/dev/nvidia0", "/dev/nvidiactl"};

/* The path of what is there instead: a device file that every system has. */
static const char *instead(const char *path) {
  for (unsigned i = 0; path && errno == ENOENT && i < sizeof devices / sizeof *devices; i++)
    if (!strcmp(path, devices[i])) return "/dev/null";
  return NULL;
}

/* A function that is asked about files: the next one of its name, and that again for a device file. */
#define ASKED(name, path, parameters, arguments) \
  API int name parameters { \
    static int (*next) parameters; \
    if (!next && !(next = (int (*) parameters)dlsym(RTLD_NEXT, #name))) return errno = ENOSYS, -1; \
    int result = next arguments; \
    return result < 0 && (path = instead(path)) ? next arguments : result; \
  }

ASKED(stat, path, (const char *restrict path, struct stat *restrict about), (path, about))
ASKED(stat64, path, (const char *restrict path, struct stat64 *restrict about), (path, about))
ASKED(__xstat, path, (int version, const char *path, struct stat *about), (version, path, about))
ASKED(__xstat64, path, (int version, const char *path, struct stat64 *about), (version, path, about))
ASKED(fstatat, path, (int folder, const char *restrict path, struct stat *restrict about, int flags),
      (folder, path, about, flags))
ASKED(fstatat64, path, (int folder, const char *restrict path, struct stat64 *restrict about, int flags),
      (folder, path, about, flags))
ASKED(statx, path, (int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict about),
      (folder, path, flags, mask, about))
ASKED(access, path, (const char *path, int mode), (path, mode))
ASKED(faccessat, path, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags))

/* The beginning of a process's file in /proc, with a NUL behind it. Its length. */
static size_t about(pid_t process, const char *file, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", process, file);
  FILE *from = fopen(path, "re");
  size_t length = from ? fread(text, 1, size - 1, from) : 0;
  if (from) fclose(from);
  text[length] = 0;
  return length;
}

static int is_program(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  return !strcmp(slash ? slash + 1 : path, name);
}

/* Whether the nvcc above this process, perhaps with a shell between, makes machine code alone. */
static int machine_code_alone(void) {
  char text[65536];
  pid_t process = getppid();
  for (int i = 0; i < 3 && process > 1; i++) {
    size_t length = about(process, "cmdline", text, sizeof text);
    if (is_program(text, "nvcc")) {
      for (const char *argument = text; argument < text + length; argument += strlen(argument) + 1)
        if (!strcmp(argument, "-cubin") || !strcmp(argument, "--cubin")) return 1;
      return 0;
    }
    about(process, "stat", text, sizeof text); /* number (name) state parent */
    const char *name_end = strrchr(text, ')');
    if (!name_end || sscanf(name_end + 1, " %*c %d", &process) != 1) return 0;
  }
  return 0;
}

/* The program to start for `path`. */
static const char *program(const char *path, char *const environment[], char found[4096]) {
  if (!is_program(path, "ptxas")) return path;
  for (char *const *variable = environment; variable && *variable; variable++)
    if (!strncmp(*variable, "CICC_PATH=", 10) || !strncmp(*variable, "_NVVM_BRANCH_=", 14)) { /* nvcc's */
      if (machine_code_alone()) break;
      return path;
    }
  Dl_info info;
  const char *slash = dladdr(devices, &info) ? strrchr(info.dli_fname, '/') : NULL;
  if (!slash || snprintf(found, 4096, "%.*s/standin/ptxas", (int)(slash - info.dli_fname), info.dli_fname) >= 4096)
    return path;
  return access(found, X_OK) ? path : found;
}

#define STARTS(name, failure, parameters, arguments, environment) \
  API int name parameters { \
    static int (*next) parameters; \
    char found[4096]; \
    if (!next && !(next = (int (*) parameters)dlsym(RTLD_NEXT, #name))) return errno = ENOSYS, failure; \
    path = program(path, environment, found); \
    return next arguments; \
  }

STARTS(execve, -1, (const char *path, char *const arguments[], char *const environment[]),
       (path, arguments, environment), environment)
STARTS(execv, -1, (const char *path, char *const arguments[]), (path, arguments), environ)
STARTS(execvp, -1, (const char *path, char *const arguments[]), (path, arguments), environ)
STARTS(posix_spawn, ENOSYS,
       (pid_t *restrict id, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
        const posix_spawnattr_t *restrict how, char *const arguments[restrict], char *const environment[restrict]),
       (id, path, actions, how, arguments, environment), environment)
STARTS(posix_spawnp, ENOSYS,
       (pid_t *restrict id, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
        const posix_spawnattr_t *restrict how, char *const arguments[restrict], char *const environment[restrict]),
       (id, path, actions, how, arguments, environment), environment)
