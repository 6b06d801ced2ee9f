/* ptxas for clients that run it as a program (Triton, torch.compile, XLA): the PTX goes, unread, into a linked image
 * (shim/src/module/linked.h) in the place of machine code; our libcuda.so.1 takes it from there. Errors in the PTX are told
 * when it is loaded. The version is the newest whose PTX is understood. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linked.h"

static const char *const with_value[] = {"-arch", "-o", "-O", "-opt-level", "-warn-spills", "-m",
                                         "-def-load-cache", "-def-store-cache", "-entry", "-e", "-options-file"};
static const char version[] = "ptxas: PTX goes on to ptx2amd (stand-in for NVIDIA's ptx optimizing assembler)\n"
                              "Cuda compilation tools, release 13.0, V13.0.88\n";

static char *read_all(const char *path, size_t *size) {
  FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
  char *data = NULL;
  size_t got;
  for (*size = 0; file; *size += got) {
    char *more = realloc(data, *size + 65536);
    if (!more) break;
    data = more;
    if (!(got = fread(data + *size, 1, 65536, file))) break;
  }
  if (file && file != stdin) fclose(file);
  return file ? data : NULL;
}

static int add(struct linked *l, const char *path) {
  size_t size;
  char *text = read_all(path, &size);
  if (text) size = strnlen(text, size);
  if (!text || !size || !memmem(text, size, ".version", 8)) {
    fprintf(stderr, "ptxas fatal   : %s: %s\n", path, text ? "no PTX" : "cannot be read");
    free(text);
    return 255;
  }
  struct image image = {.data = text, .size = size, .full_size = size};
  int result = linked_add(l, &image) ? 0 : 255;
  free(text);
  return result;
}

static int takes_value(const char *option) {
  for (unsigned i = 0; i < sizeof with_value / sizeof *with_value; i++)
    if (!strcmp(option, with_value[i])) return 1;
  return 0;
}

int main(int argc, char **argv) {
  const char *output = "elf.o";
  struct linked l = {0};
  int result = 0;
  unsigned registers = 0;
  for (int i = 1; i < argc && !result; i++) {
    const char *option = argv[i];
    if (option[0] == '-' && option[1] == '-') option++;
    if (!strcmp(option, "-version") || !strcmp(option, "-V")) return fputs(version, stdout) < 0;
    if (!strcmp(option, "-output-file") || !strcmp(option, "-o")) output = i + 1 < argc ? argv[++i] : output;
    else if (!strncmp(option, "-output-file=", 13)) output = option + 13;
    else if (!strcmp(option, "-maxrregcount")) registers = i + 1 < argc ? (unsigned)atoi(argv[++i]) : 0;
    else if (!strncmp(option, "-maxrregcount=", 14)) registers = (unsigned)atoi(option + 14);
    else if (option[0] == '-' && option[1]) i += takes_value(option) || !strcmp(option, "-gpu-name");
    else result = add(&l, argv[i]);
  }
  if (result) return result;
  if (!l.parts) {
    fputs("ptxas fatal   : no input files\n", stderr);
    return 255;
  }
  FILE *file = linked_limit(&l, registers) && linked_finish(&l) ? fopen(output, "we") : NULL;
  if (!file || fwrite(l.data, 1, l.size, file) != l.size || fclose(file)) {
    fprintf(stderr, "ptxas fatal   : %s cannot be written\n", output);
    return 255;
  }
  return 0;
}
