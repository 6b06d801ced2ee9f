/* Which instructions of a run have results that are linear in the lane, and which of them are worth it. */
#include "native_linear.h"

#include "memory_access.h"
#include "native_value.h"

void linear_sample(const struct wave *w, unsigned lanes, unsigned rows, uint8_t *guess) {
  memset(guess, NOT_LINEAR, VGPR_ROWS);
  for (unsigned row = 0; row < rows; row++) {
    const uint32_t *v = w->v + (size_t)row * lanes;
    uint32_t step = v[1] - v[0];
    bool linear = step <= 16 && !(step & (step - 1));
    for (unsigned l = 1; l < lanes; l++) linear &= v[l] - v[l - 1] == step;
    if (linear) guess[row] = (uint8_t)step;
  }
}

static unsigned new_node(struct linear *l, unsigned op, const struct inst *i, unsigned row, unsigned step) {
  if (l->n_nodes == LINEAR_NODES) return NO_VALUE;
  struct linear_node *n = &l->node[l->n_nodes];
  *n = (struct linear_node){.op = (uint8_t)op, .i = i, .row = (uint16_t)row, .step = (uint16_t)step, .carry = NO_VALUE};
  memset(n->in, NO_VALUE, sizeof n->in);
  return l->n_nodes++;
}

/* The value in a row; what it had before the run must be as guessed. */
static unsigned row_value(struct linear *l, unsigned row, const uint8_t *guess) {
  if (l->at[row] != NO_VALUE || l->written[row] || guess[row] == NOT_LINEAR) return l->at[row];
  unsigned n = new_node(l, LINEAR_ROOT, NULL, row, NO_STEP);
  if (n == NO_VALUE) return NO_VALUE;
  l->node[n].stride = guess[row];
  return l->at[row] = (uint8_t)(2 * n);
}

struct known { const char *name; uint8_t op; };
static const struct known known_ops[] = {
  {"v_mov_b32", LINEAR_MOVE}, {"v_add_u32", LINEAR_ADD}, {"v_add_nc_u32", LINEAR_ADD}, {"v_sub_u32", LINEAR_SUBTRACT},
  {"v_sub_nc_u32", LINEAR_SUBTRACT}, {"v_subrev_u32", LINEAR_SUBTRACT_FROM}, {"v_subrev_nc_u32", LINEAR_SUBTRACT_FROM},
  {"v_add3_u32", LINEAR_ADD3}, {"v_mul_lo_u32", LINEAR_MULTIPLY}, {"v_lshlrev_b32", LINEAR_SHIFT},
  {"v_lshl_add_u32", LINEAR_SHIFT_ADD}, {"v_add_lshl_u32", LINEAR_ADD_SHIFT}, {"v_and_b32", LINEAR_LOW_BITS},
  {"v_ashrrev_i32", LINEAR_SIGN}, {"v_lshlrev_b64", LINEAR_SHIFT64}, {"v_lshl_add_u64", LINEAR_SHIFT_ADD64},
  {"v_add_co_u32", LINEAR_ADD_CARRY}, {"v_add_co_ci_u32", LINEAR_ADD_CARRIED}, {"v_addc_co_u32", LINEAR_ADD_CARRIED},
  {"v_mad_u64_u32", LINEAR_MULTIPLY_ADD64},
};

static bool has_scalar(const struct scalar_set *s, unsigned index, unsigned n) {
  for (unsigned k = index; k < index + n && k < S_COUNT; k++)
    if (s->bits[k / 64] >> k % 64 & 1) return true;
  return false;
}

static bool has_mask_result(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

/* written: the scalar registers that the run's vector instructions have written so far; carry: by register, the node
 * whose carry it is. */
struct analysis { struct linear *l; const uint8_t *guess; struct scalar_set written; uint8_t carry[S_COUNT]; bool masked; };

/* Reads source k into the node; false: it is neither linear nor the same in all lanes. */
static bool take_source(struct analysis *a, struct linear_node *n, unsigned k, unsigned dwords) {
  const struct inst *i = n->i;
  uint32_t bits;
  if (i->src_kind[k] == OPERAND_VGPR) {
    for (unsigned d = 0; d < dwords; d++) {
      unsigned v = n->in[k][d] = (uint8_t)row_value(a->l, i->src[k] + d, a->guess);
      if (v == NO_VALUE || (d && linear_stride(a->l, v))) return false;
    }
    return true;
  }
  if (native_constant(i, k, 0, &bits)) return true;
  return i->src_kind[k] == OPERAND_SCALAR && !has_scalar(&a->written, i->src[k], dwords);
}

static unsigned stride_in(const struct linear *l, const struct linear_node *n, unsigned k) {
  return n->in[k][0] == NO_VALUE ? 0 : linear_stride(l, n->in[k][0]);
}

/* A constant source, less than `limit`. */
static bool constant_in(const struct linear_node *n, unsigned k, uint32_t limit, uint32_t *value) {
  return native_constant(n->i, k, 0, value) && *value < limit;
}

static bool stride_fits(unsigned stride) { return stride <= 16 && !(stride & (stride - 1)); }

/* Completes the node; false: the result is not linear. */
static bool understand(struct analysis *a, struct linear_node *n) {
  struct linear *l = a->l;
  uint32_t k = 0;
  unsigned s = 0;
  static const uint8_t sources[] = {
    [LINEAR_MOVE] = 1, [LINEAR_ADD] = 2, [LINEAR_SUBTRACT] = 2, [LINEAR_SUBTRACT_FROM] = 2, [LINEAR_ADD3] = 3,
    [LINEAR_MULTIPLY] = 2, [LINEAR_SHIFT] = 2, [LINEAR_SHIFT_ADD] = 3, [LINEAR_ADD_SHIFT] = 3, [LINEAR_LOW_BITS] = 2,
    [LINEAR_SIGN] = 2, [LINEAR_SHIFT64] = 2, [LINEAR_SHIFT_ADD64] = 3, [LINEAR_ADD_CARRY] = 2, [LINEAR_ADD_CARRIED] = 2,
    [LINEAR_MULTIPLY_ADD64] = 3,
  };
  unsigned add = n->op == LINEAR_MULTIPLY_ADD64 ? 2 : 9;
  for (unsigned j = 0; j < sources[n->op]; j++) {
    bool wide = wide_type(n->i->op->src_type[j]);
    if (take_source(a, n, j, wide ? 2 : 1)) continue;
    if (j == add && n->in[j][0] != NO_VALUE) continue;   /* the low dword can be known without the high one */
    return false;
  }
  unsigned s0 = stride_in(l, n, 0), s1 = stride_in(l, n, 1), s2 = stride_in(l, n, 2);
  switch ((enum linear_op)n->op) {
  case LINEAR_ROOT: return false;
  case LINEAR_MOVE: s = s0; break;
  case LINEAR_ADD: s = s0 + s1; break;
  case LINEAR_SUBTRACT: s = s0; if (s1) return false; break;
  case LINEAR_SUBTRACT_FROM: s = s1; if (s0) return false; break;
  case LINEAR_ADD3: s = s0 + s1 + s2; break;
  case LINEAR_MULTIPLY: if (s0 || s1) return false; break;
  case LINEAR_SHIFT: if (!constant_in(n, 0, 32, &k)) return false; s = s1 << (k < 5 ? k : s1 ? 5 : 0); break;
  case LINEAR_SHIFT_ADD: if (!constant_in(n, 1, 32, &k)) return false; s = (s0 << (k < 5 ? k : s0 ? 5 : 0)) + s2; break;
  case LINEAR_ADD_SHIFT: if (!constant_in(n, 2, 32, &k)) return false; s = s0 + s1, s <<= (k < 5 ? k : s ? 5 : 0); break;
  case LINEAR_LOW_BITS: {
    unsigned c = native_constant(n->i, 0, 0, &k) ? 0 : 1;
    if (!native_constant(n->i, c, 0, &k) || (k & (k + 1))) return false;
    s = c ? s0 : s1;
    break;
  }
  case LINEAR_SIGN: if (!constant_in(n, 0, 32, &k) || k != 31) return false; break;
  case LINEAR_SHIFT64: if (!constant_in(n, 0, 5, &k) || !k) return false; s = s1 << k, n->high = true; break;
  case LINEAR_SHIFT_ADD64: if (!constant_in(n, 1, 5, &k)) return false; s = (s0 << k) + s2, n->high = true; break;
  case LINEAR_ADD_CARRY: s = s0 + s1; break;
  case LINEAR_ADD_CARRIED:
    if (s0 || s1 || n->i->src_kind[2] != OPERAND_SCALAR) return false;
    n->carry = a->carry[n->i->src[2]];
    return n->carry != NO_VALUE;
  case LINEAR_MULTIPLY_ADD64:
    if (s0 || s1 || has_mask_result(n->i)) return false;
    s = s2, n->high = n->i->src_kind[2] != OPERAND_VGPR || (n->in[2][1] != NO_VALUE && !linear_stride(l, n->in[2][1]));
    break;
  }
  n->stride = (uint8_t)s;
  return stride_fits(s);
}

static unsigned op_of(const struct step *s) {
  const struct inst *i = s->i;
  if (s->kind != KIND_SEQUENCE || i->ext || i->neg || i->neg_hi || i->abs || i->omod || i->clamp || i->op_sel) return LINEAR_ROOT;
  for (size_t k = 0; k < sizeof known_ops / sizeof *known_ops; k++)
    if (!strcmp(i->op->name, known_ops[k].name)) return known_ops[k].op;
  return LINEAR_ROOT;
}

static void write_row(struct linear *l, unsigned row, unsigned value) {
  l->at[row] = (uint8_t)value, l->written[row] = true;
}

static void need(struct linear *l, unsigned node) {
  if (node == NO_VALUE || l->node[node].needed) return;
  struct linear_node *n = &l->node[node];
  n->needed = true;
  for (unsigned k = 0; k < 3; k++)
    for (unsigned d = 0; d < (k == 2 && !n->high && n->op == LINEAR_MULTIPLY_ADD64 ? 1 : 2); d++)
      if (n->in[k][d] != NO_VALUE) need(l, n->in[k][d] / 2);
  need(l, n->carry);
}

static void write_scalars(struct analysis *a, const struct step *s, unsigned node) {
  struct scalar_set used, written;
  native_scalars_of(s, &used, &written);
  for (unsigned k = 0; k < S_COUNT; k++)
    if (has_scalar(&written, k, 1)) a->carry[k] = NO_VALUE;
  for (size_t k = 0; k < sizeof written.bits / sizeof *written.bits; k++) a->written.bits[k] |= written.bits[k];
  if (node != NO_VALUE && has_mask_result(s->i)) a->carry[s->i->dst2] = (uint8_t)node;
}

/* The elements are in consecutive lanes, or the same for all. */
static bool access_fits(const struct native_memory *m, unsigned stride, bool masked) {
  if (m->kind == MEMORY_B96 ? m->store : m->kind == MEMORY_U16 || m->kind == MEMORY_I16 || m->kind == MEMORY_B16) return false;
  if (masked && stride && m->kind != MEMORY_B32 && m->kind != MEMORY_B64 && m->kind != MEMORY_B96) return false;
  return stride == step_of(m) || (!stride && !m->store && bytes_of(m) >= 4);
}

static void find_access(struct analysis *a, const struct step *s, unsigned step) {
  struct linear *l = a->l;
  const struct inst *i = s->i;
  const struct native_memory *m = memory_of(i);
  if (m->space != MEMORY_GLOBAL || l->n_accesses == LINEAR_ACCESSES) return;
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  if (scalar && has_scalar(&a->written, i->src[MEM_SADDR], 2)) return;
  unsigned low = row_value(l, i->src[MEM_ADDR], a->guess), high = scalar ? NO_VALUE : row_value(l, i->src[MEM_ADDR] + 1u, a->guess);
  if (low == NO_VALUE || (!scalar && (high == NO_VALUE || linear_stride(l, high)))) return;
  if (!access_fits(m, linear_stride(l, low), a->masked)) return;
  l->access_of[step] = (uint8_t)l->n_accesses;
  l->access[l->n_accesses++] = (struct linear_access){.low = (uint8_t)low, .high = (uint8_t)high,
                                                      .stride = (uint8_t)linear_stride(l, low), .step = (uint16_t)step};
}

static void analyse(struct analysis *a, unsigned step) {
  struct linear *l = a->l;
  const struct step *s = &l->p->step[step];
  unsigned op = op_of(s), node = op == LINEAR_ROOT ? NO_VALUE : new_node(l, op, s->i, s->i->dst, step);
  if (node != NO_VALUE && !understand(a, &l->node[node])) {
    l->node[node].op = LINEAR_ROOT;   /* not a node: nobody refers to it */
    l->n_nodes -= l->n_nodes == node + 1;
    node = NO_VALUE;
  }
  if (s->kind == KIND_MEMORY) find_access(a, s, step);
  write_scalars(a, s, node);
  if (node == NO_VALUE) {
    struct row_set rows = {0};
    native_rows_written(s->i, s->kind, &rows);
    for (unsigned row = 0; row < VGPR_ROWS; row++)
      if (has_row(&rows, row)) write_row(l, row, NO_VALUE);
    return;
  }
  l->of_step[step] = (uint8_t)node;
  bool wide = wide_type(s->i->op->dst_type);
  write_row(l, s->i->dst, 2 * node);
  if (wide) write_row(l, s->i->dst + 1u, l->node[node].high ? 2 * node + 1 : NO_VALUE);
}

/* Whether the row is overwritten before a step after `step` of the run reads it. */
static bool dead_after(const struct linear *l, unsigned step, unsigned row) {
  for (unsigned k = step + 1; k < l->end; k++) {
    const struct step *s = &l->p->step[k];
    if (!native_is_vector(s->kind)) continue;
    struct row_set rows = {0};
    native_rows_of(s->i, s->kind, &rows);
    if (!has_row(&rows, row)) continue;
    const struct inst *i = s->i;
    if (l->of_step[k] == NO_VALUE) return false;
    for (unsigned j = 0; j < i->op->n_src; j++)
      if (i->src_kind[j] == OPERAND_VGPR && row - i->src[j] < (wide_type(i->op->src_type[j]) ? 2u : 1u)) return false;
    return true;   /* nodes write whole rows */
  }
  return false;
}

/* Steps whose vector code is left out. False: a lane mask of one of them is used by other vector code. */
static bool defer(struct linear *l, unsigned lanes) {
  bool masks = false;
  for (unsigned n = 0; n < l->n_nodes; n++) masks |= l->node[n].needed && l->node[n].i && has_mask_result(l->node[n].i);
  for (unsigned n = 0; n < l->n_nodes && masks; n++)
    if (l->node[n].op != LINEAR_ROOT && has_mask_result(l->node[n].i)) need(l, n);
  for (unsigned k = l->first; k < l->end; k++) {
    unsigned n = l->of_step[k];
    if (n == NO_VALUE || !l->node[n].needed) continue;
    const struct inst *i = l->node[n].i;
    l->deferred[k] = !wide_type(i->op->dst_type) || l->node[n].high || dead_after(l, k, i->dst + 1u);
  }
  for (unsigned k = l->first; k < l->end; k++) {
    if (!l->deferred[k] || !has_mask_result(l->p->step[k].i)) continue;
    for (unsigned j = l->first; j < l->end; j++) {
      const struct step *s = &l->p->step[j];
      struct scalar_set used, written;
      if (!native_is_vector(s->kind) || l->deferred[j]) continue;
      native_scalars_of(s, &used, &written);
      if (has_scalar(&used, l->p->step[k].i->dst2, lanes / 32)) return false;
    }
  }
  return true;
}

/* Whether stores are the only reason for the run's groups, and have strides with which overlaps can be checked. */
static bool can_join(const struct linear *l) {
  struct scalar_set used = {0}, written = {0};
  const struct linear_access *store = NULL;
  for (unsigned n = 0; n < l->n_accesses; n++)
    if (memory_of(l->p->step[l->access[n].step].i)->store) store = &l->access[n];
  if (!store || l->group == l->last) return false;
  for (unsigned k = l->first; k < l->end; k++) {
    const struct step *s = &l->p->step[k];
    struct scalar_set own, out;
    if (!native_is_vector(s->kind) || l->deferred[k]) continue;
    if (s->kind == KIND_COMPARE_EXEC || (s->kind == KIND_MEMORY && l->access_of[k] == NO_VALUE)) return false;
    if (s->kind == KIND_MEMORY && l->access[l->access_of[k]].stride != store->stride) return false;
    if (s->kind == KIND_MEMORY) continue;   /* its scalars are read before the loop */
    native_scalars_of(s, &own, &out);
    for (unsigned j = 0; j < S_COUNT; j++)
      if ((has_scalar(&own, j, 1) && has_scalar(&written, j, 1)) || (has_scalar(&out, j, 1) && has_scalar(&used, j, 1))) return false;
    for (size_t j = 0; j < sizeof own.bits / sizeof *own.bits; j++) used.bits[j] |= own.bits[j], written.bits[j] |= out.bits[j];
  }
  return true;
}

bool linear_plan(struct linear *l, const struct plan *p, unsigned group, unsigned last, unsigned first, unsigned end,
                 unsigned lanes, bool masked, uint8_t *guess) {
  enum { MOST_ROOTS = 6 };
  struct analysis a = {.l = l, .guess = guess, .masked = masked};
  *l = (struct linear){.p = p, .first = first, .end = end, .group = group, .last = last};
  memset(l->at, NO_VALUE, sizeof l->at), memset(l->of_step, NO_VALUE, sizeof l->of_step);
  memset(l->access_of, NO_VALUE, sizeof l->access_of), memset(l->held, NO_VALUE, sizeof l->held);
  memset(a.carry, NO_VALUE, sizeof a.carry);
  for (unsigned k = first; k < end; k++)
    if (native_is_vector(p->step[k].kind)) analyse(&a, k);
  for (unsigned row = 0; row < VGPR_ROWS; row++)
    if (l->written[row]) guess[row] = l->at[row] == NO_VALUE ? NOT_LINEAR : (uint8_t)linear_stride(l, l->at[row]);
  bool worth = l->n_accesses > 0;
  for (unsigned k = 0; k < l->n_accesses; k++) {
    need(l, l->access[k].low / 2);
    if (l->access[k].high != NO_VALUE) need(l, l->access[k].high / 2);
  }
  for (unsigned n = 0; n < l->n_nodes; n++)   /* its vector code takes longer than all that this needs */
    if (l->node[n].op == LINEAR_MULTIPLY_ADD64 && l->node[n].high) need(l, n), worth = true;
  unsigned roots = 0;
  for (unsigned n = 0; n < l->n_nodes; n++) roots += l->node[n].needed && l->node[n].step == NO_STEP;
  if (!worth || roots > MOST_ROOTS || !defer(l, lanes)) return false;
  l->joined = can_join(l);
  return true;
}
