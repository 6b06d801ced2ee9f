/* What the parts of the translator share: the state of one block's translation.
 *
 * Registers of the machine code: rbx  the wave's VGPRs, at the chunk of lanes in work
 *                                r12  the wave's scalar file, moved so that a lane mask's bits are at its number
 *                                     (unrolled: rbx and r12 stay at the first chunk, displacements say which)
 *                                r13  the wave        r14  where rbx ends          r15  the workgroup's sites
 *                                rbp  LDS             rsp  struct frame
 *                                AVX-512: k1  the chunk's bits of EXEC (masked versions)   k7  odd lanes
 *                                AVX2: ymm15  the chunk's lanes of EXEC (masked versions)
 *                                the rest of k, zmm or ymm, rax, rcx, rdx, rsi, rdi, r8-r11: of the moment */
#ifndef PTX2AMD_VGPU_NATIVE_EMIT_H
#define PTX2AMD_VGPU_NATIVE_EMIT_H

#include "native.h"
#include "ops.h"
#include "state.h"
#include "x86.h"

enum { MAX_SHADOWS = 8, MAX_MASKS = 8, LINEAR_NODES = 64, LINEAR_ACCESSES = 32 };
/* The machine code's stack frame. */
struct frame {
  union { uint64_t address[16]; uint32_t offset[32]; };   /* of an access done in C: the lanes' data */
  uint32_t data[4][16];
  uint64_t lanes;               /* active lanes */
  struct { uint32_t first, pattern; } slot[8];   /* LDS addresses analysed in this chunk */
  uint64_t shadow[MAX_SHADOWS]; /* scalar sources with their values before the group */
  uint32_t linear[2 * LINEAR_NODES], carry[LINEAR_NODES];   /* native_linear.h: the first lane's */
  uint64_t base[LINEAR_ACCESSES];   /* addresses less what is added for a chunk */
  uint64_t caller_rsp;
  uint16_t k[8];
  _Alignas(64) uint8_t zmm[32][64];
};
enum { FRAME_BYTES = (sizeof(struct frame) + 63) & ~63u };
#define FRAME(field) mem(RSP, (int32_t)offsetof(struct frame, field))
#define WAVE(field) mem(R13, (int32_t)offsetof(struct wave, field))
#define SCALAR(index) mem(R13, (int32_t)(offsetof(struct wave, s) + 4 * (size_t)(index)))

enum { K_EXEC = 1, K_FIRST = 2, K_LAST = 6, K_ODD = 7, VECTORS = 32, MAX_BLOCK = 256, MAX_JUMPS = 2048, MAX_FALLBACKS = 8 };
/* What a vector register holds: a VGPR row (its number), or what these say. KEY_WIDE: rows r and r + 1 as the 64-bit
 * values of half the lanes (+ 2 * r + half); when one half is dirty both are there, and the rows are not held. Rows and
 * lane masks are a chunk's: its number stands above theirs. */
enum {
  KEY_FREE = -1, KEY_TEMPORARY = -2, KEY_SCALAR = 0x2000, KEY_SCALAR64 = 0x2800, KEY_CONSTANT = 0x3000, KEY_CONSTANT64,
  KEY_TABLE = 0x3800, KEY_WIDE = 0x4000, KEY_MASK = 0x8000, ROW_BITS = 10
};
_Static_assert(VGPR_ROWS <= 1 << ROW_BITS && S_COUNT <= 1 << ROW_BITS && 8 << ROW_BITS <= KEY_SCALAR, "keys do not meet");

struct row_set { uint64_t bits[(VGPR_ROWS + 63) / 64]; };
static inline void add_row(struct row_set *s, unsigned row) { if (row < VGPR_ROWS) s->bits[row / 64] |= UINT64_C(1) << row % 64; }
static inline bool has_row(const struct row_set *s, unsigned row) { return s->bits[row / 64] >> row % 64 & 1; }

struct held { int key; uint32_t used; uint64_t constant; bool dirty, pinned; };

/* Code out of the block's main path. */
struct compiler;
struct detour {
  void (*emit)(struct compiler *c, const struct detour *d);
  jump from[6];
  unsigned n_from;
  uint8_t *back;
  const struct inst *i;
  const struct native_memory *memory;
  uint8_t z[8];
  uint8_t t[4];                 /* AVX2: temporaries */
  uint8_t n_data, k, pattern_slot, half, chunk;
  int32_t offset;
  uint32_t site;
  handler_fn handler;
};

struct exit { jump from; const struct inst *target; unsigned done; };

/* A run's ordinary code, for when an assumption about linear rows does not hold (native_linear.h). */
struct fallback {
  jump from[160];
  unsigned n_from, group, last, step, n_sites;
  uint8_t *back;
};

struct vector_machine;
struct linear;
struct compiler {
  struct x86 x;
  const struct vector_machine *machine;
  const struct build *build;
  const struct inst *entries;
  unsigned lanes;
  int32_t row_bytes;
  bool masked;
  bool unrolled;                /* a group has no loop: each instruction is emitted once for each chunk */
  unsigned chunk;               /* the current one of these; in loops 0 */
  const struct row_set *live;   /* rows that are read after the group; NULL: any */
  struct held z[VECTORS], k[8];
  uint32_t clock;
  bool open;                    /* a group's loop has begun */
  uint8_t *loop;
  uint16_t shadow[MAX_SHADOWS]; /* scalar registers with a copy in the frame */
  unsigned n_shadows;
  uint16_t masks[MAX_MASKS];    /* lane masks that the group writes */
  unsigned n_masks;
  struct { int row; unsigned step; } slots[8];
  unsigned n_slots, n_sites;
  struct linear *linear;        /* of the current run; NULL: none */
  uint8_t guess[VGPR_ROWS];     /* linear_plan's */
  struct fallback fallbacks[MAX_FALLBACKS];
  unsigned n_fallbacks;
  struct detour detours[MAX_BLOCK * 4];
  unsigned n_detours;
  struct exit exits[MAX_BLOCK];
  unsigned n_exits;
  jump leaves[MAX_JUMPS];       /* jumps to the block's end with rax set */
  unsigned n_leaves;
  const uint8_t *access;        /* the code around calls of native_access */
};

/* A register's key for the current chunk. */
static inline int row_key(const struct compiler *c, unsigned row) { return (int)(c->chunk << ROW_BITS | row); }
/* The chunk's bits of a lane mask, and bytes from rbx to its part of a row. */
struct memory lane_mask(const struct compiler *c, unsigned index);
int32_t chunk_bytes(const struct compiler *c);

/* Registers. Everything obtained stays reserved until native_release. */
unsigned vec_temporary(struct compiler *c);
unsigned vec_row(struct compiler *c, unsigned row);
unsigned vec_scalar(struct compiler *c, unsigned index);
unsigned vec_const(struct compiler *c, uint32_t value);
unsigned vec_scalar64(struct compiler *c, unsigned index);
unsigned vec_const64(struct compiler *c, uint64_t value);
unsigned vec_table(struct compiler *c, unsigned table);   /* enum native_table */
/* Rows `row` and `row` + 1 as 64-bit values of one half of the lanes. */
unsigned vec_wide(struct compiler *c, unsigned row, unsigned half);
/* Mask registers: k, or vectors (native_machine.h). */
unsigned mask_temporary(struct compiler *c);
struct held *mask_held(struct compiler *c, unsigned k);
/* The chunk's lanes of a lane mask in the scalar file. */
unsigned mask_scalar(struct compiler *c, unsigned index);
/* The value of a row is now in z (a temporary): for all lanes, or for those of EXEC in masked versions. */
void commit_row(struct compiler *c, unsigned row, unsigned z);
/* The same for the lanes in mask register k (0: all). */
void commit_lanes(struct compiler *c, unsigned row, unsigned z, unsigned k);
/* The same for both halves of rows `row` and `row` + 1. */
void commit_wide(struct compiler *c, unsigned row, const unsigned z[2]);
/* The chunk's lanes of a lane mask are those of mask register k (a temporary), which holds it from here on. */
void commit_mask(struct compiler *c, unsigned index, unsigned k);
void native_release(struct compiler *c);
/* The register is not reserved any more. */
void vec_free(struct compiler *c, unsigned z);
/* To memory, if it has a row that was changed. */
void vec_write_back(struct compiler *c, unsigned z);
/* A chunk of a row in memory. */
struct memory row_at(const struct compiler *c, unsigned row, unsigned chunk);
/* Whether the register with the key has half of a row pair. */
bool key_is_wide(int key);
/* The k register with the key; -1: none. */
int mask_find(struct compiler *c, int key);
struct detour *detour_new(struct compiler *c, const struct inst *i);
/* Jump to the block's end; rax is the result. */
void leave(struct compiler *c, jump from);

/* Whether source k is a constant at translation time, and its low (0) or high (1) dword. */
bool native_constant(const struct inst *i, unsigned k, unsigned dword, uint32_t *value);
/* Contents of table_at(): the numbers 0, step, 2 * step ... by lane, indices for vpermi2d, bit l in lane l. */
enum native_table { TABLE_STEPS1 = 1, TABLE_STEPS2 = 2, TABLE_STEPS4 = 4, TABLE_STEPS8 = 8, TABLE_STEPS16 = 16, TABLE_EVEN,
                    TABLE_ODD, TABLE_LOW, TABLE_HIGH, TABLE_QUAD_LOW, TABLE_QUAD_HIGH, TABLE_FOURTH, TABLE_BITS = TABLE_FOURTH + 4, TABLES };
/* 16 dwords in memory. */
const uint32_t *table_at(unsigned table);
/* False: no native code for it; the handler must be called. */
bool native_scalar_emit(struct compiler *c, const struct inst *i);
bool native_scalar_load_emit(struct compiler *c, const struct inst *i, handler_fn handler);

bool native_memory_known(const struct inst *i);
void native_memory_emit(struct compiler *c, const struct inst *i);
/* The code around calls of C functions (address in rax) for unsupported cases, and such a call. */
void native_access_emit(struct x86 *x);
void native_access_call(struct compiler *c);
#endif
