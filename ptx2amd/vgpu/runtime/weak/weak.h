/* The weak-memory mode: memory accesses of waves are performed as late, and in as many orders, as AMD's documentation
 * allows (LLVM's user guide for AMDGPU, "Memory Model"). When it is off, it costs one test per interpreted access.
 *
 * Vector memory operations of a wave enter queues of its compute unit (CU), one for each channel, in program order; a
 * channel performs its requests in order, channels are independent. A load is performed when it reads the CU's L0 cache
 * or the levels behind it, a store when it reaches L2. LDS operations of a wave are performed in order, at any time. A
 * wait performs the operations that it covers; results reach registers then, and an instruction that names one of these
 * registers earlier is reported. A seeded random number generator makes all choices. */
#ifndef PTX2AMD_VGPU_WEAK_H
#define PTX2AMD_VGPU_WEAK_H

#include "state.h"

/* --- the chip and its caches (weak_cache.c) --- */

/* CUs in pairs (WGPs) that share a scalar cache; four in a shader array with an L1 (gfx10 and later), or on a die with
 * an L2 (gfx94x, gfx950). Their number is small, so that workgroups share them. */
enum { WEAK_CUS = 8, WEAK_PARTS = 2, WEAK_CHANNELS = 32, WEAK_LINE = 64 };

struct weak_chip {
  const char *prefix;          /* of the architecture's name */
  bool middle;                 /* an L1 for each shader array */
  bool dies;                   /* an L2 for each part, not coherent with each other; otherwise there is one, equivalent
                                * to memory, except: */
  bool remote;                 /* it is not coherent with the host for coarse-grained memory of the host */
  bool scopes;                 /* instructions have a scope: sc0 and sc1, or gfx12's field */
  bool pairs;                  /* WGPs: in WGP mode a workgroup's waves run on both CUs */
};
/* The row for a chip, or NULL: the mode does not support it. */
const struct weak_chip *weak_chip(const char *arch);

/* Caches that a load does not read, or that a store writes through. */
enum weak_past { PAST_L0 = 1, PAST_MIDDLE = 2, PAST_L2 = 4 };
/* Levels from the instruction's bits: its scope, glc, dlc, sc0, sc1. */
unsigned weak_past(const struct weak_chip *chip, const struct inst *i, bool store);
/* The scope of the instruction: 0 wave or CU, 1 workgroup, 2 agent, 3 system. */
unsigned weak_scope(const struct inst *i);

enum weak_access { WEAK_LOAD, WEAK_STORE, WEAK_UPDATE };
/* cached: the memory is in an L2 that is not equivalent to memory. */
bool cache_has(const struct weak_chip *chip, uint64_t address);
void cache_load(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, unsigned past, bool cached,
                uint8_t *data);
void cache_store(const struct weak_chip *chip, unsigned cu, uint64_t line, uint64_t mask, unsigned past, bool cached,
                 const uint8_t *data);
/* Before and after an update of memory itself. */
void cache_update(const struct weak_chip *chip, unsigned cu, uint64_t line);
uint32_t cache_scalar(const struct weak_chip *chip, unsigned cu, uint64_t address, bool cached);
void cache_drop_l0(unsigned cu);
void cache_drop_middle(unsigned cu);
void cache_drop_scalar(unsigned cu);
void cache_drop_l2(const struct weak_chip *chip, unsigned cu);     /* what is not dirty */
void cache_write_back(const struct weak_chip *chip, unsigned cu);  /* the L2 */
void cache_evict(unsigned cu);            /* a few lines, at random; in some dispatches none */
void cache_reset(void);                   /* all: write back and drop */
/* A number for the line, with random upper bits. */
uint64_t weak_hash(uint64_t line);

/* --- operations in flight (weak_queue.c) --- */

/* A load, store or update of one kind; of LDS, or of global memory. */
struct weak_part {
  _Alignas(64) uint32_t rows[6][64];   /* loads: 16 bytes for each lane; stores: data; updates: result, data, data2 */
  struct weak_part *next;      /* of its operation */
  struct weak_part *after;     /* in the wave's queue of LDS operations */
  struct weak_op *op;
  const struct build *build;
  struct inst inst;
  uint64_t p[64], lanes;
  enum weak_access access;
  uint8_t kind, bits, bytes;   /* kind: enum load_kind, store_kind or atomic_op */
  bool returns, lds;
  bool elements;               /* 16 bytes of rows for each (weak_element.c), not registers */
};

enum weak_counter { COUNT_VM, COUNT_VS, COUNT_LGKM, COUNT_KM, COUNT_SAMPLE, COUNT_BVH, COUNTERS };
/* Classes that complete in order; CLASS_FLAT (on GFX9; on later chips flat operations count as vector and LDS
 * operations) and CLASS_SCALAR do not. */
enum weak_class { CLASS_VECTOR, CLASS_STORE, CLASS_SAMPLE, CLASS_LDS, CLASS_FLAT, CLASS_SCALAR, CLASSES };

struct weak_op {
  struct weak_op *older, *younger;   /* of the wave's */
  struct wave *wave;                 /* NULL: the wave has ended or no longer needs it */
  const struct weak_chip *chip;
  struct weak_part *parts;
  const struct inst *at;
  unsigned cu, requests, lds;        /* not yet performed */
  uint32_t channels;                 /* the channels that received its requests */
  uint8_t counts, need;              /* bit per counter: not yet waited for; those that the result depends on */
  uint8_t class;
  bool flat;                         /* of both kinds, and in order */
  bool writes_back;                  /* the L2, after all operations before it */
  bool pending;                      /* its registers are marked */
  struct weak_saved *saved;          /* a load whose handler runs again when it completes */
  char file;                         /* 'v', 'a', 's', or 0 */
  uint16_t first, n;
  uint32_t last[WEAK_CHANNELS];      /* the number of its last request in each channel */
};

struct weak_wave {
  struct weak_op *oldest, *youngest, *now;
  struct weak_part *lds_head, *lds_tail;
  const struct weak_chip *chip;
  unsigned cu, pending, length;      /* registers marked; operations outstanding */
  uint8_t rest;                      /* turns for which it stays at a wait */
  struct weak_part *filling;         /* receives elements; their number */
  unsigned filled;
  bool again;                        /* a handler that runs again */
  uint8_t v[512], s[128];            /* number of operations that will write the register */
  uint8_t v_class[512], s_class[128];
};

struct weak_part *weak_part_new(void);
struct weak_op *weak_op_new(struct wave *w, const struct inst *i);
/* Splits the access into requests, or appends it to the wave's LDS queue. */
void weak_enter(struct weak_part *part);
void weak_perform(struct weak_op *op);
/* Detaches the operation from the wave; retire: it has been performed, and its result is in the registers. */
void weak_leave(struct weak_op *op);
void weak_retire(struct weak_op *op);
/* Delivers complete results. */
void weak_deliver(struct weak_op *op);
void weak_lds(struct wave *w, unsigned most);   /* performs the oldest LDS operations */
void weak_drain_cu(unsigned cu);
void weak_drain_all(void);
/* Lets some time pass. */
void weak_tick(struct wave *w);
/* Whether the wave stays at a wait for now, while some of what is under way is performed, and others have their turn. */
bool weak_linger(struct wave *w);

/* --- elements (weak_element.c) --- */

/* Before the handler of a load runs: what it needs to run again. */
void weak_save(struct wave *w, struct weak_op *op, handler_fn real);
void weak_replay(struct weak_op *op);
void weak_forget(struct weak_op *op);
/* After the handler: the rest of its elements. */
void weak_fill_end(struct wave *w);

/* --- waits and registers (weak_wait.c) --- */

enum weak_wait {
  WAIT_NONE, WAIT_LEGACY, WAIT_VMCNT, WAIT_VSCNT, WAIT_LGKMCNT, WAIT_LOADCNT, WAIT_STORECNT, WAIT_SAMPLECNT, WAIT_BVHCNT,
  WAIT_DSCNT, WAIT_KMCNT, WAIT_LOADCNT_DSCNT, WAIT_STORECNT_DSCNT, WAIT_IDLE,
};
void weak_wait(struct wave *w, const struct inst *i, enum weak_wait what);
void weak_mark(struct weak_op *op);
void weak_unmark(struct weak_op *op);
/* Reports registers of the instruction that still wait for a load's result. class: of the instruction's own result. */
void weak_check(struct wave *w, const struct inst *i, unsigned class);

/* --- instructions (weak.c) --- */

enum weak_what {
  WEAK_OTHER, WEAK_VECTOR, WEAK_FLAT, WEAK_SCRATCH, WEAK_LDS, WEAK_SCALAR, WEAK_IMAGE,
  WEAK_EXCHANGE,     /* between lanes, using the LDS counter */
  WEAK_MESSAGE,      /* a result that uses the scalar counter */
  WEAK_WAITS, WEAK_CACHE,
};
enum weak_control {
  CONTROL_NONE, CONTROL_L0, CONTROL_MIDDLE, CONTROL_SCALAR, CONTROL_SCOPE, CONTROL_WRITE_BACK, CONTROL_BOTH,
};
/* How the handler accesses memory. */
enum weak_how {
  HOW_LANES,           /* by functions that defer accesses of all lanes (vmem/weak_lanes.c) */
  HOW_LOADS, HOW_STORES,   /* by elements (element.h) */
  HOW_NOW,             /* this mode performs it at once */
};
struct weak_info {
  uint8_t what, sub;   /* sub: enum weak_wait or weak_control */
  uint8_t how;
};
extern const struct weak_info weak_table[];   /* by op_info.id; generated */

bool weak_on(void);
void weak_lock(void);
void weak_unlock(void);
/* A number below n. */
unsigned weak_below(unsigned n);
bool weak_chance(unsigned in);

const struct inst *weak_step(struct wave *w, const struct inst *i, handler_fn real);
/* A load, store or update by a handler, at the lanes' addresses. False: the caller performs it now. */
bool weak_take_load(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned kind, unsigned bytes);
bool weak_take_store(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned kind, unsigned bytes);
bool weak_take_update(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned op, unsigned bits,
                      bool returns, unsigned data, unsigned data2);

/* --- dispatches (weak_run.c) --- */

void weak_run_begin(void);
void weak_run_end(void);
/* False: out of memory. */
bool weak_group_start(struct workgroup *g);
void weak_group_free(struct workgroup *g);
/* For a run that a fault ended: discards its waves' operations in flight. */
void weak_group_end(struct workgroup *g);
/* The workgroup of n that runs next. */
unsigned weak_turn(unsigned n);
enum group_state weak_group_run(struct workgroup *g);
#endif
