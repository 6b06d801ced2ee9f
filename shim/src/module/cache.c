#define _GNU_SOURCE
#include "cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
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

/* The folder as the settings and the environment have it; false: off, or there is none. */
static bool wanted_directory(char *path) {
  const char *own = setting_text(SETTING_CACHE_DIR), *xdg = secure_getenv("XDG_CACHE_HOME");
  char home[PATH_LENGTH - 32];
  if (!setting_on(SETTING_CACHE)) return false;
  if (*own) return snprintf(path, PATH_LENGTH, "%s", own) > 0;
  if (xdg && *xdg == '/') return snprintf(path, PATH_LENGTH, "%s/ptx2amd", xdg) > 0;
  if (folder_home(home, sizeof home)) return snprintf(path, PATH_LENGTH, "%s/.cache/ptx2amd", home) > 0;
  say("no home folder is known: kernels are translated again in every run; set PTX2AMD_CACHE_DIR to a folder that you "
      "own");
  return false;
}

static void choose_directory(char directory[PATH_LENGTH]) {
  char path[PATH_LENGTH], given[PATH_LENGTH], why[PATH_LENGTH + 100];
  if (!wanted_directory(path)) return;
  memcpy(given, path, sizeof given);
  int folder = folder_open(path, FOLDER_MAKE, why, sizeof why);
  if (folder >= 0) memcpy(directory, path, PATH_LENGTH);
  else
    say("the cache folder %.1000s is not used: %.1000s; kernels are translated again in every run; set PTX2AMD_CACHE_DIR to a "
        "folder that you own", given, why);
  if (folder >= 0) close(folder);
}

const char *cache_directory(void) {
  static char directory[PATH_LENGTH];
  static bool chosen;
  pthread_mutex_lock(&lock);
  if (!chosen) choose_directory(directory);
  chosen = true;
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

static char *read_all(int fd, size_t *size) {
  struct stat st;
  char *memory = NULL;
  if (!fstat(fd, &st) && st.st_size >= HEADER && (memory = malloc((size_t)st.st_size + 1))) {
    size_t got = 0;
    ssize_t n;
    while (got < (size_t)st.st_size && (n = read(fd, memory + got, (size_t)st.st_size - got)) > 0) got += (size_t)n;
    *size = got;
  }
  return memory;
}

bool cache_parse(char *memory, size_t size, struct cache_entry *entry) {
  uint32_t text = 0;
  uint64_t payload = 0;
  unsigned char digest[32];
  bool good = size >= HEADER && !memcmp(memory, "P2AENT01", 8);
  if (good) {
    memcpy(&text, memory + 8, 4);
    memcpy(&payload, memory + 16, 8);
    good = text <= size - HEADER && payload == size - HEADER - text;
  }
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

/* Entries that are in no folder: the process has them for itself. */
static struct kept { struct kept *next; char key[65]; size_t size; char bytes[]; } *kept;

void cache_keep(const char *key, const char *bytes, size_t size) {
  struct kept *k = malloc(sizeof *k + size);
  if (!k) return;
  snprintf(k->key, sizeof k->key, "%s", key);
  memcpy(k->bytes, bytes, k->size = size);
  pthread_mutex_lock(&lock);
  k->next = kept;
  kept = k;
  pthread_mutex_unlock(&lock);
}

static char *read_kept(const char *key, size_t *size) {
  pthread_mutex_lock(&lock);
  const struct kept *k = kept;
  while (k && strcmp(k->key, key)) k = k->next;
  pthread_mutex_unlock(&lock);
  char *memory = k ? malloc(k->size + 1) : NULL;
  if (memory) memcpy(memory, k->bytes, *size = k->size);
  return memory;
}

/* The cache's folder was looked at when it was chosen, and so were those above it: nobody else can have changed them. */
static char *read_file(const char *key, size_t *size) {
  char part[3] = {key[0], key[1], 0}, name[80], *memory = NULL;
  int folder = open(cache_directory(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  int inner = folder < 0 ? -1 : folder_inner(folder, part);
  snprintf(name, sizeof name, "%.64s.p2a", key);
  int fd = inner < 0 ? -1 : folder_file(inner, name);
  if (fd >= 0) memory = read_all(fd, size);
  if (fd >= 0) close(fd);
  if (inner >= 0) close(inner);
  if (folder >= 0) close(folder);
  return memory;
}

bool cache_open(const char *key, struct cache_entry *entry) {
  size_t size = 0;
  char *memory = *cache_directory() ? read_file(key, &size) : NULL;
  if (!memory) memory = read_kept(key, &size);
  return memory && cache_parse(memory, size, entry);
}

void cache_close(struct cache_entry *entry) {
  free(entry->memory);
  *entry = (struct cache_entry){0};
}
