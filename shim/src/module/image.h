/* What a program hands over to be loaded: fatbin wrapper, fatbin, ELF file or PTX text. */
#ifndef SHIM_IMAGE_H
#define SHIM_IMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

enum encoding { ENCODING_NONE, ENCODING_ZSTD, ENCODING_LZ4, ENCODING_LINKED /* linked.h */ };

struct image {
  const void *data;       /* PTX, perhaps compressed; points into what the program handed over */
  size_t size;            /* stored bytes, without trailing NULs when not compressed */
  size_t full_size;       /* of the PTX text */
  enum encoding encoding;
  int sm;                 /* target in the container, 0 when unknown */
  bool text;              /* PTX text as the program wrote it, not from a fatbin, which ptxas has judged */
  void *owned;            /* what to free with the image: data that was put together here */
};

/* Finds the PTX to translate. `size`: bytes that may be read, 0 when unknown. On failure the CUresult, and why in
 * `problem`. */
CUresult image_find(const void *data, size_t size, struct image *image, char *problem, size_t problem_size);
#endif
