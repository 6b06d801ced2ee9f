/* Where device memory comes from. The chip maps memory in large pages, so an access a little outside of an allocation meets
 * mapped memory there: its neighbour's, or nobody's. Programs that do so (a stencil's border, a grid rounded up) work on
 * chips and must work here: allocations are carved from chunks of CHUNK bytes, and all of a mapped chunk may be touched.
 * --memcheck gives every allocation bounds of its own instead (memory.c). */
#ifndef PTX2AMD_VGPU_CHUNK_H
#define PTX2AMD_VGPU_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK (UINT64_C(2) << 20)   /* bytes */
#define CHUNK_ALIGN 512u            /* of allocations, as CUDA's are */
#define CHUNK_SLACK 4096u           /* mapped bytes before and after an allocation, at least */

/* Address of `size` bytes, 0: no address space or memory. *got: bytes there is room for. */
uint64_t chunk_get(uint64_t size, uint64_t *got);
/* Give back what chunk_get() gave. */
void chunk_put(uint64_t address, uint64_t size);
/* Whether address lies in a mapped chunk. Lock-free, callable from any thread. */
bool chunk_mapped(uint64_t address);
#endif
