/* Offload bundles (bundle.c), plain and compressed (compressed_bundle.c). */
#ifndef PTX2AMD_VGPU_BUNDLE_H
#define PTX2AMD_VGPU_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUNDLE_LIMIT ((size_t)2 << 30)
#define BUNDLE_HEAD ((size_t)2 << 20)   /* more than the names of BUNDLE_ENTRIES entries take */
enum { BUNDLE_ENTRIES = 4096 };

/* memcpy that returns an error if memory is not readable. */
bool read_memory(void *to, const void *from, size_t size);
/* The name of an EF_AMDGPU_MACH value (loader.c). */
const char *mach_name(unsigned mach);
struct device;
/* The bare code object for the device at *data, in a bundle or not; *size 0: unknown. Of a bundle, BUNDLE_HEAD bytes at
 * most are looked at. 0, or a hipError_t and why. */
int bundle_entry(const struct device *d, const char **data, size_t *size, char *why, size_t why_size);
/* That of a compressed bundle, malloc'ed. */
int bundle_decompress(struct device *d, const char *data, size_t size, uint8_t **copy, size_t *copy_size, char *why,
                      size_t why_size);
#endif
