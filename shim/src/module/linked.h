/* Linked images: PTX of several modules in one container, for the translator to link.
 *
 * A linked image is a fatbin with one entry of kind KIND_LINKED, whose payload is a row of ordinary PTX entries
 * (perhaps compressed, as they were handed over). cuLinkComplete, nvJitLinkGetLinkedCubin and our ptxas give such
 * images in the place of machine code; programs pass them on unread. */
#ifndef SHIM_LINKED_H
#define SHIM_LINKED_H
#include "image.h"

struct linked {
  char *data;   /* two headers, then the entries; what linked_finish makes a fatbin of */
  size_t size, capacity;
  unsigned parts;
};

bool linked_add(struct linked *l, const struct image *image); /* false: out of memory */
/* Kernels of the image so far have at most so many registers; 0: no limit. A part that says so, as PTX does. */
bool linked_limit(struct linked *l, unsigned registers);
/* Completes the headers: l->data is a fatbin of l->size bytes, ended by NULs. False: out of memory. */
bool linked_finish(struct linked *l);
/* The payload of a finished image. */
struct image linked_image(const struct linked *l);
/* Whether `data` is NVIDIA's device runtime library; then what stands for it (device_runtime.c). */
bool device_runtime(const void *data, size_t size, struct image *image);
void linked_free(struct linked *l);
#endif
