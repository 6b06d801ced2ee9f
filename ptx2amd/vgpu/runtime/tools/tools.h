/* memcheck, racecheck and profile: every instruction passes through tools_observe before its handler. Off, they cost
 * nothing: instructions are decoded to their handlers. Switched on for the process by the environment. */
#ifndef PTX2AMD_VGPU_TOOLS_H
#define PTX2AMD_VGPU_TOOLS_H

#include "memory.h"
#include "state.h"

enum access_space { SPACE_NONE, SPACE_GLOBAL, SPACE_FLAT, SPACE_SCRATCH, SPACE_LDS, SPACE_LDS2, SPACE_SCALAR };
enum access_how { ACCESS_READS = 1, ACCESS_WRITES = 2, ACCESS_ATOMIC = 4, ACCESS_HIGH = 8 /* half of the data register */ };

struct access_info {
  uint8_t space, bytes, how;
  uint16_t unit;               /* scale of two-address LDS instructions' offsets, bytes */
};
extern const struct access_info access_table[];   /* by op_info.id; generated */

/* weak: the seed of the weak-memory mode (weak.h), 0: off. */
struct tools { bool memcheck, racecheck, profile, any; uint64_t weak; };
/* Determined at the first call. */
const struct tools *tools(void);

const struct inst *tools_observe(struct wave *w, const struct inst *i);

/* A workgroup's state in the tools: created when it starts, notified of its barriers, merged when it ends. */
struct group_shadow;
bool tools_group_start(struct workgroup *g);
void tools_group_barrier(struct workgroup *g);
void tools_group_end(struct workgroup *g);
void tools_group_free(struct workgroup *g);

/* --- reports (tools.c) --- */

/* One finding of a tool; findings of the same kind at the same instruction are counted and printed once. */
void tools_report(struct wave *w, const struct inst *i, int lane, const char *tool, const char *kind, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Whether the instruction belongs to the translator's own code (copies of arguments, including padding). */
bool tools_helper(const struct wave *w, const struct inst *i);
/* Whether it is one load or store of PTX, or a part of one, not merged with others. */
bool tools_apart(const struct wave *w, const struct inst *i);
/* A dispatch ended with a fault that has been reported already. */
void tools_fault(void);

/* --- memcheck (memcheck.c, shadow.c) --- */

/* A lane reads or writes `bytes` at an address of a space: SPACE_GLOBAL, SPACE_LDS, SPACE_SCRATCH. False: a fault was
 * raised. */
bool memcheck_access(struct wave *w, const struct inst *i, unsigned lane, enum access_space space, uint64_t address,
                     unsigned bytes, unsigned how);
void memcheck_scalar(struct wave *w, const struct inst *i, uint64_t address, unsigned bytes);

/* Shadow of global memory, a bit per byte: not written yet. */
void shadow_mark(uint64_t address, uint64_t size, bool unwritten);
void shadow_copy(uint64_t to, uint64_t from, uint64_t size);
bool shadow_unwritten(uint64_t address, unsigned size);   /* all of the bytes */

/* --- racecheck (racecheck.c) --- */

struct race;
struct race *race_new(uint32_t lds_bytes);
void race_free(struct race *race);
void race_start(struct race *race);
void race_barrier(struct race *race);
void race_atomic(struct race *race, unsigned warp);
/* True: the access races with another one, which `text` describes. value: the written value. */
bool race_access(struct race *race, unsigned warp, uint32_t offset, unsigned bytes, unsigned how, const uint8_t *value,
                 char *text, size_t size);

/* Whether an access by `other`, at that time of its clock, is ordered before the current access of `warp`. */
bool race_ordered(const struct race *race, unsigned warp, unsigned other, uint32_t time);
uint32_t race_clock(const struct race *race, unsigned warp);

/* --- racecheck of global memory (racecheck_global.c) --- */

struct race_run;               /* a launch's */
struct race_run *race_run_new(uint64_t groups);
void race_run_free(struct race_run *r);
/* True: the access races with another one, which `text` describes. value: the written value. */
bool race_global(struct wave *w, unsigned warp, uint64_t address, unsigned bytes, unsigned how, const uint8_t *value,
                 char *text, size_t size);
/* Before and after an operation of the wave that orders its workgroup with others. */
void race_global_order(struct wave *w);
void race_global_done(struct wave *w);
/* Bytes of memory that were not checked, for lack of space. */
uint64_t race_unseen(void);

/* --- profile (profile.c) --- */

struct profile_counts;
struct profile_counts *profile_new(void);
void profile_count(struct profile_counts *c, const struct wave *w, const struct inst *i);
void profile_lanes(struct profile_counts *c, enum access_space space, const uint64_t *address, uint64_t lanes, unsigned bytes);
void profile_merge(struct profile_counts *c, const struct run *run);
void profile_dispatch(const struct run *run);   /* at the end of one */

struct group_shadow {
  uint8_t *lds, *scratch;      /* a byte per byte: 1 = not written yet */
  size_t lds_size, scratch_size;
  struct race *race;
  bool orders;                 /* the current instruction: race_global_order */
  struct profile_counts *counts;
};
#endif
