/* Device memory: the registry of all allocations of the software GPU.
 *
 * Device memory is host memory, so a device pointer is a host pointer. Execution threads call mem_range() to check an
 * address; this takes no lock. Freed memory is removed from the registry immediately, but its pages are returned to the
 * system only when no dispatch is running, so that a racing kernel causes a reported fault instead of a crash. */
#ifndef PTX2AMD_VGPU_MEMORY_H
#define PTX2AMD_VGPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mem_kind {
  MEM_DEVICE = 1,   /* hipMalloc, pools */
  MEM_HOST,         /* pinned host memory */
  MEM_MANAGED,      /* hipMallocManaged */
  MEM_REGISTERED,   /* the caller's own memory, hipHostRegister */
  MEM_CODE,         /* loaded code object: text and read-only data */
  MEM_GLOBAL,       /* loaded code object: device variables */
  MEM_KERNARG,      /* kernel arguments of launches in flight */
  MEM_VIRTUAL,      /* hipMemMap: a mapping of a hipMemCreate object */
  MEM_SCRATCH,      /* the engine's own memory */
  MEM_RUNTIME,      /* used by the device libraries: their calls to the host, the heap of malloc in kernels */
};
#define MEM_KIND(flags) ((enum mem_kind)((flags) & 0xff))
#define MEM_READONLY 0x100u   /* a store is a fault */
/* The grain, where it is not the kind's own: fine-grained memory is coherent with the host while kernels run. */
#define MEM_FINE 0x200u
#define MEM_COARSE 0x400u
#define MEM_SLACK(flags) ((flags) >> 24)   /* of mem_range, under memcheck: number of bytes by which *hi was rounded up
                                            * */

static inline bool mem_is_device(uint32_t flags) {
  enum mem_kind kind = MEM_KIND(flags);
  return kind == MEM_DEVICE || kind == MEM_GLOBAL || kind == MEM_CODE || kind == MEM_VIRTUAL;
}
static inline bool mem_is_fine(uint32_t flags) {
  return flags & MEM_FINE || (!(flags & MEM_COARSE) && !mem_is_device(flags));
}

/* One allocation, as seen by the host API. */
struct mem_block {
  uint64_t base, size;    /* bytes; size as requested */
  uint32_t flags;         /* kind | MEM_READONLY | grain */
  int device;             /* ordinal */
  unsigned api_flags;     /* of hipHostMalloc, hipHostRegister, ... */
  uint64_t id;            /* unique in the process, never reused */
  void *owner;            /* pool, module or mapping to which it belongs; NULL: none */
  void *context;          /* the context in which it was created */
  uint64_t capacity;      /* usable bytes (mem_show) */
  bool internal;          /* owned by the run time: not a leak */
};

/* The allocation around addr, or what is mapped between two (chunk.h): [*lo, *hi) may be touched; *flags as in mem_block.
 * False: nothing there. Lock-free, callable from any thread. *hi is rounded up to a multiple of 4 bytes (hardware reads
 * whole dwords), of device memory to CHUNK_ALIGN. */
bool mem_range(uint64_t addr, uint64_t *lo, uint64_t *hi, uint32_t *flags);

/* Allocates size bytes (> 0), aligned to at least 256 bytes; NULL: out of memory. flags as in mem_block. */
struct mem_block *mem_alloc(uint64_t size, uint32_t flags, int device);
/* Makes foreign memory accessible; NULL: it overlaps an allocation, or out of memory. */
struct mem_block *mem_adopt(void *base, uint64_t size, uint32_t flags, int device);
/* Removes the block; memory from mem_alloc is returned to the system. */
void mem_release(struct mem_block *block);
/* Removes the block from (adds it to) the registry without freeing its memory: pools, stream-ordered frees. */
void mem_hide(struct mem_block *block);
void mem_show(struct mem_block *block, uint64_t size);

/* A copy of the block around addr, or false. Takes the registry's lock. */
bool mem_find(uint64_t addr, struct mem_block *copy);
/* The block that begins at addr, or NULL; the caller guarantees that it is not freed meanwhile. */
struct mem_block *mem_at(uint64_t addr);

/* The block around addr, a MEM_DEVICE one, as part of a file that another process can map: the file, its bytes, where in
 * it the block begins. Nothing may use the block meanwhile. */
struct mem_file {
  int fd;
  uint64_t length, offset, base, size;
};
bool mem_share(uint64_t addr, struct mem_file *file);

/* Around every dispatch: between the two, no page is returned to the system. */
void mem_enter(void);
void mem_leave(void);

/* Bytes in use by MEM_DEVICE and MEM_MANAGED blocks of a device. */
uint64_t mem_in_use(int device);

/* Describes addr for fault reports: "16 bytes past the end of the 4096-byte device allocation at 0x...", "inside the
 * 4096-byte device allocation at 0x... that was freed", "no allocation near". Returns buf. */
const char *mem_describe(uint64_t addr, char *buf, size_t size);

/* Calls fn for every block of a device (under the registry's lock); for leak reports and device reset. */
void mem_each(int device, void (*fn)(struct mem_block *block, void *data), void *data);
#endif
