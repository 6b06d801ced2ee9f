/* Rows that are linear in the lane: addresses of consecutive elements, and what is the same in all lanes. A row that
 * is computed from such rows needs two numbers, the first lane's and the distance between lanes; an access whose
 * addresses are linear needs one check for all lanes instead of one in each chunk.
 *
 * A *run* is a sequence of groups without calls between them. At its beginning the machine code computes the first
 * lanes' values and checks what was assumed: that rows are as they were when the block was translated, that carries
 * and upper dwords are the same in all lanes, that accesses are inside of their sites. If one does not hold, the run's
 * ordinary code is executed, which stands behind the block (struct fallback). With AVX2 only.
 *
 * In versions masked by EXEC the rows must be linear in the other lanes too, whose addresses must be inside of the sites:
 * both is usual where EXEC has just lost some lanes. */
#pragma once
#include "native_emit.h"
#include "native_plan.h"

enum { NO_VALUE = 255, NOT_LINEAR = 255, NO_STEP = 0xffff };
enum linear_op {
  LINEAR_ROOT, LINEAR_MOVE, LINEAR_ADD, LINEAR_SUBTRACT, LINEAR_SUBTRACT_FROM, LINEAR_ADD3, LINEAR_MULTIPLY, LINEAR_SHIFT,
  LINEAR_SHIFT_ADD, LINEAR_ADD_SHIFT, LINEAR_LOW_BITS, LINEAR_SIGN, LINEAR_SHIFT64, LINEAR_SHIFT_ADD64, LINEAR_ADD_CARRY,
  LINEAR_ADD_CARRIED, LINEAR_MULTIPLY_ADD64,
};
/* An instruction whose results are linear: value 2 * number is its (low) dword, 2 * number + 1 the high one, which is
 * the same in all lanes. */
struct linear_node {
  uint8_t op, stride;          /* of the low dword, from one lane to the next */
  bool high;                   /* there is a high dword */
  bool needed, straight;       /* straight: the low dword does not wrap around from the first lane to the last */
  uint8_t in[3][2];            /* values that are sources; NO_VALUE: not a VGPR */
  uint8_t carry;               /* the node whose carry it adds */
  uint16_t row, step;          /* NO_STEP: a root */
  const struct inst *i;
};
/* An access with linear addresses. */
struct linear_access { uint8_t low, high, stride; uint16_t step; uint32_t site; };

/* What linear_plan found for a run: steps from `first` to before `end`, in groups `group` to `last`. */
struct linear {
  const struct plan *p;
  unsigned first, end, group, last;
  struct linear_node node[LINEAR_NODES];
  unsigned n_nodes;
  struct linear_access access[LINEAR_ACCESSES];
  unsigned n_accesses;
  uint8_t at[VGPR_ROWS];       /* during the analysis: the value of a row, or NO_VALUE */
  bool written[VGPR_ROWS];
  uint8_t of_step[MAX_BLOCK];  /* the node, or NO_VALUE */
  uint8_t access_of[MAX_BLOCK];
  bool deferred[MAX_BLOCK];    /* no vector code: its rows come from the node */
  uint8_t held[VGPR_ROWS];     /* during emission: the value that a row has, or NO_VALUE: it is in memory */
  bool joined;                 /* all its groups are one loop: what they store does not overlap what others access */
  uint64_t moved[LINEAR_NODES / 32];   /* values that the group's loop advances by a chunk */
};

/* False: there is nothing to gain. guess: by row, the distance between lanes, or NOT_LINEAR; updated to the run's end. */
bool linear_plan(struct linear *l, const struct plan *p, unsigned group, unsigned last, unsigned first, unsigned end,
                 unsigned lanes, bool masked, uint8_t *guess);
/* The code before the run's first group. */
void linear_emit_checks(struct compiler *c, struct linear *l, struct fallback *f);
/* A step of the run: true if that is its code. open: in a group's loop. */
bool linear_emit(struct compiler *c, struct linear *l, unsigned step, bool open);
/* The value that a row has instead of its lanes in memory, or NO_VALUE. */
unsigned linear_held(const struct compiler *c, unsigned row);
/* A row has the value from here on. */
void linear_define(struct compiler *c, unsigned row, unsigned value, bool open);
/* Whether a row with a value is live, and the stores of the current chunk of those that are. */
bool linear_is_live(const struct compiler *c);
void linear_store(struct compiler *c);
static inline unsigned linear_stride(const struct linear *l, unsigned value) { return value % 2 ? 0 : l->node[value / 2].stride; }
/* For each row of a wave, its guess. */
void linear_sample(const struct wave *w, unsigned lanes, unsigned rows, uint8_t *guess);
