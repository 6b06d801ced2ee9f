/* Sequences of isa/native.py in machine code: instructions with their modifiers and results. */
#include "native_value.h"
#include "valu_tables.h"

/* Result in a lane mask: for the lanes in mask register `kept` (0: all), to the scalar file, and available to later
 * instructions of the group. */
static void commit_kept(struct compiler *c, unsigned index, unsigned k, unsigned kept) {
  unsigned own = k;
  if (mask_held(c, k)->key != KEY_TEMPORARY || kept) {
    own = mask_temporary(c);
    c->machine->mask_op(c, kept ? K_AND : K_OR, own, k, kept ? kept : k);
  }
  commit_mask(c, index, own);
}

/* Whether the instruction's second result is used. */
static bool mask_wanted(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

/* omod and clamp; NaN becomes 0, because DX10_CLAMP is on. */
static void modify(struct compiler *c, struct sequence *s) {
  static const struct evex multiply[2] = {{1, 0, 0, 0x59}, {1, 1, 1, 0x59}}, max[2] = {{1, 0, 0, 0x5f}, {1, 1, 1, 0x5f}},
                           min[2] = {{1, 0, 0, 0x5d}, {1, 1, 1, 0x5d}};
  static const uint32_t scale[4] = {0x3f800000, 0x40000000, 0x40800000, 0x3f000000};
  static const uint64_t scale64[4] = {UINT64_C(0x3ff) << 52, UINT64_C(0x400) << 52, UINT64_C(0x401) << 52, UINT64_C(0x3fe) << 52};
  const struct inst *i = s->i;
  struct value *d = &s->v[VALUE_D];
  bool wide = wide_type(i->op->dst_type);   /* not the sources' type: v_cvt_f32_f64 also processes halves */
  if (i->omod) {
    unsigned x = value_register(c, s, d), z = vec_temporary(c);
    unsigned by = wide ? vec_const64(c, scale64[i->omod & 3]) : vec_const(c, scale[i->omod & 3]);
    vec_rr(&c->x, multiply[wide], z, x, by, UNMASKED);
    value_set(c, s, d, in_register(z));
  }
  if (i->clamp) {
    unsigned x = value_register(c, s, d), z = vec_temporary(c);
    unsigned one = wide ? vec_const64(c, scale64[0]) : vec_const(c, scale[0]), zero = vec_const(c, 0);
    vec_rr(&c->x, max[wide], z, x, zero, UNMASKED);   /* of NaN or two zeros: the second operand */
    vec_rr(&c->x, min[wide], z, z, one, UNMASKED);
    value_set(c, s, d, in_register(z));
  }
}

/* --- DPP and SDWA ------------------------------------------------------------------------------------------ */

static unsigned k_constant(struct compiler *c, unsigned bits) {
  unsigned k = mask_temporary(c);
  gpr_constant(&c->x, RAX, bits);
  k_gpr(&c->x, k, RAX);
  return k;
}

/* Source lanes, valid lanes and lanes with a result: as dpp_lanes in valu_modify.c. */
static void prepare_dpp(struct compiler *c, struct sequence *s) {
  static const struct evex to_mask = {2, 2, 0, 0x39}, from_mask = {2, 2, 0, 0x38};
  const struct inst_ext *x = s->i->ext;
  bool newer = s->i->op->generation != 0, eights = x->kind == EXT_DPP8, bound = eights || x->dpp_bound;
  unsigned readable = eights ? 0xffff : (unsigned)dpp_readable[newer][x->dpp_ctrl] & 0xffff, banks = 0xffff;
  s->dpp = true;
  s->index = (uint8_t)vec_temporary(c);
  if (eights) {
    uint64_t low = 0;
    for (unsigned l = 0; l < 8; l++) low |= (uint64_t)x->dpp8[l] << 8 * l;
    for (unsigned half = 0; half < 2; half++) {
      gpr_constant(&c->x, RAX, low + half * UINT64_C(0x0808080808080808));
      gpr_store(&c->x, true, mem(RSP, (int32_t)(offsetof(struct frame, data) + 8 * half)), RAX);
    }
    vec_rm(&c->x, MOVZX_B, s->index, 0, FRAME(data), UNMASKED);
  } else {
    gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)dpp_from[newer][x->dpp_ctrl]);
    vec_rm(&c->x, MOVZX_B, s->index, 0, mem(RAX, 0), UNMASKED);
    banks = 0;
    for (unsigned bank = 0; bank < 4; bank++) banks |= (x->dpp_bank_mask >> bank & 1u) * (0xfu << 4 * bank);
  }
  if (readable != 0xffff) s->read = (uint8_t)k_constant(c, readable);
  if (c->masked && !x->dpp_fi) {   /* only from active lanes */
    unsigned z = vec_temporary(c), k = mask_temporary(c);
    vec_rr(&c->x, from_mask, z, 0, K_EXEC, UNMASKED);
    vec_rr(&c->x, PERMD, z, s->index, z, UNMASKED);
    vec_rr(&c->x, to_mask, k, 0, z, UNMASKED);
    if (s->read) k_op(&c->x, K_AND, s->read, s->read, k);
    else s->read = (uint8_t)k;
  }
  bool all = banks == 0xffff && (bound || !s->read);
  if (all) return;
  unsigned k = k_constant(c, banks);
  if (!bound && s->read) k_op(&c->x, K_AND, k, k, s->read);
  if (c->masked) k_op(&c->x, K_AND, k, k, K_EXEC);
  s->kept = (uint8_t)k;
}

/* Inserts the result into a byte (which: 0 to 3) or word (4, 5) of the destination, or of 0. */
static void place(struct compiler *c, struct sequence *s, unsigned which, bool keep) {
  static const struct evex and = {1, 1, 0, 0xdb}, or = {1, 1, 0, 0xeb};
  unsigned bits = which < 4 ? 8 : 16, shift = which < 4 ? which * 8 : (which - 4) * 16;
  uint32_t mask = ((1u << bits) - 1) << shift;
  unsigned from = value_register(c, s, &s->v[VALUE_D]), z = vec_temporary(c);
  if (shift) vec_shift_d(&c->x, z, from, 6, shift, UNMASKED);
  vec_rr(&c->x, and, z, shift ? z : from, vec_const(c, mask), UNMASKED);
  if (keep) {
    unsigned old = vec_row(c, s->i->dst), rest = vec_temporary(c);
    vec_rr(&c->x, and, rest, old, vec_const(c, ~mask), UNMASKED);
    vec_rr(&c->x, or, z, z, rest, UNMASKED);
  }
  value_set(c, s, &s->v[VALUE_D], in_register(z));
}

static uint32_t wanted(const struct inst *i) {
  const struct native_row *row = &native_rows[i->op->id];
  bool pair = wide_type(i->op->dst_type) && !(row->flags & NATIVE_WIDE);
  uint32_t want = i->op->dst_type == TYPE_mask ? 1u << VALUE_E : 1u << VALUE_D | (pair ? 1u << VALUE_DH : 0);
  if (mask_wanted(i)) want |= 1u << VALUE_E;
  if (row->slow) want |= 1u << VALUE_SLOW;
  return want;
}

/* --- what a sequence leaves to C ------------------------------------------------------------------------ */

/* Stores the sources, calls the function, loads the results. z: result, sources; k: flag result. */
static void slow_lanes(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  c->machine->mask_bits(c, RAX, d->k, d->half);
  gpr_store(x, true, FRAME(lanes), RAX);
  for (unsigned n = 0; n < d->n_data; n++)
    vec_rm(x, MOVDQA_STORE, d->z[1 + n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  vec_rm(x, MOVDQA_STORE, d->z[0], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * 3)), UNMASKED);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)native_rows[d->i->op->id].slow);
  native_access_call(c);
  vec_rm(x, MOVDQA_LOAD, d->z[0], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * 3)), UNMASKED);
  if (d->pattern_slot) {   /* the flags of these lanes */
    c->machine->mask_load(c, d->k, FRAME(lanes), d->half);
    c->machine->mask_op(c, K_OR, d->pattern_slot, d->pattern_slot, d->k);
  }
  land_at(x, jump_always(x), d->back);
}

/* At the end of a sequence: the lanes in SLOW get their results from C. */
static void native_slow_emit(struct compiler *c, struct sequence *s) {
  const struct inst *i = s->i;
  struct detour *d = detour_new(c, i);
  d->emit = slow_lanes;
  d->n_data = (uint8_t)i->op->n_src;
  d->z[0] = (uint8_t)value_own(c, s, &s->v[VALUE_D]);
  for (unsigned n = 0; n < i->op->n_src; n++) {
    struct value *v = value_get(c, s, VALUE_A + 2 * n);
    d->z[1 + n] = (uint8_t)value_register(c, s, v);
  }
  unsigned k = s->v[VALUE_SLOW].reg;
  const struct vector_machine *m = c->machine;
  if (mask_held(c, k)->key != KEY_TEMPORARY || c->masked) {
    unsigned exec = s->half != ALL_LANES ? m->mask_half(c, m->exec, s->half) : m->exec, to = mask_temporary(c);
    m->mask_op(c, c->masked ? K_AND : K_OR, to, k, c->masked ? exec : k);
    k = to;
  }
  d->k = (uint8_t)k;
  d->pattern_slot = mask_wanted(i) ? s->v[VALUE_E].reg : 0;
  d->half = s->half != ALL_LANES;
  m->mask_any(c, k, d->half);
  d->from[d->n_from++] = jump_if(&c->x, CC_NE);
  d->back = c->x.at;
}

/* Temporaries in use, to be released at the end of a half. */
struct in_use { uint32_t z; uint8_t k; };
static struct in_use in_use(const struct compiler *c) {
  struct in_use u = {0};
  for (unsigned z = 0; z < VECTORS; z++) u.z |= (uint32_t)(c->z[z].key == KEY_TEMPORARY) << z;
  for (unsigned k = 0; k < 8; k++) u.k |= (uint8_t)((c->k[k].key == KEY_TEMPORARY) << k);
  return u;
}
static void free_others(struct compiler *c, struct in_use keep) {
  for (unsigned z = 0; z < VECTORS; z++)
    if (c->z[z].key == KEY_TEMPORARY && !(keep.z >> z & 1)) c->z[z] = (struct held){.key = KEY_FREE};
  for (unsigned k = 0; k < 8; k++)
    if (c->k[k].key == KEY_TEMPORARY && !(keep.k >> k & 1)) c->k[k] = (struct held){.key = KEY_FREE};
}

static unsigned join_halves(struct compiler *c, unsigned first, unsigned second) {
  unsigned z = vec_temporary(c);
  c->machine->join(c, z, first, second);
  return z;
}

/* AVX2 has few registers: temporaries that the steps read for the last time are free again. */
static void free_last(struct compiler *c, struct sequence *s, const struct native_step *steps, unsigned n, unsigned count,
                      uint64_t keep) {
  if (!c->machine->vex) return;
  const unsigned read[] = {steps[n].a, steps[n].b, steps[n].mask};
  for (unsigned k = 0; k < 3; k++) {
    unsigned id = read[k];
    if (!((id >= VALUE_S && id < VALUE_E) || (id >= VALUE_P && id <= VALUE_R)) || !s->v[id].known || s->v[id].outer) continue;
    bool again = false;
    for (unsigned m = n + 1; m < count && !again; m++) {
      const struct native_step *t = &steps[m];
      bool changes = t->dst == id && (t->mask != VALUE_NONE || x86_table[t->op].shape == SHAPE_CHANGE);
      again = keep >> m & 1 && (t->a == id || t->b == id || t->mask == id || changes);
    }
    if (!again) value_set(c, s, &s->v[id], (struct value){0});
  }
}

/* Steps from `first` on, which process one half of the lanes, up to the join of their value. Returns its number. */
static unsigned emit_halves(struct compiler *c, struct sequence *s, const struct native_step *steps, unsigned first,
                            uint64_t keep) {
  unsigned last = first, reg[2];
  while (x86_table[steps[last].op].shape != SHAPE_JOIN) last++;
  unsigned id = steps[last].dst;
  for (unsigned half = 0; half < 2; half++) {
    struct sequence part = *s;
    part.half = half;
    for (unsigned v = 0; v < VALUE_COUNT; v++) part.v[v].outer = part.v[v].known;
    struct in_use before = in_use(c);
    for (unsigned n = first; n < last; n++)
      if (keep >> n & 1) step_emit(c, &part, &steps[n]), free_last(c, &part, steps, n, last + 1, keep);
    reg[half] = value_register(c, &part, &part.v[id]);
    before.z |= 1u << reg[half];
    free_others(c, before);
  }
  value_set(c, s, &s->v[id], in_register(join_halves(c, reg[0], reg[1])));
  return last;
}

/* The results of a sequence: part[1] exists for wide ones. */
struct results { struct sequence part[2]; };

static void run_steps(struct compiler *c, struct sequence *s, uint64_t keep) {
  const struct native_steps row = native_rows[s->i->op->id].steps[c->machine->sequences];
  const struct native_step *steps = native_steps + row.first;
  for (unsigned n = 0; n < row.count; n++)
    if (x86_table[steps[n].op].shape == SHAPE_HALVES) n = emit_halves(c, s, steps, n + 1, keep);
    else if (keep >> n & 1) step_emit(c, s, &steps[n]), free_last(c, s, steps, n, row.count, keep);
  if (modifies_result(s->i)) modify(c, s);
}

static void compute(struct compiler *c, struct results *r, const struct inst *i) {
  const struct native_row *row = &native_rows[i->op->id];
  uint32_t want = wanted(i);
  struct native_steps steps = row->steps[c->machine->sequences];
  uint64_t keep = steps_useful(native_steps + steps.first, steps.count, want);
  if (!(row->flags & NATIVE_WIDE)) {
    struct sequence *s = &r->part[0];
    *s = (struct sequence){.i = i, .half = ALL_LANES};
    bool sdwa = i->ext && i->ext->kind == EXT_SDWA;
    if (i->ext && !sdwa) prepare_dpp(c, s);
    run_steps(c, s, keep);
    if (sdwa && i->op->dst_type != TYPE_mask && i->ext->sdwa_dst_sel < 6)
      place(c, s, i->ext->sdwa_dst_sel, i->ext->sdwa_dst_unused == 2);
    if (has_16_bits(i->op->dst_type)) place(c, s, 4 + (i->op_sel >> 3 & 1), true);
    if (row->slow) native_slow_emit(c, &r->part[0]);
    return;
  }
  for (unsigned half = 0; half < 2; half++) {
    struct sequence *s = &r->part[half];
    struct in_use before = in_use(c);
    *s = (struct sequence){.i = i, .half = half};
    run_steps(c, s, keep);
    if (row->slow) native_slow_emit(c, s);
    if (want >> VALUE_D & 1 && c->machine->vex) value_own(c, s, &s->v[VALUE_D]);   /* constants do not stay */
    if (want >> VALUE_D & 1) before.z |= 1u << value_register(c, s, &s->v[VALUE_D]);
    if (want >> VALUE_E & 1 && !c->machine->vex) before.k |= (uint8_t)(1u << s->v[VALUE_E].reg);
    if (want >> VALUE_E & 1 && c->machine->vex) before.z |= 1u << s->v[VALUE_E].reg;
    free_others(c, before);
    for (unsigned z = 0; z < VECTORS && c->machine->vex; z++)
      if (c->z[z].key != KEY_TEMPORARY) vec_free(c, z);   /* sources of this half */
  }
}

static unsigned result_mask(struct compiler *c, const struct results *r) {
  unsigned first = r->part[0].v[VALUE_E].reg;
  if (r->part[0].half == ALL_LANES) return first;
  unsigned k = mask_temporary(c);
  c->machine->mask_join(c, k, first, r->part[1].v[VALUE_E].reg);
  return k;
}

static void commit(struct compiler *c, struct results *r) {
  struct sequence *s = &r->part[0];
  const struct inst *i = s->i;
  bool wide = s->half != ALL_LANES;
  unsigned kept = s->kept ? s->kept : c->masked ? c->machine->exec : 0;
  if (i->op->dst_type == TYPE_mask) {
    bool to_exec = native_rows[i->op->id].flags & NATIVE_WRITES_EXEC;   /* v_cmpx since GFX10 */
    commit_kept(c, to_exec ? S_EXEC : i->dst, result_mask(c, r), kept);
    return;
  }
  if (wide && wide_type(i->op->dst_type)) {
    unsigned z[2] = {s[0].v[VALUE_D].reg, s[1].v[VALUE_D].reg};
    commit_wide(c, i->dst, z);
  } else if (wide) {
    commit_row(c, i->dst, join_halves(c, s[0].v[VALUE_D].reg, s[1].v[VALUE_D].reg));
  } else if (wide_type(i->op->dst_type)) {
    unsigned low = value_register(c, s, &s->v[VALUE_D]), high = value_register(c, s, &s->v[VALUE_DH]);
    if (c->masked) high = value_own(c, s, &s->v[VALUE_DH]);   /* writing the low row may change the register that holds
                                                               * it */
    commit_row(c, i->dst, low);
    commit_row(c, i->dst + 1u, high);
  } else {
    commit_lanes(c, i->dst, value_register(c, s, &s->v[VALUE_D]), kept);
  }
  if (mask_wanted(i)) commit_kept(c, i->dst2, result_mask(c, r), kept);
}

void native_sequence_emit(struct compiler *c, const struct inst *i) {
  struct results r;
  compute(c, &r, i);
  commit(c, &r);
}

void native_pair_emit(struct compiler *c, const struct inst *i) {
  struct results x, y;
  compute(c, &x, i->ext->x);
  compute(c, &y, i->ext->y);
  if (c->masked && y.part[0].i->op->dst_type != TYPE_mask) value_own(c, &y.part[0], &y.part[0].v[VALUE_D]);
  commit(c, &x);
  commit(c, &y);
}
