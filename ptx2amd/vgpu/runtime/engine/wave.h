/* The state of one wave and the form of a decoded instruction, as used by instruction handlers.
 *
 * Everything that includes this file with W defined is compiled once per wave width (W = 32, 64) and per x86-64 level;
 * VG(name) gives a global symbol its own name in each build. */
#ifndef PTX2AMD_VGPU_WAVE_H
#define PTX2AMD_VGPU_WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inst;
struct wave;
struct workgroup;

/* Handlers return the next instruction (NEXT(i) below), or NULL to leave the wave loop (end, barrier, fault: then
 * wave->stop has the reason). */
typedef const struct inst *(*handler_fn)(struct wave *w, const struct inst *i);

/* Where an operand lives.
 *   VGPR     row src[k] of wave->v (0..255 v registers, 256..511 accumulation registers)
 *   SCALAR   wave->s[src[k]]: SGPRs, VCC, TTMP, M0, EXEC, SCC, inline constants, apertures. Constants are
 *            stored as the 64-bit pair of their operand's type, so s[n], s[n+1] is right for every width
 *   LITERAL  inst->literal[0..1], already extended to 64 bits as the operand's type demands
 *   SPECIAL  src[k] is the hardware operand code: 251 VCCZ, 252 EXECZ
 *   NONE     the operand is absent (saddr off, ...) */
enum operand_kind { OPERAND_VGPR, OPERAND_SCALAR, OPERAND_LITERAL, OPERAND_SPECIAL, OPERAND_NONE };

/* Second half of instructions that do not fit into struct inst. */
enum { IMAGE_ADDRESSES = 13 };   /* maximum number of dwords of an address */
struct inst_ext {
  uint8_t kind;          /* enum ext_kind */
  struct {               /* EXT_IMAGE: VGPRs of the address's dwords, of which n_address are always read; ... */
    uint8_t address[IMAGE_ADDRESSES], n_address, n_data, dmask, dim;
    bool unorm, a16, d16, tfe, array;
  } image;
  uint8_t dpp_fi, dpp_bound, dpp_row_mask, dpp_bank_mask;
  uint16_t dpp_ctrl;     /* 9 bits */
  uint8_t dpp8[8];       /* EXT_DPP8: source lane in the group of 8 */
  uint8_t sdwa_dst_sel, sdwa_dst_unused, sdwa_sel[2], sdwa_sext[2]; /* selectors: 0-3 byte, 4-5 word, 6 dword */
  struct inst *x, *y;    /* EXT_VOPD: the two operations, which read all sources before either writes;
                            EXT_SCALES: x has an MFMA's scales as its sources */
};
enum ext_kind { EXT_NONE, EXT_DPP16, EXT_DPP8, EXT_SDWA, EXT_VOPD, EXT_SCALES, EXT_IMAGE };

/* Facts about an instruction from the tables. */
struct op_info {
  const char *name;      /* mnemonic of this generation */
  uint16_t id;           /* index in the handler tables */
  uint8_t format;        /* enum inst_format of the generated decoder */
  uint8_t n_src;
  uint8_t src_type[4], dst_type, dst2_type; /* enum operand_type (generated from ptx2amd/vgpu/isa/op.py) */
  uint8_t src_role[4];   /* enum src_role: the field the source comes from */
  uint8_t fixed;         /* bit k: source k is VCC in the short form; bits 4, 5: so is dst, dst2;
                            bit 6: dst is EXEC in every form */
  uint8_t accumulation;  /* bit k: source k is always an accumulation register; bit 4: so is dst */
  uint8_t scalar_dst;    /* dst is an index into wave->s */
  uint8_t scaled;        /* an MFMA that may be preceded by scales */
  uint8_t traits;        /* bits of enum op_trait */
  uint8_t generation;    /* 0 gfx9, 1 gfx10, 2 gfx11, 3 gfx12 */
  uint16_t image;        /* bits of enum image_flag */
  uint8_t bytes;         /* size of the element that a memory instruction accesses; 0: not known */
};
/* Parts of an image instruction's address besides coordinates, in this order (level and clamp follow). */
enum image_flag {
  IMAGE_OFFSET = 1, IMAGE_BIAS = 2, IMAGE_COMPARE = 4, IMAGE_GRAD = 8, IMAGE_LOD = 16, IMAGE_CLAMP = 32, IMAGE_MIP = 64,
  IMAGE_G16 = 128,       /* gradients are 16-bit floats */
  IMAGE_ZERO = 256,      /* level 0 */
  IMAGE_GATHER = 512,    /* one component of four texels */
  IMAGE_SAMPLED = 1024,  /* coordinates are floats */
  IMAGE_RESINFO = 2048,  /* no coordinates */
};
enum src_role { ROLE_A, ROLE_B, ROLE_C, ROLE_K };
enum op_trait {
  TRAIT_BRANCH = 1,      /* may set the program counter */
  TRAIT_MEMORY = 2,
  TRAIT_VALU = 4,
  TRAIT_SALU = 8,
  TRAIT_RELATIVE = 16,   /* branches by imm dwords from the next instruction */
};

/* A decoded instruction. Filled once per code address, read by every wave; an array entry per dword of code.
 *
 * Operand order is the assembler's. VALU: src[0..2], dst (VGPR row, or index into s for VOPC and readlane),
 * dst2 (carry out, index into s); VOPC and VOP2 carry forms without an explicit field name VCC. A NULL
 * destination is S_SINK.  Memory formats: see the comment at enum mem_src below. */
struct inst {
  handler_fn run;
  const struct op_info *op;
  const struct inst_ext *ext;   /* NULL for plain instructions */
  uint16_t src[4];
  uint16_t dst, dst2;
  uint8_t src_kind[4];          /* enum operand_kind */
  uint8_t neg, abs;             /* bit k: of source k (VOP3P: neg = neg_lo, abs unused) */
  uint8_t omod, clamp;
  uint8_t op_sel, op_sel_hi;    /* bit k of source k; VOP3: bit 3 of op_sel is the destination's */
  uint8_t neg_hi;
  uint8_t len;                  /* dwords of machine code, 1 to 5 */
  uint16_t flags;               /* enum inst_flag; MFMA: cbsz | abid << 3 | blgp << 7 */
  uint8_t scale;                /* memory: scale of a variable offset; 0: not scaled */
  uint8_t reserved;
  int32_t imm;                  /* SIMM16, byte offset, DS offset0 | offset1 << 8, ... */
  uint32_t literal[2];
};
_Static_assert(sizeof(struct inst) == 64, "one cache line");

/* Memory formats: sources by meaning. */
enum mem_src { MEM_ADDR, MEM_DATA, MEM_SADDR, MEM_DATA2 };
enum inst_flag {
  FLAG_GLC = 1,          /* glc, sc0: an atomic returns its old value */
  FLAG_SLC = 2,          /* slc, nt */
  FLAG_DLC = 4,          /* dlc, sc1 */
  FLAG_LDS = 8,
  FLAG_OFFEN = 16,
  FLAG_IDXEN = 32,
  FLAG_TFE = 64,
  FLAG_GDS = 128,
  FLAG_SIGNED = 256,     /* the vector offset to a scalar address is signed */
};
enum { FLAG_SCOPE_SHIFT = 9 };   /* GFX12's scope, two bits */

#define NEXT(i) ((i) + (i)->len)

/* The scalar file: hardware operand numbering up to 127 (with M0 at 124 in every generation), then what is
 * not a register in hardware, so that every uniform source is one index. */
enum {
  S_VCC = 106, S_TTMP = 108, S_M0 = 124, S_EXEC = 126,
  S_SCC = 128,           /* 0 or 1; s[129] is 0 */
  S_SINK = 130,          /* NULL as destination (up to 16 dwords); never read */
  S_SHARED_BASE = 148, S_SHARED_LIMIT = 150, S_PRIVATE_BASE = 152, S_PRIVATE_LIMIT = 154,
  S_ZERO = 156,          /* NULL as source: zeros, 16 dwords */
  S_INT = 172,           /* inline integers: pair (code - 128) * 2, codes 128..208, sign-extended to 64 bits */
  S_FLOAT32 = 334,       /* inline floats: pair (code - 240) * 2, codes 240..248: (f32, 0) */
  S_FLOAT64 = 352,       /* f64 bits */
  S_FLOAT16 = 370,       /* (f16, 0) */
  S_PK_FLOAT32 = 388,    /* (f32, f32) */
  S_BFLOAT16 = 406,      /* (bf16, 0) */
  S_FLAT_SCRATCH = 424,  /* start of private memory in generic addresses (gfx1250) */
  S_COUNT = 426
};

/* High halves of the LDS and private apertures' addresses; host addresses are below them. */
enum { SHARED_APERTURE = 0x10000, PRIVATE_APERTURE = 0x20000 };
/* gfx1250 has no private aperture: generic addresses of private memory are FLAT_SCRATCH_BASE, here only this bit of the
 * high half, plus the lane in bits 56:52 and the offset. */
enum { PRIVATE_BASE_BIT = 26 };

enum wave_stop { WAVE_RUNNING, WAVE_ENDED, WAVE_AT_BARRIER, WAVE_FAULTED, WAVE_YIELDED };

#define VGPR_TEMP 512    /* v0..v255, then a0..a255, then 16 rows for operands with modifiers (valu_modify.c) */
#define VGPR_ROWS 528

struct mem_window { uint64_t lo, hi; bool writable; }; /* a recently used allocation: [lo, hi) */
enum { MEM_WINDOWS = 4 };

struct wave {
  _Alignas(64) uint32_t s[S_COUNT];
  uint32_t *v;           /* VGPRs: v[row * W + lane], 64-byte aligned, VGPR_ROWS rows */
  uint32_t mode;         /* MODE register: f32 rounding [1:0], f64/f16 rounding [3:2], f32 denormals [5:4],
                            f64/f16 denormals [7:6] (bit 0 inputs, bit 1 outputs), dx10_clamp [8], ieee [9] */
  uint32_t mxcsr;        /* value loaded into MXCSR before the wave runs: set by VG(mode_changed) */
  uint32_t float_state[6]; /* the vector handlers' own value, maintained by VG(mode_changed) */
  enum wave_stop stop;
  const struct inst *pc; /* valid while the wave is not running */
  struct workgroup *wg;
  struct mem_window window[MEM_WINDOWS]; /* [0] is the most recent one */
  uint32_t index;        /* number of the wave in its workgroup */
  uint32_t lanes;        /* work-items of the wave */
  uint8_t *scratch;      /* private memory, interleaved by dword as hardware does: byte b of lane l lies at
                            (b / 4 * W + l) * 4 + b % 4 */
  uint64_t scratch_size; /* bytes per lane */
  uint8_t *lds;          /* the workgroup's */
  uint32_t lds_size;
  uint32_t trapsts;
  bool sram_ecc;         /* the chip (struct arch) */
  bool at_grid_barrier;
  uint32_t grid_phase;   /* phase of the grid barrier at the wave's arrival */
  uint64_t executed;     /* instructions */
  struct weak_wave *weak; /* operations in flight in the weak-memory mode (weak.h); otherwise NULL */
  uint64_t changes;      /* number of writes that may have changed memory, and of barriers passed; never decreases */
};

#ifdef W
#define VG_PASTE3(name, w, level) name##_w##w##_##level
#define VG_PASTE2(name, w, level) VG_PASTE3(name, w, level)
#define VG(name) VG_PASTE2(name, W, LEVEL)

#if W == 64
#define LANES_ALL UINT64_MAX
#else
#define LANES_ALL UINT64_C(0xffffffff)
#endif

static inline uint64_t wave_exec(const struct wave *w) {
#if W == 64
  return (uint64_t)w->s[S_EXEC + 1] << 32 | w->s[S_EXEC];
#else
  return w->s[S_EXEC];
#endif
}

/* Lane mask registers (VCC, EXEC, carry and compare results): one SGPR in wave32, a pair in wave64. */
static inline uint64_t mask_read(const uint32_t *s) {
#if W == 64
  return (uint64_t)s[1] << 32 | s[0];
#else
  return s[0];
#endif
}
static inline void mask_write(struct wave *w, unsigned index, uint64_t value) {
  w->s[index] = (uint32_t)value;
#if W == 64
  w->s[index + 1] = (uint32_t)(value >> 32);
#endif
}

static inline uint32_t *vgpr(struct wave *w, unsigned row) {
  return __builtin_assume_aligned(w->v + (size_t)row * W, 64);
}

/* Recomputes mxcsr and float_state from mode; called at wave start and whenever an instruction writes MODE
 * (runtime/valu/valu_mode.c). The engine then reloads MXCSR. */
void VG(mode_changed)(struct wave *w);
#endif

/* A uniform source's dwords ([0], and [1] for 64-bit operands). Not for OPERAND_VGPR. */
uint32_t special_operand(const struct wave *w, unsigned code);
static inline const uint32_t *scalar_source(const struct wave *w, const struct inst *i, int k) {
  return i->src_kind[k] == OPERAND_LITERAL ? i->literal : w->s + i->src[k];
}
static inline uint32_t source_u32(const struct wave *w, const struct inst *i, int k) {
  if (__builtin_expect(i->src_kind[k] == OPERAND_SPECIAL, 0)) return special_operand(w, i->src[k]);
  return *scalar_source(w, i, k);
}
static inline uint64_t source_u64(const struct wave *w, const struct inst *i, int k) {
  if (__builtin_expect(i->src_kind[k] == OPERAND_SPECIAL, 0)) return special_operand(w, i->src[k]);
  const uint32_t *s = scalar_source(w, i, k);
  return (uint64_t)s[1] << 32 | s[0];
}

enum fault_kind {
  FAULT_NONE, FAULT_ILLEGAL_INSTRUCTION, FAULT_UNIMPLEMENTED, FAULT_MEMORY, FAULT_MISALIGNED, FAULT_LDS,
  FAULT_SCRATCH, FAULT_TRAP, FAULT_DEADLOCK, FAULT_RUNAWAY, FAULT_BAD_LAUNCH, FAULT_BAD_JUMP,
  FAULT_REGISTER,
};

/* Records the launch's first fault, stops the wave and returns NULL: `return wave_fault(...)`. lane < 0: the whole
 * wave. */
const struct inst *wave_fault(struct wave *w, const struct inst *i, enum fault_kind kind, int lane,
                              uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#endif
