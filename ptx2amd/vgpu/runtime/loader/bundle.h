/* Offload bundles (bundle.c), plain and compressed (compressed_bundle.c). */
#ifndef PTX2AMD_VGPU_BUNDLE_H
#define PTX2AMD_VGPU_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>

#define BUNDLE_LIMIT ((size_t)2 << 30)

/* memcpy that returns an error if memory is not readable. */
bool read_memory(void *to, const void *from, size_t size);
/* The name of an EF_AMDGPU_MACH value (loader.c). */
const char *mach_name(unsigned mach);
/* Decompresses a bundle into malloc'ed memory; size 0: unknown. Returns 0, or a hipError_t and the reason. */
int bundle_decompress(const char *data, size_t size, char **raw, size_t *raw_size, char *why, size_t why_size);
#endif
