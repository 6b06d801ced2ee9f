/* Each component of a path is opened relative to the one before (openat, O_NOFOLLOW) and checked by its descriptor, so
 * that nothing can be exchanged between check and use. */
#define _GNU_SOURCE
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS = 40, NOBODY = 65534, NAMES = 4096, SEEN_ONLY = O_PATH | O_NOFOLLOW | O_CLOEXEC };

/* Whether user 65534 is not mapped in this user namespace: the number then stands for owners outside the namespace,
 * such as the owner of / and /home. */
static bool unmapped(void) {
  FILE *file = fopen("/proc/self/uid_map", "re");
  unsigned long long first, outside, count;
  bool mapped = !file;
  while (file && fscanf(file, "%llu %llu %llu", &first, &outside, &count) == 3)
    mapped |= first <= NOBODY && NOBODY < first + count;
  if (file) fclose(file);
  return !mapped;
}

static bool trusted(uid_t owner) { return !owner || owner == geteuid() || (owner == NOBODY && unmapped()); }

/* Whether a group has this user as its only member, as the per-user groups of many systems. */
static bool alone_in(gid_t group) {
  char user_names[NAMES], group_names[NAMES];
  struct passwd user, *found_user = NULL;
  struct group own, *found = NULL;
  if (getpwuid_r(geteuid(), &user, user_names, sizeof user_names, &found_user) || !found_user) return false;
  if (getgrgid_r(group, &own, group_names, sizeof group_names, &found) || !found) return false;
  bool alone = !strcmp(own.gr_name, user.pw_name);
  for (char **member = own.gr_mem; *member; member++) alone &= !strcmp(*member, user.pw_name);
  return alone;
}

static const char *wrong(const struct stat *st, bool last, unsigned how) {
  bool private = last && how & FOLDER_PRIVATE, sticky = !last && st->st_mode & S_ISVTX;
  if (!S_ISDIR(st->st_mode)) return "is not a folder";
  if (!trusted(st->st_uid) || (private && st->st_uid != geteuid())) return "belongs to another user";
  if (private && st->st_mode & 077) return "is open to others";
  if (st->st_mode & 02 && !sticky) return "can be written to by others";
  if (st->st_mode & 020 && !sticky && !alone_in(st->st_gid)) return "can be written to by its group";
  return NULL;
}

/* Opens the entry `name` with O_PATH, after creating it if `make` is set. */
static int enter(int folder, const char *name, bool make) {
  int inner = openat(folder, name, SEEN_ONLY);
  if (inner >= 0 || errno != ENOENT || !make) return inner;
  if (!mkdirat(folder, name, 0700)) fchmodat(folder, name, 0700, 0); /* whatever the umask */
  else if (errno != EEXIST) return -1;
  return openat(folder, name, SEEN_ONLY);
}

/* State of a path walk: the current folder, its path, and the components that remain. */
struct walk { int folder; char at[FOLDER_LENGTH], rest[FOLDER_LENGTH]; };

static bool put_before_rest(struct walk *w, const char *first) {
  char joined[2 * FOLDER_LENGTH];
  int n = snprintf(joined, sizeof joined, "%s/%s", first, w->rest);
  if (n < 0 || n >= FOLDER_LENGTH) return false;
  memcpy(w->rest, joined, (size_t)n + 1);
  return true;
}

static int to_root(struct walk *w) {
  if (w->folder >= 0) close(w->folder);
  w->at[0] = 0;
  return w->folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static const char *follow(struct walk *w, int link, uid_t owner, int *links) {
  char target[FOLDER_LENGTH];
  if (!trusted(owner)) return "is a link that belongs to another user";
  ssize_t n = readlinkat(link, "", target, sizeof target - 1);
  if (n <= 0 || ++*links > LINKS) return "has too many links";
  target[n] = 0;
  if (!put_before_rest(w, target)) return "is too long";
  if (*target == '/' && to_root(w) < 0) return strerror(errno);
  return NULL;
}

/* Advances by one component. Returns the problem, or NULL; `here` receives the component's path. */
static const char *step(struct walk *w, const char *name, bool last, unsigned how, int *links,
                        char here[FOLDER_LENGTH]) {
  struct stat st;
  const char *slash = strrchr(w->at, '/');
  if (strlen(w->at) > 3800 || strlen(name) > 255) return "is too long";
  if (!strcmp(name, "..")) snprintf(here, FOLDER_LENGTH, "%.*s", (int)(slash ? slash - w->at : 0), w->at);
  else snprintf(here, FOLDER_LENGTH, "%.3800s/%.255s", w->at, name);
  int inner = enter(w->folder, name, how & FOLDER_MAKE || (how & FOLDER_MAKE_LAST && last));
  if (inner < 0) return errno == ENOENT ? "does not exist" : strerror(errno);
  const char *problem = fstat(inner, &st) ? strerror(errno) : NULL;
  if (!problem && S_ISLNK(st.st_mode)) problem = follow(w, inner, st.st_uid, links);
  else if (!problem && !(problem = wrong(&st, last, how))) {
    close(w->folder);
    w->folder = inner;
    memcpy(w->at, here, FOLDER_LENGTH);
    return NULL;
  }
  close(inner);
  return problem;
}

/* Removes the first of the remaining components; false when none is left. */
static bool next_name(struct walk *w, char name[FOLDER_LENGTH]) {
  size_t begin = strspn(w->rest, "/"), length = strcspn(w->rest + begin, "/");
  memcpy(name, w->rest + begin, length);
  name[length] = 0;
  memmove(w->rest, w->rest + begin + length, strlen(w->rest + begin + length) + 1);
  return length > 0;
}

static const char *go(struct walk *w, unsigned how, char here[FOLDER_LENGTH]) {
  char name[FOLDER_LENGTH];
  struct stat st;
  int links = 0;
  if (to_root(w) < 0 || fstat(w->folder, &st)) return strerror(errno);
  const char *problem = wrong(&st, false, how);
  while (!problem && next_name(w, name)) {
    bool last = !w->rest[strspn(w->rest, "/.")] && !strstr(w->rest, "..");
    if (strcmp(name, ".")) problem = step(w, name, last, how, &links, here);
  }
  return problem;
}

int folder_open(char path[FOLDER_LENGTH], unsigned how, char *why, size_t why_size) {
  struct walk w = {.folder = -1};
  char here[FOLDER_LENGTH] = "/", current[FOLDER_LENGTH];
  snprintf(w.rest, sizeof w.rest, "%s", path);
  const char *problem = NULL;
  if (*path != '/' && (!getcwd(current, sizeof current) || !put_before_rest(&w, current))) problem = "has no absolute path";
  if (!problem) problem = go(&w, how, here);
  int folder = problem ? -1 : openat(w.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!problem && folder < 0) problem = strerror(errno);
  if (w.folder >= 0) close(w.folder);
  if (problem) snprintf(why, why_size, "%s %s", here, problem);
  else snprintf(path, FOLDER_LENGTH, "%s", *w.at ? w.at : "/");
  return folder;
}

int folder_inner(int folder, const char *name) {
  struct stat st;
  int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner >= 0 && (fstat(inner, &st) || wrong(&st, true, 0))) {
    close(inner);
    return -1;
  }
  return inner;
}

int folder_file(int folder, const char *name) {
  struct stat st;
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || !trusted(st.st_uid) || st.st_mode & 022)) {
    close(fd);
    return -1;
  }
  return fd;
}

bool folder_home(char *out, size_t size) {
  const char *given = secure_getenv("HOME");
  char names[NAMES];
  struct passwd user, *found = NULL;
  if (given && *given == '/') return snprintf(out, size, "%s", given) > 0;
  if (getpwuid_r(geteuid(), &user, names, sizeof names, &found) || !found || *user.pw_dir != '/') return false;
  return snprintf(out, size, "%s", user.pw_dir) > 0;
}
