#define _GNU_SOURCE
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim.h"

enum { HEADER = 56 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void read_build_id(char *id, size_t size) {
  const char *given = setting_text(SETTING_BUILD_ID);
  char path[PATH_LENGTH + 16];
  snprintf(path, sizeof path, "%s/build-id", own_directory());
  FILE *file = *given ? NULL : fopen(path, "re");
  if (file && fgets(id, (int)size, file)) id[strcspn(id, " \r\n")] = 0;
  else snprintf(id, size, "%s", *given ? given : "unknown");
  if (file) fclose(file);
}

const char *build_id(void) {
  static char id[256];
  pthread_mutex_lock(&lock);
  if (!id[0]) read_build_id(id, sizeof id);
  pthread_mutex_unlock(&lock);
  return id;
}

/* With PTX2AMD_CACHE=0, or where the cache can't be written, entries live in a folder of this process and go with it. */
static char private_directory[PATH_LENGTH];
static pid_t private_owner;

static int remove_item(const char *path, const struct stat *st, int kind, struct FTW *walk) {
  (void)st, (void)kind, (void)walk;
  return remove(path);
}

__attribute__((destructor)) static void remove_private_directory(void) {
  if (private_directory[0] && private_owner == getpid()) nftw(private_directory, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}

static bool make_private_directory(void) {
  const char *base = getenv("TMPDIR");
  char path[PATH_LENGTH];
  snprintf(path, sizeof path, "%s/ptx2amd-XXXXXX", base && *base ? base : "/tmp");
  if (!mkdtemp(path)) return false;
  private_owner = getpid();
  memcpy(private_directory, path, sizeof path);
  return true;
}

/* Makes the folder and those above it; whether entries can be written there. */
static bool writable(const char *path) {
  char part[PATH_LENGTH];
  snprintf(part, sizeof part, "%s", path);
  for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(part, 0777);
    *slash = '/';
  }
  mkdir(part, 0777);
  return !access(part, W_OK | X_OK);
}

static void choose_directory(char *directory, size_t size) {
  const char *own = setting_text(SETTING_CACHE_DIR), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool wanted = setting_on(SETTING_CACHE);
  if (*own) snprintf(directory, size, "%s", own);
  else if (xdg && *xdg) snprintf(directory, size, "%s/ptx2amd", xdg);
  else snprintf(directory, size, "%s/.cache/ptx2amd", home && *home ? home : "/tmp");
  if (wanted && writable(directory)) { /* the program may go to another folder, and the service is in one of its own */
    char *whole = realpath(directory, NULL);
    if (whole) snprintf(directory, size, "%s", whole);
    free(whole);
    return;
  }
  if (wanted)
    say("the cache folder %s can't be written (%s): kernels are translated anew in every run; set PTX2AMD_CACHE_DIR to a "
        "folder of yours", directory, strerror(errno));
  if (make_private_directory()) snprintf(directory, size, "%s", private_directory);
}

const char *cache_directory(void) {
  static char directory[PATH_LENGTH];
  pthread_mutex_lock(&lock);
  if (!directory[0]) choose_directory(directory, sizeof directory);
  pthread_mutex_unlock(&lock);
  return directory;
}

void cache_key(char key[65], const char *format, ...) {
  char *text = NULL;
  unsigned char digest[32];
  struct blake2b b;
  va_list args;
  va_start(args, format);
  int n = vasprintf(&text, format, args);
  va_end(args);
  blake2b_start(&b);
  if (n > 0) blake2b_add(&b, text, (size_t)n);
  blake2b_end(&b, digest);
  hex32(digest, key);
  if (n >= 0) free(text);
}

static char *read_all(const char *path, size_t *size) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  char *memory = NULL;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= HEADER && (memory = malloc((size_t)st.st_size + 1))) {
    size_t got = 0;
    ssize_t n;
    while (got < (size_t)st.st_size && (n = read(fd, memory + got, (size_t)st.st_size - got)) > 0) got += (size_t)n;
    *size = got;
  }
  close(fd);
  return memory;
}

bool cache_open_file(const char *path, struct cache_entry *entry) {
  size_t size = 0;
  char *memory = read_all(path, &size);
  if (!memory) return false;
  uint32_t text;
  uint64_t payload;
  unsigned char digest[32];
  memcpy(&text, memory + 8, 4);
  memcpy(&payload, memory + 16, 8);
  bool good = size >= HEADER && !memcmp(memory, "P2AENT01", 8) && text <= size - HEADER &&
              payload == size - HEADER - text;
  if (good) {
    struct blake2b b;
    blake2b_start(&b);
    blake2b_add(&b, memory + HEADER, size - HEADER);
    blake2b_end(&b, digest);
    good = !memcmp(digest, memory + 24, 32);
  }
  if (!good) {
    free(memory);
    return false;
  }
  /* Text in front, so that it can end with a NUL without touching the payload. */
  entry->memory = memory;
  entry->text = memory + HEADER - 1;
  memmove(entry->text, memory + HEADER, text);
  entry->text[text] = 0;
  entry->text_size = text;
  entry->payload = memory + HEADER + text;
  entry->payload_size = payload;
  return true;
}

bool cache_open(const char *key, struct cache_entry *entry) {
  char path[PATH_LENGTH + 80];
  snprintf(path, sizeof path, "%s/%.2s/%s.p2a", cache_directory(), key, key);
  return cache_open_file(path, entry);
}

void cache_close(struct cache_entry *entry) {
  free(entry->memory);
  *entry = (struct cache_entry){0};
}
