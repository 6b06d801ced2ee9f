/* Translation of hot code to x86-64 with AVX-512 or AVX2 (native_machine.h).
 *
 * Blocks are straight-line code that begins where control flow arrives (a kernel's entry, targets of branches, the code
 * after them). A block that has been entered often enough is translated: its first entry's handler becomes machine code
 * with a handler's signature, which executes all instructions of the block and returns the next one. Vector
 * instructions with a sequence (isa/native.py) are combined into groups; a group is a loop over chunks of 16 or 8 lanes,
 * in which registers stay in ZMM or YMM registers from one instruction to the next. All other instructions are calls of their
 * handlers.
 *
 * Each block has two versions: for waves with all lanes active, and with writes masked by EXEC. */
#ifndef PTX2AMD_VGPU_NATIVE_H
#define PTX2AMD_VGPU_NATIVE_H

#include "native_ops.h"
#include "wave.h"

struct x86_info { uint8_t map, prefix, wide, opcode, shape; };
struct native_step { uint8_t op, dst, a, b, mask, imm; uint64_t constant; };
enum native_flag {
  NATIVE_IEEE_OFF = 1,      /* the sequence requires that MODE's IEEE bit is off */
  NATIVE_INDEX_OFF = 2,     /* ... that GFX9's register index mode is off */
  NATIVE_PURE = 4,          /* a scalar instruction without side effects */
  NATIVE_NOTHING = 8,       /* nothing to do */
  NATIVE_WRITES_EXEC = 16,
  NATIVE_WIDE = 32,         /* the sequence is for half a chunk with 64-bit values; MODE must be the same for f32 and f64 */
  NATIVE_READS_VCC = 64,
  NATIVE_HALF = 128,        /* MODE must be the same for f32 and f16, with f16 denormals */
};
enum native_space { MEMORY_NONE, MEMORY_GLOBAL, MEMORY_LDS, MEMORY_SCRATCH, MEMORY_SPACES };
enum native_kind {
  MEMORY_B32, MEMORY_B64, MEMORY_B96, MEMORY_B128, MEMORY_U8, MEMORY_I8, MEMORY_U16, MEMORY_I16, MEMORY_B8, MEMORY_B16
};
struct native_memory { uint8_t space, store, kind; uint16_t unit; /* for two-address offsets; 0: one address */ };
/* Scalar instructions that become machine code. inverted: uses the complement of the second operand; for comparisons
 * and selections: unsigned, and `wide` is the relation (eq lg gt ge lt le). For MULTIPLY_HIGH: signed. */
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
/* Computes in C the lanes in frame->lanes that a sequence does not handle. Returns 1. */
typedef uint64_t native_slow_fn(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v, struct native_site *s);
struct native_steps { uint16_t first, count; };
struct native_row {
  struct native_steps steps[2];   /* AVX-512, AVX2 (isa/native_avx2.py); count 0: none */
  uint8_t flags, scalar_dwords;   /* of a scalar load */
  struct native_memory memory;
  struct native_scalar scalar;
  native_slow_fn *slow;     /* handles the lanes for which the sequence sets SLOW */
};

extern const struct x86_info x86_table[];
extern const struct native_step native_steps[];
extern const struct native_row native_rows[];

/* An allocation, or the part of it with a common high dword, as found by an instruction: accesses from lo to last
 * (inclusive) are inside. */
struct native_site { uint64_t lo, last; };
/* A workgroup's sites, which instructions share by number: from SCALAR_SITES on those of scalar loads. */
enum { SCALAR_SITES = 384, NATIVE_SITES = SCALAR_SITES + 5 * 16 };

struct run;
struct code;
struct view;
struct native;                /* the translated blocks of a view of code */

/* Records that control flow arrives at entry `at`. Called with the code's lock held. */
void native_leader(struct view *view, size_t at);
/* The same for a kernel's entry. Without the lock. */
void native_begin(struct view *view, size_t at);
/* The handler to store for entry `at`, which was just decoded as i (handler: its own). With the lock held. */
handler_fn native_handler(struct view *view, size_t at, const struct inst *i, handler_fn handler);
/* An entry's own handler if a block begins at it. */
handler_fn native_original(const struct run *run, const struct inst *i);
void native_free(struct native *native);
/* Groups (native_registers.c) and the sequences in them (native_sequence.c). */
struct compiler;
void native_group_begin(struct compiler *c);
void native_group_end(struct compiler *c);
/* Whether the machine has a sequence that implements the instruction completely. */
bool native_sequence_known(const struct inst *i);
void native_sequence_emit(struct compiler *c, const struct inst *i);
/* VOPD: both halves read before either writes. */
void native_pair_emit(struct compiler *c, const struct inst *i);
/* Counter for calls of the instruction's handler; NULL: not counted (native_report.c). With a code's lock held. */
uint64_t *native_call_counter(const struct inst *i);
/* Whether this processor supports it and the options enable it. */
bool native_wanted(void);
#endif
