/* The registers that a kernel's waves have, and those that instructions name. */
#include "ops.h"
#include "state.h"

enum { SGPRS = 102 };   /* the codes after them have separate names; only on GFX9 waves may have fewer than all */

struct registers registers_given(const struct kernel_descriptor *k, const struct arch *arch, unsigned lanes) {
  uint32_t granules = (k->compute_pgm_rsrc1 & 63) + 1, total = granules * arch->vgpr_granule[lanes == 64];
  struct registers given = {.v = (uint16_t)total, .s = SGPRS};
  if (arch->unified_vgprs) {
    uint32_t accumulation = ((k->compute_pgm_rsrc3 & 63) + 1) * 4;   /* where they begin */
    if (accumulation < total) given.v = (uint16_t)accumulation, given.a = (uint16_t)(total - accumulation);
  } else if (arch->own_accumulators) {
    given.a = given.v;   /* a file of their own */
  }
  if (arch->generation == 0) given.s = (uint16_t)((k->compute_pgm_rsrc1 >> 7 & 7) + 1) * 16;
  if (given.v > 256) given.v = 256;
  if (given.a > 256) given.a = 256;
  if (given.s > SGPRS) given.s = SGPRS;
  return given;
}

static struct named vector_named(unsigned row, unsigned n) {
  return (struct named){row < 256 ? 'v' : 'a', row & 255, n};
}

static struct named scalar_named(unsigned index, unsigned n) {
  return (struct named){'s', index, index < SGPRS && index + n <= SGPRS ? n : 0};
}

/* Register of a memory instruction's operand, by its meaning. */
static struct named memory_named(const struct inst *i, int k) {
  const struct op_info *op = i->op;
  static const uint8_t role[] = {[MEM_ADDR] = ROLE_A, [MEM_DATA] = ROLE_B, [MEM_DATA2] = ROLE_C};
  if (i->src_kind[k] == OPERAND_SCALAR)
    return scalar_named(i->src[k], k == MEM_SADDR ? (op->format == FORMAT_MUBUF || op->format == FORMAT_MTBUF ? 4 : op->format == FORMAT_SCRATCH ? 1 : 2) : 1);
  if (i->src_kind[k] != OPERAND_VGPR || k == MEM_SADDR) return (struct named){0};
  unsigned n = 0;
  for (int j = 0; j < op->n_src; j++)
    if (op->src_role[j] == role[k]) n = operand_dwords(op->src_type[j]);
  if (k == MEM_ADDR && (op->format == FORMAT_MUBUF || op->format == FORMAT_MTBUF))
    n = (i->flags & FLAG_OFFEN ? 1 : 0) + (i->flags & FLAG_IDXEN ? 1 : 0);
  else if (k == MEM_ADDR && n)
    n = (op->format == FORMAT_FLAT || op->format == FORMAT_GLOBAL) && i->src_kind[MEM_SADDR] == OPERAND_NONE ? 2 : 1;
  return vector_named(i->src[k], n);
}

/* Whether the result goes into registers. */
static bool has_result(const struct inst *i) {
  const struct op_info *op = i->op;
  if (op->dst_type == TYPE_none || (i->flags & FLAG_LDS && op->format == FORMAT_MUBUF)) return false;
  bool atomic = op->format != FORMAT_DS && (op->traits & TRAIT_MEMORY) && op->format != FORMAT_SMEM && op->n_src > 1;
  return !atomic || i->flags & FLAG_GLC;
}

/* Of image instructions: whether registers with data are read. */
static bool takes_data(const struct inst *i) { return i->op->dst_type == TYPE_none || i->op->n_src > 1; }

static unsigned mask_dwords(enum operand_type type, unsigned lanes) {
  return type == TYPE_mask ? lanes / 32 : operand_dwords(type);
}

/* Operand number k of an image instruction: the address's parts, the descriptors, data. */
static struct named image_named(const struct inst *i, int k) {
  const struct inst_ext *x = i->ext;
  if (k == MEM_SADDR) return scalar_named(i->src[k], 8);
  if (k == MEM_DATA2) return scalar_named(i->src[k], i->src_kind[k] == OPERAND_SCALAR ? 4 : 0);
  if (k == MEM_DATA) return vector_named(i->src[k], takes_data(i) ? x->image.n_data : 0);
  if (k == 4) return vector_named(i->dst, has_result(i) ? x->image.n_data : 0);
  unsigned most = x->image.address[0];
  for (unsigned j = 1; j < x->image.n_address; j++) most = x->image.address[j] > most ? x->image.address[j] : most;
  return vector_named(most, k == MEM_ADDR && x->image.n_address);
}

struct named operand_named(const struct inst *i, int k, unsigned lanes) {
  const struct op_info *op = i->op;
  if (i->ext && i->ext->kind == EXT_IMAGE) return k < 5 ? image_named(i, k) : (struct named){0};
  bool vector_memory = (op->traits & TRAIT_MEMORY) && op->format != FORMAT_SMEM;
  /* Rows count matrix registers for waves of 32 lanes. */
  unsigned share = lanes == 64 && op->generation >= 2 && op->format == FORMAT_VOP3P ? 2 : 1;
  if (k == 4) {
    unsigned n = has_result(i) ? mask_dwords((enum operand_type)op->dst_type, lanes) : 0;
    bool scalar = op->scalar_dst || !((op->traits & TRAIT_VALU) || vector_memory);
    return scalar ? scalar_named(i->dst, n) : vector_named(i->dst, n > 1 ? n / share : n);
  }
  if (k == 5) return scalar_named(i->dst2, mask_dwords((enum operand_type)op->dst2_type, lanes));
  if (vector_memory) return memory_named(i, k);
  unsigned n = k < op->n_src ? mask_dwords((enum operand_type)op->src_type[k], lanes) : 0;
  if (i->src_kind[k] == OPERAND_SCALAR) return scalar_named(i->src[k], n);
  if (i->src_kind[k] == OPERAND_VGPR) return vector_named(i->src[k], n > 1 ? n / share : n);
  return (struct named){0};
}

/* The first operand outside of the wave's registers; file 0: none. */
static struct named beyond(const struct registers *given, const struct inst *i, unsigned lanes) {
  if (i->ext && i->ext->kind == EXT_VOPD) {
    struct named x = beyond(given, i->ext->x, lanes);
    return x.file ? x : beyond(given, i->ext->y, lanes);
  }
  if (i->ext && i->ext->kind == EXT_SCALES) {
    struct named x = beyond(given, i->ext->x, lanes);
    if (x.file) return x;
  }
  for (int k = 0; k < 6; k++) {
    struct named r = operand_named(i, k, lanes);
    unsigned limit = r.file == 'v' ? given->v : r.file == 'a' ? given->a : given->s;
    if (r.n && r.first + r.n > limit) return r;
  }
  return (struct named){0};
}

bool registers_hold(const struct registers *given, const struct inst *i, unsigned lanes) {
  return beyond(given, i, lanes).file == 0;
}

const struct inst *run_beyond_registers(struct wave *w, const struct inst *i) {
  const struct view *view = w->wg->run->view;
  struct named r = beyond(&view->registers, i, view->lanes);
  unsigned limit = r.file == 'v' ? view->registers.v : r.file == 'a' ? view->registers.a : view->registers.s;
  return wave_fault(w, i, FAULT_REGISTER, -1, 0, "%s names %c%u, the kernel was given %u such registers", i->op->name,
                    r.file, r.first + r.n - 1, limit);
}
