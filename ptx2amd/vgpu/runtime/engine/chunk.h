/* The source of device memory. Chips map memory in large pages, so an access slightly outside of an allocation still
 * hits mapped memory: a neighbour's, or unused memory. Programs that do this (a stencil's border, a grid rounded up)
 * work on chips and must work here: allocations are parts of chunks of CHUNK bytes, and every byte of a mapped chunk
 * may be accessed. --memcheck enforces each allocation's bounds instead (memory.c). */
#ifndef PTX2AMD_VGPU_CHUNK_H
#define PTX2AMD_VGPU_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#define CHUNK (UINT64_C(2) << 20)   /* bytes */
#define CHUNK_ALIGN 512u            /* alignment of allocations, as in CUDA */
#define CHUNK_SLACK 4096u           /* minimum of mapped bytes before and after an allocation */

/* Address of `size` bytes, 0: out of address space or memory. *got: usable bytes. */
uint64_t chunk_get(uint64_t size, uint64_t *got);
/* Frees memory of chunk_get(). */
void chunk_put(uint64_t address, uint64_t size);
/* The file into which the chunks of an allocation are moved, together with their other allocations, so that other
 * processes can map them: the allocation's offset, and the file's length. -1: failed. The chunks must not be in use
 * meanwhile. */
int chunk_share(uint64_t address, uint64_t size, uint64_t *offset, uint64_t *length);
/* Moves whole pages to a file that replaces them; returns the file, or -1. */
int pages_to_file(void *base, uint64_t bytes);
/* Whether the address belongs to device memory, allocated or not: host allocations are never there. */
bool chunk_reserved(uint64_t address);
/* Whether address lies in a mapped chunk. Lock-free, callable from any thread. */
bool chunk_mapped(uint64_t address);
#endif
