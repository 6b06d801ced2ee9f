/* The execution engine: runs dispatches of kernels on a pool of threads. Its client is the HIP API. */
#ifndef PTX2AMD_VGPU_ENGINE_H
#define PTX2AMD_VGPU_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"
#include "wave.h"

/* Properties of a chip that execution depends on (runtime/engine/arch.c). */
struct arch {
  const char *name;            /* "gfx942" */
  uint8_t generation;          /* index of the decoder's tables: 0 gfx9, 1 gfx10, 2 gfx11, 3 gfx12 */
  uint8_t wave_sizes;          /* bit 0: 32 lanes, bit 1: 64 lanes */
  uint8_t default_wave;        /* 32 or 64 */
  bool packed_tid;             /* v0 = x | y << 10 | z << 20 */
  bool architected_flat_scratch;
  bool own_accumulators;       /* accumulation registers are a separate file */
  bool unified_vgprs;          /* accumulation registers follow at ACCUM_OFFSET */
  bool sram_ecc;               /* loads into half a register clear the other half */
  bool images;                 /* has image instructions */
  uint16_t vgpr_granule[2];    /* of GRANULATED_WORKITEM_VGPR_COUNT, wave32 and wave64 */
  bool ttmp_ids;               /* workgroup ids start in ttmp9 (x) and ttmp7 (y | z << 16), not in SGPRs */
  decode_fn *decode;
  uint32_t lds_bytes;          /* limit per workgroup */
  uint32_t compute_units;      /* as reported to programs */
};
/* By name, with or without feature suffixes ("gfx942:sramecc+:xnack-"); NULL: not supported by the engine. */
const struct arch *arch_find(const char *name);
/* The index-th architecture, NULL past the end. */
const struct arch *arch_at(size_t index);

/* A loaded code segment: executable bytes at their final (host) address. Instructions are decoded on demand and kept
 * until code_destroy, which must not run while a dispatch uses the code. */
struct code;
struct code *code_create(const struct arch *arch, uint64_t base, uint64_t size);
void code_destroy(struct code *code);
/* Source position of the code for reports; the lines must outlive the code. */
struct lines;
void code_set_lines(struct code *code, const struct lines *lines);
/* From now on out-of-range LDS reads return 0 and writes are dropped, as on chips: libraries rely on it. By default,
 * and under memcheck, these are faults. */
void code_may_stray(struct code *code);

/* The 64-byte kernel descriptor (symbol `kernel.kd`), as specified in AMDGPUUsage. */
struct kernel_descriptor {
  uint32_t group_segment_fixed_size;
  uint32_t private_segment_fixed_size;
  uint32_t kernarg_size;
  uint32_t reserved0;
  int64_t kernel_code_entry_byte_offset;
  uint8_t reserved1[20];
  uint32_t compute_pgm_rsrc3;
  uint32_t compute_pgm_rsrc1;
  uint32_t compute_pgm_rsrc2;
  uint16_t kernel_code_properties;
  uint16_t kernarg_preload;
  uint8_t reserved2[4];
};

/* hsa_kernel_dispatch_packet_t, which kernels may read through the dispatch pointer. */
struct dispatch_packet {
  uint16_t header, setup;
  uint16_t workgroup_size[3], reserved0;
  uint32_t grid_size[3];       /* work-items */
  uint32_t private_segment_size, group_segment_size;
  uint64_t kernel_object;
  uint64_t kernarg_address;
  uint64_t reserved2;
  uint64_t completion_signal;
};

struct dispatch {
  struct code *code;
  const char *kernel;          /* name, for reports */
  uint64_t descriptor;         /* address of the kernel descriptor in loaded memory */
  uint32_t grid[3];            /* workgroups */
  uint32_t block[3];           /* work-items of a workgroup */
  uint32_t last_block[3];      /* work-items of the last workgroup in each dimension; 0: same as block */
  uint32_t dynamic_lds;        /* bytes beyond the descriptor's fixed size */
  uint32_t private_bytes;      /* per work-item; used if larger than the descriptor's value (dynamic stack) */
  uint64_t kernarg;            /* address of the argument segment (registered memory), hidden arguments included */
  uint64_t queue;              /* address for the queue pointer user SGPR; 0: none */
  uint64_t dispatch_id;
  bool cooperative;            /* all workgroups run concurrently, however many there are */
  uint64_t max_instructions;   /* per wave; 0: engine_options.max_instructions */
  bool padded;                 /* CUDA threads are the lower halves of the waves: see work_item in wave.c */
};

/* The launch's first fault. */
struct fault {
  enum fault_kind kind;
  char kernel[256];
  uint64_t pc_offset;          /* offset of the instruction from the kernel's entry in bytes (may be negative) */
  uint32_t workgroup[3];
  uint32_t wave;               /* in the workgroup */
  int32_t lane;                /* -1: the whole wave */
  uint64_t address;            /* memory address, LDS or scratch offset */
  uint32_t words[5];           /* machine code of the instruction */
  char mnemonic[48];           /* "" if unknown */
  char text[1024];             /* the whole report in one line */
};

struct engine_counters {       /* of one dispatch */
  uint64_t instructions, waves, workgroups;
};

/* Runs the dispatch to its end on the pool and the calling thread. 0: done; otherwise enum fault_kind, with *fault
 * filled in. Callable from several threads at once. Memory must not be unmapped meanwhile (mem_enter is called inside).
 * */
int engine_run(const struct dispatch *d, struct fault *fault, struct engine_counters *counters);

/* Checks a launch against the chip's limits without running it. Returns 0, or FAULT_BAD_LAUNCH with a message. */
int engine_check(const struct dispatch *d, struct fault *fault);

/* The waves per compute unit are not modelled; this many workgroups run at a time. */
unsigned engine_threads(void);

struct engine_options {
  unsigned threads;            /* 0: one per available CPU; PTX2AMD_VGPU_THREADS */
  uint64_t max_instructions;   /* per wave, 0: no limit; PTX2AMD_VGPU_MAX_INSTRUCTIONS */
  const char *level;           /* "v2", "v3", "v4"; NULL: the best the CPU has; PTX2AMD_VGPU_LEVEL */
};
/* Called for a wave's interrupt (S_SENDMSG 1), on the wave's thread: handles a request in memory. */
void engine_on_interrupt(void (*handler)(void));
/* Must be called before the first engine_run; afterwards it has no effect and returns false. */
bool engine_configure(const struct engine_options *options);
/* The level in use: "v4". */
const char *engine_level(void);

/* A forked child has no pool threads: it starts its own at the next engine_run (registers pthread_atfork). */
#endif
