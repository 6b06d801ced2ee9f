/* How each instruction of a block is executed, and in which group (native_plan.c). */
#ifndef PTX2AMD_VGPU_NATIVE_PLAN_H
#define PTX2AMD_VGPU_NATIVE_PLAN_H

#include "native_emit.h"

enum kind { KIND_CALL, KIND_NOTHING, KIND_SEQUENCE, KIND_PAIR, KIND_MEMORY, KIND_COMPARE_EXEC, KIND_BRANCH, KIND_JUMP, KIND_END };
bool native_is_vector(unsigned kind);
enum kind native_kind(const struct inst *i);
/* Branches by dwords from the next instruction. */
bool native_is_relative(const struct inst *i);
bool native_writes_exec(const struct inst *i);

/* Condition of a branch: compares the dwords at the scalar register with zero; taken if they are (not). */
struct branch { unsigned index; bool mask, taken_if_zero; };
bool native_branch(const struct inst *i, struct branch *b);

struct step { const struct inst *i; uint8_t kind; uint16_t number, group; };
struct plan {
  struct step step[MAX_BLOCK];
  unsigned n, groups;
  bool unrolled;               /* its groups have no loops: each instruction handles all lanes before the next one */
  const struct inst *next;     /* the entry at which the block ends without a jump; NULL: its last instruction jumps */
};

/* The VGPR rows that an instruction with machine code of its own reads or writes. */
void native_rows_of(const struct inst *i, enum kind kind, struct row_set *rows);
/* Those that it writes. */
void native_rows_written(const struct inst *i, enum kind kind, struct row_set *rows);
/* The scalar registers that a vector step reads or writes, and those that it writes. */
struct scalar_set { uint64_t bits[(S_COUNT + 63) / 64]; };
void native_scalars_of(const struct step *s, struct scalar_set *used, struct scalar_set *written);
/* Whether the registers of all lanes fit at once; used by native_arrange. */
bool native_unrolls(const struct plan *p, unsigned lanes);
/* Puts a block's steps into groups, which are executed one after the other: calls of a group precede its loop. */
void native_arrange(struct plan *p, unsigned lanes);
/* Scalar sources that overlap the lane mask written by the instruction: later chunks of lanes read copies. */
void native_shadow_sources(struct compiler *c, const struct inst *i);

/* The handler of a decoded entry, even if it has been replaced. */
handler_fn native_own_handler(const struct native *n, const struct inst *entries, const struct inst *i);
/* The whole block (native_block.c). */
void native_block_emit(struct compiler *c, const struct native *n, const struct plan *p);
#endif
