/* Reads cache entries as the driver does: a key on each line of standard input, what was found on one of standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "shim.h"

void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

const char *own_directory(void) { return "/"; }

int main(void) {
  char key[80];
  while (fgets(key, sizeof key, stdin)) {
    struct cache_entry entry = {0};
    unsigned sum = 0;
    key[strcspn(key, "\n")] = 0;
    if (cache_open(key, &entry)) {
      for (size_t i = 0; i < entry.payload_size; i++) sum = sum * 31 + ((unsigned char *)entry.payload)[i];
      printf("taken %zu %zu %zu %u\n", entry.text_size, strlen(entry.text), entry.payload_size, sum);
      cache_close(&entry);
    } else {
      puts("refused");
    }
    fflush(stdout);
  }
  return 0;
}
