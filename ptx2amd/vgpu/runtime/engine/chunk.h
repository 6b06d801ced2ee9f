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
/* The file that the chunks of an allocation become part of, with their other allocations, for other processes to map: where
 * in it the allocation begins, and the file's length. -1: no. Nothing may use the chunks meanwhile. */
int chunk_share(uint64_t address, uint64_t size, uint64_t *offset, uint64_t *length);
/* Move whole pages to a file, which takes their place; the file, or -1. */
int pages_to_file(void *base, uint64_t bytes);
/* Whether address is one of device memory, allocated or not: the program has nothing there. */
bool chunk_reserved(uint64_t address);
/* Whether address lies in a mapped chunk. Lock-free, callable from any thread. */
bool chunk_mapped(uint64_t address);
#endif
