/* Which instructions of a block are done how, and in which groups (native_plan.c). */
#ifndef PTX2AMD_VGPU_NATIVE_PLAN_H
#define PTX2AMD_VGPU_NATIVE_PLAN_H

#include "native_emit.h"

enum kind { KIND_CALL, KIND_NOTHING, KIND_SEQUENCE, KIND_PAIR, KIND_MEMORY, KIND_COMPARE_EXEC, KIND_BRANCH, KIND_JUMP, KIND_END };
bool native_is_vector(unsigned kind);
enum kind native_kind(const struct inst *i);
/* Branches by dwords from the next instruction. */
bool native_is_relative(const struct inst *i);
bool native_writes_exec(const struct inst *i);

/* Condition of a branch: compare the dwords at the scalar register with zero; taken if they are (not). */
struct branch { unsigned index; bool mask, taken_if_zero; };
bool native_branch(const struct inst *i, struct branch *b);

struct step { const struct inst *i; uint8_t kind; uint16_t number, group; };
struct plan {
  struct step step[MAX_BLOCK];
  unsigned n, groups;
  bool unrolled;               /* its groups have no loops: each instruction does all lanes before the next one */
  const struct inst *next;     /* where the block ends without a jump; NULL: its last instruction jumps */
};

/* The VGPR rows that an instruction with machine code of its own reads or writes. */
void native_rows_of(const struct inst *i, enum kind kind, struct row_set *rows);
/* Whether the registers of all lanes have room at once; native_arrange goes by it. */
bool native_unrolls(const struct plan *p, unsigned lanes);
/* Puts a block's steps into groups, which are done one after the other: calls of a group come before its loop. */
void native_arrange(struct plan *p, unsigned lanes);
/* Scalar sources that the lane mask which the instruction writes covers: later chunks of lanes read copies. */
void native_shadow_sources(struct compiler *c, const struct inst *i);

/* The handler of a decoded entry, whatever replaces it. */
handler_fn native_own_handler(const struct native *n, const struct inst *entries, const struct inst *i);
/* The whole block (native_block.c). */
void native_block_emit(struct compiler *c, const struct native *n, const struct plan *p);
#endif
