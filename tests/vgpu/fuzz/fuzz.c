/* A coverage-guided fuzzer of the loader, the metadata and line-table readers and the decoders.
 *
 *     fuzz SECONDS SEED CURRENT FILE...     mutates the files; CURRENT is what was tried last, for after a crash
 *     fuzz 0 0 CURRENT FILE                 tries one file as it is
 *
 * gcc's -fsanitize-coverage=trace-pc calls __sanitizer_cov_trace_pc in every block of what is compiled with it. An input
 * whose blocks follow each other in a new way is kept and mutated further. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hip_state.h"
#include "lines.h"
#include "loader.h"
#include "memory.h"
#include "ops.h"
#include "state.h"

enum { EDGES = 1 << 16, MOST = 1 << 16, KEPT = 4096, DECODED = 400 };

const struct build *const all_builds[] = {NULL};   /* nothing is executed */

/* --- coverage -------------------------------------------------------------------------------------- */

static uint8_t hit[EDGES], seen[EDGES];
static uintptr_t last;


void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
  uintptr_t here = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__sanitizer_cov_trace_pc;
  uintptr_t edge = (here * 0x9e3779b97f4a7c15u >> 40) ^ last;
  last = (here * 0x9e3779b97f4a7c15u >> 40) >> 1;
  if (hit[edge % EDGES] < 255) hit[edge % EDGES]++;
}

/* Counts as new: an edge, or twice as many rounds of it. Returns how many there are. */
static unsigned news(void) {
  unsigned found = 0;
  for (unsigned k = 0; k < EDGES; k++) {
    if (!hit[k]) continue;
    uint8_t bit = (uint8_t)(1u << (31 - __builtin_clz((unsigned)hit[k])));
    found += !(seen[k] & bit);
    seen[k] |= bit;
  }
  memset(hit, 0, sizeof hit);
  last = 0;
  return found;
}

/* --- what is fuzzed -------------------------------------------------------------------------------- */

static const struct inst *handled(struct wave *w, const struct inst *i) {
  (void)w;
  return i;
}

struct decoding_context { struct decode_context c; void *blocks[64]; unsigned used; };

static void *allocate(struct decode_context *c, size_t size) {
  struct decoding_context *d = (struct decoding_context *)c;
  if (d->used == 64) abort();
  return d->blocks[d->used++] = calloc(1, size);
}

static void decode(const struct arch *arch, const uint32_t *words, size_t n, const struct handler_pair *handlers) {
  static const struct registers few = {8, 8, 16};
  for (size_t at = 0, count = 0; at < n && count < DECODED; count++) {
    struct decoding_context d = {.c = {handlers, handled, allocate, at, n - at}};
    struct inst i;
    arch->decode(words + at, &i, &d.c);
    if (i.len < 1 || i.len > 5 || !i.run) abort();
    if (i.op) registers_hold(&few, &i, arch->default_wave);
    at += i.len;
    while (d.used) free(d.blocks[--d.used]);
  }
}

static void try_image(const uint8_t *data, size_t size, const char *name, const struct handler_pair *handlers) {
  struct device device = {.arch = arch_find(name), .chip = chip_find(name)};
  struct image *image;
  char why[512];
  if (image_load(&device, data, size, &image, why, sizeof why)) return;
  for (size_t k = 0; k < image_kernel_count(image) && k < 4; k++) {
    const struct kernel_info *kernel = image_kernel_at(image, k);
    const struct kernel_descriptor *d = (const struct kernel_descriptor *)(uintptr_t)kernel->descriptor;
    if (image_kernel(image, kernel->name) == NULL) abort();
    registers_given(d, device.arch, device.arch->default_wave);
    uint64_t entry = kernel->descriptor + (uint64_t)d->kernel_code_entry_byte_offset - kernel->code->base;
    const uint32_t *words = (const uint32_t *)(uintptr_t)kernel->code->base;
    decode(device.arch, words + entry / 4, kernel->code->dwords - entry / 4, handlers);
    char text[512];
    if (kernel->code->lines)
      for (unsigned n = 0; n < 64; n += 4) lines_describe(kernel->code->lines, kernel->code->base + entry + n, text, sizeof text);
  }
  uint64_t address, bytes;
  image_global(image, "__ptx2amd_env", &address, &bytes);
  image_unload(image);
}

static void try_input(const uint8_t *data, size_t size) {
  static struct handler_pair *handlers;
  if (!handlers) {
    handlers = calloc(OP_COUNT, sizeof *handlers);
    for (unsigned k = 0; k < OP_COUNT; k++) handlers[k].run[0] = handlers[k].run[1] = handled;
  }
  if (size > 4 && (data[0] == 0x7f || data[0] == '_')) {   /* an ELF file or a bundle */
    try_image(data, size, "gfx942", handlers);
    try_image(data, size, "gfx1100", handlers);
    return;
  }
  for (size_t k = 0; arch_at(k); k++) {   /* machine code */
    uint32_t *words = malloc(size / 4 * 4 + 4);   /* of the exact length, for ASan */
    memcpy(words, data, size / 4 * 4);
    decode(arch_at(k), words, size / 4, handlers);
    free(words);
  }
}

/* --- mutation -------------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static size_t below(size_t n) { return n ? next() % n : 0; }

static size_t mutate(uint8_t *data, size_t size, const uint8_t *other, size_t other_size) {
  static const uint64_t numbers[] = {0, 1, 7, 8, 127, 128, 255, 4096, 65535, 1u << 31, UINT32_MAX, INT64_MAX, UINT64_MAX};
  for (size_t rounds = 1 + below(6); rounds > 0 && size > 8; rounds--) {
    size_t at = below(size), width = (size_t)1 << below(4), from, n;
    if (at + width > size) at = size - width;
    uint64_t value = numbers[below(sizeof numbers / sizeof *numbers)] + below(3) - 1;
    switch (below(8)) {
      case 0: data[at] ^= (uint8_t)(1u << below(8)); break;
      case 1: data[at] = (uint8_t)next(); break;
      case 2: memcpy(data + at, &value, width); break;
      case 3:                                       /* a number a little larger or smaller */
        memcpy(&value, data + at, width);
        value += below(33) - 16;
        memcpy(data + at, &value, width);
        break;
      case 4:                                       /* a piece of itself, elsewhere */
        from = below(size), n = below(size - (from > at ? from : at)) % 64;
        memmove(data + at, data + from, n);
        break;
      case 5:                                       /* a piece of another input */
        from = below(other_size), n = below(other_size - from) % 64;
        if (n > size - at) n = size - at;
        memcpy(data + at, other + from, n);
        break;
      case 6:
        if (below(8) == 0) size = at;
        break;
      default:
        n = below(16);
        if (size + n > MOST) break;
        memmove(data + at + n, data + at, size - at);
        size += n;
    }
  }
  return size;
}

struct input { uint8_t *data; size_t size; };

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  double seconds = atof(argv[1]);
  state ^= strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u;
  int file = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, MOST + 8)) return 2;
  uint8_t *current = mmap(NULL, MOST + 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);   /* size, then the bytes */
  static struct input kept[KEPT];
  unsigned count = 0, edges = 0, first_edges = 0;
  for (int k = 4; k < argc && count < KEPT; k++) {
    FILE *f = fopen(argv[k], "rb");
    struct input in = {malloc(MOST), 0};
    if (!f) return 2;
    in.size = fread(in.data, 1, MOST, f);
    fclose(f);
    kept[count++] = in;
    try_input(in.data, in.size);
    edges += news();
  }
  first_edges = edges;
  uint64_t runs = 0;
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    uint8_t *data = current + 8;
    const struct input *in = &kept[below(count)], *other = &kept[below(count)];
    memcpy(data, in->data, in->size);
    size_t size = mutate(data, in->size, other->data, other->size);
    memcpy(current, &size, 8);
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    if (seconds > 0) try_input(exact, size);
    unsigned found = news();
    edges += found;
    if (found && count < KEPT) kept[count++] = (struct input){exact, size};
    else free(exact);
    runs++;
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
  printf("%llu runs %u inputs %u edges %u at first\n", (unsigned long long)runs, count, edges, first_edges);
  return 0;
}
