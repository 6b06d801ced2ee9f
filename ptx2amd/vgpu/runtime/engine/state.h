/* Definitions shared by the engine's own files: code, workgroups, a dispatch in flight. */
#ifndef PTX2AMD_VGPU_STATE_H
#define PTX2AMD_VGPU_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "decode.h"
#include "engine.h"
#include "native.h"

/* The instruction handlers and the wave loop of one wave width and one x86-64 level. */
struct build {
  const char *level;
  unsigned lanes;
  const struct handler_pair *handlers;   /* by op_info.id */
  handler_fn vopd;
  void (*run_wave)(struct wave *w, uint64_t budget);
  void (*start_wave)(struct wave *w);    /* call after MODE is set */
  /* Initial registers: START_DWORDS scalar ones; VGPRs: n rows from `ids`, zeros up to `rows`, and accumulation
   * registers. */
  void (*start_registers)(struct wave *w, const uint32_t *s, const uint32_t *ids, unsigned n, unsigned rows,
                          unsigned accumulation);
  /* A load, store or update (enum weak_access) of memory at the lanes' addresses, of a kind defined in vmem.h. */
  void (*weak_lanes)(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned access, unsigned kind,
                     unsigned bits, bool returns);
};
/* The build for a wave width at the chosen level. */
const struct build *build_for(unsigned lanes);

struct code {
  const struct arch *arch;
  uint64_t base;
  size_t dwords;
  uint8_t *notes;            /* with tools on, by dword: what tools.c recorded about an instruction */
  struct view *views;        /* kernels that ran */
  pthread_mutex_t lock;
  struct arena *arena;       /* struct inst_ext and the like */
  const struct lines *lines; /* NULL: none */
  bool may_stray;            /* code_may_stray */
};
/* Registers allocated to a wave: v0 to v<v - 1>, a0 to a<a - 1>, s0 to s<s - 1>. */
struct registers { uint16_t v, a, s; };
/* The code as seen by waves of one width with this register allocation: decoded; an instruction that names another
 * register is a fault. */
struct view {
  struct view *next;         /* of the code's */
  struct code *code;
  unsigned lanes;
  struct registers registers;
  struct inst *entries;      /* one per dword and a few guards */
  handler_fn *real;          /* with tools on: the handlers of entries */
  struct native *native;     /* translations to native code (native.h); NULL: none */
};
/* NULL: out of memory. */
struct view *code_view(struct code *code, unsigned lanes, struct registers registers);

/* The registers that a kernel's descriptor allocates to its waves (registers.c). */
struct registers registers_given(const struct kernel_descriptor *k, const struct arch *arch, unsigned lanes);
/* Registers named by one operand, 0 to 3 the sources, 4 and 5 the results: count and first register, in file 'v', 'a'
 * or 's'; n 0: none. */
struct named { char file; unsigned first, n; };
struct named operand_named(const struct inst *i, int k, unsigned lanes);
/* Whether the wave has all registers that the instruction names. */
bool registers_hold(const struct registers *given, const struct inst *i, unsigned lanes);
/* Ends the launch with a fault that names the register. */
const struct inst *run_beyond_registers(struct wave *w, const struct inst *i);

/* Decodes the instruction at *i and returns its handler. */
handler_fn code_decode(struct wave *w, const struct inst *i);

/* One dispatch in flight. */
struct run {
  const struct dispatch *d;
  const struct kernel_descriptor *descriptor;
  const struct build *build;
  const struct arch *arch;
  struct view *view;
  struct inst *entries, *entry;  /* the view's entries; where waves begin */
  const handler_fn *real;        /* the entries' handlers if the tools precede them (tools.h) */
  struct dispatch_packet packet;
  uint64_t number;             /* number of the run in the process, from 1 */
  uint64_t groups;             /* total number of workgroups */
  uint32_t lds_bytes, scratch_bytes;
  uint32_t preload_offset, preload_dwords; /* kernel arguments that start in SGPRs */
  uint64_t max_instructions;
  uint64_t begin, patience, time_limit; /* nanoseconds: start; limit without progress, total limit (0: none) */
  _Atomic int watching, stuck; /* active threads, and those that cannot continue (watch.c) */
  uint64_t batch;              /* workgroups that a thread takes at a time */
  _Atomic uint64_t next;       /* first workgroup not yet taken */
  _Atomic int stop;            /* a fault ends the dispatch */
  _Atomic uint64_t grid_barrier; /* phase << 32 | waves that have arrived */
  _Atomic uint64_t instructions;
  int participants;            /* active threads, under the pool's lock */
  struct run *next_run;        /* list of runs that need workers */
  bool listed;
  struct race_run *races;      /* with racecheck (tools.h) */
  const struct weak_chip *weak; /* in the weak-memory mode (weak.h) */
  pthread_mutex_t fault_lock;
  struct fault *fault;
};

/* The initial scalar registers of a run's waves (up to SCC), and the positions of those that differ: pairs with the
 * wave's scratch memory, the workgroup's id, its number of waves. */
enum { START_DWORDS = 144, NOWHERE = 255 };
_Static_assert(START_DWORDS > S_SCC + 1 && START_DWORDS <= S_SINK + 16 && START_DWORDS % 16 == 0, "whole lines, none read");
struct start {
  _Alignas(64) uint32_t s[START_DWORDS];
  uint32_t mode;
  uint8_t id[3], waves, scratch;
  bool buffer;                 /* s[0] to s[3] describe the scratch memory */
};

/* Instructions of a wave after a barrier before others have their turn: enough to read the data that the barrier
 * protects. */
enum { FIRST_SLICE = 48 };

struct workgroup {
  struct run *run;
  uint32_t id[3], size[3];     /* work-items, fewer in the last workgroup of a partial grid */
  unsigned n_waves, live, waiting;
  uint64_t signals;            /* bit per wave: it has signalled in the split barrier's phase */
  struct wave *waves;          /* n_waves of capacity */
  unsigned capacity, lanes;
  uint8_t *vgprs;
  uint32_t *ids;               /* by wave: the rows with the work-items' ids, for workgroups with the size `ids_of` */
  struct id_layout { uint32_t size[3], lanes, rows; bool packed; } ids_of;
  uint8_t *lds;
  uint32_t lds_capacity;
  uint8_t *scratch;
  size_t scratch_capacity;
  struct native_site sites[NATIVE_SITES];
  uint32_t slice;              /* instructions per turn of a wave */
  bool released;               /* a barrier was passed in this round */
  uint32_t native_rounds;      /* iterations of a loop in native code before it returns to the engine */
  uint32_t native_fuel;        /* the rest of them */
  uint32_t host_csr;           /* the thread's MXCSR outside of waves */
  uint64_t prepared_for;       /* the run to which `start`, sites and the waves' windows belong */
  struct start start;
  struct group_shadow *shadow; /* with tools on (tools.h) */
  struct weak_wave *weak;      /* by wave, in the weak-memory mode (weak.h) */
  unsigned weak_capacity;
};

/* Bytes of one wave's VGPRs, padded so that waves do not map to the same cache sets. */
/* Its linear number in the grid, x first. */
static inline uint32_t workgroup_index(const struct workgroup *g) {
  const uint32_t *n = g->run->d->grid;
  return (g->id[2] * n[1] + g->id[1]) * n[0] + g->id[0];
}

#define WAVE_VGPR_BYTES(lanes) ((size_t)VGPR_ROWS * (lanes) * 4 + 64 * 5)

enum group_state { GROUP_DONE, GROUP_PARKED, GROUP_STOPPED };

struct workgroup *workgroup_new(void);
void workgroup_free(struct workgroup *g);
/* Prepares g for workgroup number `index` of the run. False: out of memory (recorded as the run's fault). */
bool workgroup_start(struct workgroup *g, struct run *run, uint64_t index);
/* Runs until the end, a fault or (if others wait for the thread) the end of the time slice. */
enum group_state workgroup_run(struct workgroup *g);

/* Handles w->stop after the wave ran. */
void workgroup_account(struct workgroup *g, const struct wave *w);

/* Writes the constant parts of a wave's scalar file (S_COUNT dwords), and clears the rest. */
void write_constants(uint32_t *s);

/* Address of an instruction, and the instruction at an address (NULL: not in the code). */
uint64_t code_address(const struct wave *w, const struct inst *i);
const struct inst *code_at(const struct wave *w, uint64_t address);

/* A wave's position, for reports: "PTX line ..., at +0x..., block (...) thread (...)". */
void wave_place(const struct wave *w, const struct inst *i, int lane, char *text, size_t size);
/* Records the run's first fault. */
void run_fault(struct run *run, enum fault_kind kind, const char *text);
const char *fault_kind_name(enum fault_kind kind);

uint64_t clock_nanoseconds(void);
#endif
