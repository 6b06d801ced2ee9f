/* The state of one wave and the form of a decoded instruction: what instruction handlers see. */
#ifndef PTX2AMD_VGPU_WAVE_H
#define PTX2AMD_VGPU_WAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inst;
struct wave;
struct workgroup;

/* Handlers return the next instruction, or NULL to leave the loop (end, barrier, fault: wave->stop). */
typedef const struct inst *(*handler_fn)(struct wave *w, const struct inst *i);

/* A decoded instruction. Filled once per code address, read by every wave. */
struct inst {
  handler_fn run;
  /* Source operands: kind decides what the number means. */
  uint16_t src[4];      /* VGPR index, SGPR index or index into the constant rows */
  uint8_t src_kind[4];  /* enum operand_kind */
  uint16_t dst, dst2;   /* VGPR or SGPR index */
  uint8_t neg, abs;     /* bit k: of source k */
  uint8_t omod, clamp;
  uint8_t op_sel, op_sel_hi, neg_hi;
  uint8_t size;         /* bytes of machine code, 4 to 20 */
  uint16_t flags;       /* per format: glc/sc bits, saddr present, ... */
  int32_t imm;          /* SIMM16, instruction offset, ... */
  uint32_t literal;
  const struct op_info *op;   /* name and properties: for faults, counters, disassembly */
  const struct inst_ext *ext; /* DPP, SDWA, VOPD second half: NULL for plain instructions */
};

enum operand_kind { OPERAND_VGPR, OPERAND_SGPR, OPERAND_CONST, OPERAND_SPECIAL };

enum wave_stop { WAVE_RUNNING, WAVE_ENDED, WAVE_AT_BARRIER, WAVE_FAULTED };

/* SGPR file numbering is the hardware's operand numbering: VCC 106/107, M0 and EXEC 126/127 included,
 * so that scalar operands index one array. */
struct wave {
  uint32_t *v;          /* VGPRs: v[reg * W + lane], 64-byte aligned, W = 32 or 64 */
  _Alignas(64) uint32_t s[128];
  uint32_t scc;
  uint32_t mode;        /* MODE register: rounding [3:0], denormals [7:4] */
  const struct inst *pc;
  enum wave_stop stop;
  struct workgroup *wg;
  /* ... the engine's own fields follow (scratch base, counters, cached allocation, temporaries) */
};

static inline uint64_t wave_exec(const struct wave *w) {
  return (uint64_t)w->s[127] << 32 | w->s[126];
}
#endif
