/* Translation of hot code to x86-64 with AVX-512.
 *
 * Blocks are straight runs of instructions that begin where control flow arrives (a kernel's entry, targets of
 * branches, what follows them). A block that was entered often enough is translated: its first entry's handler becomes
 * machine code with a handler's signature, which does all its instructions and returns the next one. Vector
 * instructions with a sequence (isa/native.py) are put together into groups; a group is a loop over chunks of 16 lanes,
 * in which registers stay in ZMM registers from one instruction to the next. Everything else is a call of its handler.
 *
 * Each block has two versions: for waves with all lanes active, and with writes masked by EXEC. */
#ifndef PTX2AMD_VGPU_NATIVE_H
#define PTX2AMD_VGPU_NATIVE_H

#include "native_ops.h"
#include "wave.h"

struct x86_info { uint8_t map, prefix, wide, opcode, shape; };
struct native_step { uint8_t op, dst, a, b, mask, imm; uint64_t constant; };
enum native_flag {
  NATIVE_IEEE_OFF = 1,      /* the sequence needs MODE's IEEE bit off */
  NATIVE_INDEX_OFF = 2,     /* ... GFX9's register index mode off */
  NATIVE_PURE = 4,          /* a scalar instruction that only computes */
  NATIVE_NOTHING = 8,       /* nothing to do */
  NATIVE_WRITES_EXEC = 16,
  NATIVE_WIDE = 32,         /* the sequence is for 8 lanes with 64-bit values; MODE is the same for f32 and f64 */
  NATIVE_READS_VCC = 64,
  NATIVE_HALF = 128,        /* MODE is the same for f32 and f16, and f16 has denormals */
};
enum native_space { MEMORY_NONE, MEMORY_GLOBAL, MEMORY_LDS, MEMORY_SCRATCH, MEMORY_SPACES };
enum native_kind {
  MEMORY_B32, MEMORY_B64, MEMORY_B96, MEMORY_B128, MEMORY_U8, MEMORY_I8, MEMORY_U16, MEMORY_I16, MEMORY_B8, MEMORY_B16
};
struct native_memory { uint8_t space, store, kind; uint16_t unit; /* of two-address offsets; 0: one address */ };
/* Scalar instructions that become machine code. inverted: the second operand's complement; of comparisons and choices:
 * unsigned, and `wide` is the relation (eq lg gt ge lt le). Of MULTIPLY_HIGH: signed. */
enum native_scalar_how {
  SCALAR_NONE, SCALAR_MOVE, SCALAR_MOVE_IMMEDIATE, SCALAR_ADD, SCALAR_ADD_SIGNED, SCALAR_ADD_CARRY, SCALAR_SUB,
  SCALAR_SUB_SIGNED, SCALAR_SUB_BORROW, SCALAR_AND, SCALAR_OR, SCALAR_XOR, SCALAR_SHIFT_LEFT, SCALAR_SHIFT_RIGHT,
  SCALAR_SHIFT_SIGNED, SCALAR_MULTIPLY, SCALAR_COMPARE, SCALAR_SELECT, SCALAR_SAVE_AND, SCALAR_SAVE_OR, SCALAR_SAVE_XOR,
  SCALAR_MULTIPLY_HIGH, SCALAR_NOT, SCALAR_ABSOLUTE, SCALAR_CHOOSE,
};
struct native_scalar { uint8_t how, wide, inverted; };
struct wave;
struct inst;
struct frame;
struct native_site;
/* What a sequence leaves to C: the lanes in frame->lanes. Returns 1. */
typedef uint64_t native_slow_fn(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v, struct native_site *s);
struct native_row {
  uint16_t first, count;
  uint8_t flags, scalar_dwords;   /* of a scalar load */
  struct native_memory memory;
  struct native_scalar scalar;
  native_slow_fn *slow;     /* does the lanes for which the sequence sets SLOW */
};

extern const struct x86_info x86_table[];
extern const struct native_step native_steps[];
extern const struct native_row native_rows[];

/* An allocation, or what of it has one high dword, as an instruction found it: accesses from lo to last (inclusive) are
 * inside. */
struct native_site { uint64_t lo, last; };
/* A workgroup's sites, which instructions share by number: from SCALAR_SITES on those of scalar loads. */
enum { SCALAR_SITES = 384, NATIVE_SITES = SCALAR_SITES + 5 * 16 };

struct run;
struct code;
struct view;
struct native;                /* the translated blocks of a view of code */

/* Notes that control flow arrives at entry `at`. Called with the code's lock held. */
void native_leader(struct view *view, size_t at);
/* The same for a kernel's entry. Without the lock. */
void native_begin(struct view *view, size_t at);
/* The handler to store for entry `at` that was just decoded as i (handler: its own). With the lock held. */
handler_fn native_handler(struct view *view, size_t at, const struct inst *i, handler_fn handler);
/* An entry's own handler where a block begins at it. */
handler_fn native_original(const struct run *run, const struct inst *i);
void native_free(struct native *native);
/* Groups (native_registers.c) and the sequences in them (native_sequence.c). */
struct compiler;
void native_group_begin(struct compiler *c);
void native_group_end(struct compiler *c);
bool native_sequence_known(const struct inst *i);
void native_sequence_emit(struct compiler *c, const struct inst *i);
/* VOPD: both halves read before either writes. */
void native_pair_emit(struct compiler *c, const struct inst *i);
/* Where calls of the instruction's handler are counted; NULL: they are not (native_report.c). With a code's lock held. */
uint64_t *native_call_counter(const struct inst *i);
/* Whether this processor and the options allow it. */
bool native_wanted(void);
#endif
