/* A vector machine: the registers and the operations in which AVX-512 (avx512_*.c) and AVX2 (avx2_*.c) differ. All else
 * of the translator is the same for both: blocks and their plan, what registers hold, sequences, sites of memory.
 *
 * A chunk of lanes fills a vector register. A value of 64 bits takes two, each one a half of the chunk: with AVX-512
 * lanes 0 to 7 and 8 to 15, with AVX2 lanes 0, 1, 4, 5 and 2, 3, 6, 7, which needs one instruction each way. A lane mask
 * is a k register with AVX-512; with AVX2 a vector register, in which active lanes are all ones. */
#pragma once
#include "native_emit.h"

struct sequence;
struct value;
struct vector_machine {
  uint8_t lanes;                /* of a chunk */
  uint8_t first, end;           /* the registers for values */
  uint8_t spare;                /* another one, which no value takes */
  uint8_t exec;                 /* the mask register with the chunk's lanes of EXEC, in masked versions */
  uint8_t room;                 /* unrolled groups: the most registers for the rows of all lanes */
  uint8_t sequences;            /* index of struct native_row's */
  bool vex;                     /* encoding; masks are in vector registers */

  void (*begin)(struct compiler *c);                                       /* of a group */
  void (*permute_wide)(struct compiler *c, unsigned to, unsigned half, unsigned low, unsigned high);
  void (*permute_narrow)(struct compiler *c, unsigned to, unsigned high, unsigned first, unsigned second);
  /* Dwords of a half, and of both, where instructions that widen and narrow have them: at the register's start. */
  unsigned (*split)(struct compiler *c, unsigned from, unsigned half);
  void (*join)(struct compiler *c, unsigned to, unsigned first, unsigned second);
  /* to = from in the mask's lanes. wide: of a half. */
  void (*merge)(struct compiler *c, unsigned to, unsigned from, unsigned mask, bool wide);

  void (*mask_load)(struct compiler *c, unsigned to, struct memory at, bool wide);   /* from bits */
  void (*mask_store)(struct compiler *c, struct memory at, unsigned from);
  void (*mask_bits)(struct compiler *c, enum gpr to, unsigned from, bool wide);      /* clears the rest */
  void (*mask_op)(struct compiler *c, unsigned op, unsigned to, unsigned a, unsigned b);   /* K_AND, K_OR */
  void (*mask_any)(struct compiler *c, unsigned mask, bool wide);          /* CC_NE: a lane is active */
  unsigned (*mask_half)(struct compiler *c, unsigned mask, unsigned half);
  void (*mask_join)(struct compiler *c, unsigned to, unsigned first, unsigned second);

  /* A step of a sequence that is neither folded nor a copy; b may be NULL, mask 0. */
  void (*step)(struct compiler *c, struct sequence *s, const struct native_step *step, struct value *to, struct value *a,
               struct value *b, unsigned mask);
  void (*global)(struct compiler *c, const struct inst *i, const struct native_memory *m);
  void (*lds)(struct compiler *c, const struct inst *i, const struct native_memory *m);
  void (*scratch)(struct compiler *c, const struct inst *i, const struct native_memory *m);
  void (*save)(struct x86 *x, int32_t frame, bool restore);                /* all registers, to [rsp + frame] */
};
extern const struct vector_machine avx512_machine, avx2_machine;
/* This processor's; NULL: none. */
const struct vector_machine *native_machine(void);
