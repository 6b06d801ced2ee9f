/* Selects the instructions of a block that become machine code, and the order of execution. */
#include "native_plan.h"

#include <string.h>

#include "memory_access.h"
#include "native_value.h"


bool native_is_relative(const struct inst *i) { return i->op->traits & TRAIT_RELATIVE; }
static bool is(const struct inst *i, const char *name) { return !strcmp(i->op->name, name); }

bool native_writes_exec(const struct inst *i) {
  const struct op_info *op = i->op;
  if (native_rows[op->id].flags & NATIVE_WRITES_EXEC) return true;
  bool scalar = (op->traits & TRAIT_SALU) || op->scalar_dst;
  if (scalar && op->dst_type != TYPE_none && i->dst >= S_EXEC - 1 && i->dst <= S_EXEC + 1) return true;
  return op->dst2_type != TYPE_none && i->dst2 >= S_EXEC - 1 && i->dst2 <= S_EXEC + 1;
}

static bool sequence_known(const struct inst *i) { return native_sequence_known(i) && !native_writes_exec(i); }

enum kind native_kind(const struct inst *i) {
  const struct op_info *op = i->op;
  unsigned flags = native_rows[op->id].flags;
  if (i->ext && i->ext->kind == EXT_VOPD) {
    const struct inst *x = i->ext->x, *y = i->ext->y;
    return sequence_known(x) && sequence_known(y) ? KIND_PAIR : KIND_CALL;
  }
  if (flags & NATIVE_NOTHING) return KIND_NOTHING;
  if (sequence_known(i)) return KIND_SEQUENCE;
  bool compares_exec = op->generation > 0 && op->format == FORMAT_VOPC && (flags & NATIVE_WRITES_EXEC);
  if (compares_exec && native_sequence_known(i)) return KIND_COMPARE_EXEC;
  if (op->traits & TRAIT_VALU) return KIND_CALL;
  if (op->format == FORMAT_SMEM) return KIND_CALL;
  if (op->traits & TRAIT_MEMORY) return native_memory_known(i) ? KIND_MEMORY : KIND_CALL;
  if (native_is_relative(i)) return is(i, "s_branch") ? KIND_JUMP : strncmp(op->name, "s_cbranch_", 10) ? KIND_END : KIND_BRANCH;
  return (flags & (NATIVE_PURE | NATIVE_WRITES_EXEC)) ? KIND_CALL : KIND_END;
}

bool native_is_vector(unsigned kind) { return kind >= KIND_SEQUENCE && kind <= KIND_COMPARE_EXEC; }

bool native_branch(const struct inst *i, struct branch *b) {
  static const struct { const char *name; struct branch b; } known[] = {
    {"s_cbranch_scc0", {S_SCC, false, true}}, {"s_cbranch_scc1", {S_SCC, false, false}},
    {"s_cbranch_vccz", {S_VCC, true, true}}, {"s_cbranch_vccnz", {S_VCC, true, false}},
    {"s_cbranch_execz", {S_EXEC, true, true}}, {"s_cbranch_execnz", {S_EXEC, true, false}},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (is(i, known[k].name)) return *b = known[k].b, true;
  return false;
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static void add_rows(struct row_set *rows, unsigned first, unsigned n) {
  for (unsigned k = 0; k < n; k++) add_row(rows, first + k);
}

static unsigned dwords_of_type(unsigned type) { return wide_type(type) ? 2 : 1; }

static void row_written(const struct inst *i, struct row_set *rows) {
  if (!i->op->scalar_dst && i->op->dst_type != TYPE_none) add_rows(rows, i->dst, dwords_of_type(i->op->dst_type));
}

static void vector_rows(const struct inst *i, struct row_set *rows) {
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] == OPERAND_VGPR) add_rows(rows, i->src[k], dwords_of_type(i->op->src_type[k]));
  row_written(i, rows);
}

void native_rows_of(const struct inst *i, enum kind kind, struct row_set *rows) {
  if (kind == KIND_PAIR) {
    vector_rows(i->ext->x, rows);
    vector_rows(i->ext->y, rows);
  } else if (kind == KIND_MEMORY) {
    const struct native_memory *m = &native_rows[i->op->id].memory;
    if (i->src_kind[MEM_ADDR] == OPERAND_VGPR) add_rows(rows, i->src[MEM_ADDR], 2);
    if (m->store) add_rows(rows, i->src[MEM_DATA], dwords_of(m));
    if (m->store && m->unit) add_rows(rows, i->src[MEM_DATA2], dwords_of(m));
    if (!m->store) add_rows(rows, i->dst, m->unit ? 2 * dwords_of(m) : dwords_of(m));
  } else {
    vector_rows(i, rows);
  }
}

void native_rows_written(const struct inst *i, enum kind kind, struct row_set *rows) {
  const struct native_memory *m = &native_rows[i->op->id].memory;
  if (kind == KIND_PAIR) row_written(i->ext->x, rows), row_written(i->ext->y, rows);
  else if (kind != KIND_MEMORY) row_written(i, rows);
  else if (!m->store) add_rows(rows, i->dst, m->unit ? 2 * dwords_of(m) : dwords_of(m));
}

bool native_unrolls(const struct plan *p, unsigned lanes) {
  enum { LONGEST = 64 };
  const struct vector_machine *m = native_machine();
  struct row_set rows = {0};
  unsigned n = 0;
  if (p->n > LONGEST) return false;
  for (unsigned k = 0; k < p->n; k++)
    if (native_is_vector(p->step[k].kind)) native_rows_of(p->step[k].i, p->step[k].kind, &rows);
  for (size_t k = 0; k < sizeof rows.bits / sizeof *rows.bits; k++) n += (unsigned)__builtin_popcountll(rows.bits[k]);
  return n * (lanes / m->lanes) <= m->room;
}

/* --- order: scalar instructions move before their group where no dependence forbids it --------------------------- */

static void add(struct scalar_set *s, unsigned index, unsigned n) {
  for (unsigned k = index; k < index + n && k < S_COUNT; k++) s->bits[k / 64] |= UINT64_C(1) << k % 64;
}
static bool meet(const struct scalar_set *a, const struct scalar_set *b) {
  for (size_t k = 0; k < sizeof a->bits / sizeof *a->bits; k++)
    if (a->bits[k] & b->bits[k]) return true;
  return false;
}

/* Scalar registers and memory used by instructions: values read by all lanes, lane masks read, writes. */
struct effects { struct scalar_set uniform, masks, writes; bool loads[MEMORY_SPACES], stores[MEMORY_SPACES]; };

static bool has_mask_result(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

/* Scalar registers of an operand of the type, at most. */
static unsigned scalars_of_type(unsigned type) { return has_32_bits(type) || has_16_bits(type) ? 1 : 2; }

static void scalar_effects(const struct inst *i, struct effects *e) {
  *e = (struct effects){0};
  bool load = i->op->format == FORMAT_SMEM;
  for (unsigned k = 0; k < 4; k++)
    if (i->src_kind[k] == OPERAND_SCALAR) add(&e->uniform, i->src[k], load ? 4 : scalars_of_type(i->op->src_type[k]));
    else if (i->src_kind[k] == OPERAND_SPECIAL) add(&e->uniform, S_VCC, 2);
  add(&e->uniform, i->dst, 2);
  add(&e->writes, i->dst, load ? 16 : scalars_of_type(i->op->dst_type));
  add(&e->writes, S_SCC, 1);
}

/* The destination of v_cmp's and v_cmpx's mask; GFX9's v_cmpx, which has two, is called. */
static unsigned mask_result(const struct inst *i) {
  return native_rows[i->op->id].flags & NATIVE_WRITES_EXEC ? S_EXEC : i->dst;
}

static void vector_effects(const struct inst *i, struct effects *e) {
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] == OPERAND_SCALAR)
      add(i->op->src_type[k] == TYPE_mask ? &e->masks : &e->uniform, i->src[k], scalars_of_type(i->op->src_type[k]));
  if (native_rows[i->op->id].flags & NATIVE_READS_VCC) add(&e->masks, S_VCC, 2);
  if (i->op->scalar_dst) add(&e->writes, mask_result(i), 2);
  if (has_mask_result(i)) add(&e->writes, i->dst2, 2);
}

void native_shadow_sources(struct compiler *c, const struct inst *i) {
  struct effects e = {0};
  vector_effects(i, &e);
  for (unsigned k = 0; k < i->op->n_src; k++) {
    struct scalar_set read = {0};
    if (i->src_kind[k] != OPERAND_SCALAR || i->op->src_type[k] == TYPE_mask) continue;
    add(&read, i->src[k], scalars_of_type(i->op->src_type[k]));
    if (!meet(&read, &e.writes)) continue;
    if (c->n_shadows < MAX_SHADOWS) c->shadow[c->n_shadows++] = i->src[k];
    else c->x.full = true;
  }
}

static struct effects effects_of(const struct inst *i, enum kind kind) {
  struct effects e = {0};
  if (kind == KIND_MEMORY) {
    const struct native_memory *m = &native_rows[i->op->id].memory;
    if (i->src_kind[MEM_SADDR] == OPERAND_SCALAR) add(&e.uniform, i->src[MEM_SADDR], 2);
    (m->store ? e.stores : e.loads)[m->space] = true;
  } else if (kind == KIND_PAIR) {
    vector_effects(i->ext->x, &e);
    vector_effects(i->ext->y, &e);
  } else {
    vector_effects(i, &e);
  }
  return e;
}

void native_scalars_of(const struct step *s, struct scalar_set *used, struct scalar_set *written) {
  struct effects e = effects_of(s->i, s->kind);
  *written = e.writes;
  for (size_t k = 0; k < sizeof used->bits / sizeof *used->bits; k++)
    used->bits[k] = e.uniform.bits[k] | e.masks.bits[k] | e.writes.bits[k];
}

/* A lane mask that the instruction accesses overlaps another one that the group writes. */
static bool masks_overlap(const struct inst *i, const struct effects *group, unsigned lanes) {
  unsigned index[7], n = 0;
  if (native_rows[i->op->id].flags & NATIVE_READS_VCC) index[n++] = S_VCC;
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] == OPERAND_SCALAR && i->op->src_type[k] == TYPE_mask) index[n++] = i->src[k];
  if (i->op->scalar_dst) index[n++] = i->dst;
  if (has_mask_result(i)) index[n++] = i->dst2;
  for (unsigned k = 0; k < n && lanes == 64; k++) {
    struct scalar_set beside = {0};   /* a write of the mask that begins one below or one above is visible here */
    if (index[k]) add(&beside, index[k] - 1, 1);
    add(&beside, index[k] + 2, 1);
    if (meet(&beside, &group->writes) && index[k] != S_VCC) return true;
  }
  return false;
}

/* Chunks of lanes pass through a whole group one after the other: a value that an instruction writes for all lanes must
 * not be used by another one of the group, except lane masks, of which each chunk reads its own bits. */
static bool vector_conflicts(const struct inst *i, enum kind kind, const struct effects *group, unsigned lanes, bool unrolled) {
  struct effects e = effects_of(i, kind);
  if (meet(&e.uniform, &group->writes) || meet(&e.writes, &group->uniform)) return true;
  if (kind == KIND_PAIR) return masks_overlap(i->ext->x, group, lanes) || masks_overlap(i->ext->y, group, lanes);
  if (kind == KIND_SEQUENCE) return masks_overlap(i, group, lanes);
  unsigned space = native_rows[i->op->id].memory.space;
  if (space == MEMORY_SCRATCH || unrolled) return false;   /* each lane has its own; chunks do not affect each other */
  return group->stores[space] || (e.stores[space] && group->loads[space]);
}

static void join_effects(struct effects *to, const struct effects *e) {
  for (size_t k = 0; k < sizeof to->writes.bits / 8; k++) {
    to->uniform.bits[k] |= e->uniform.bits[k];
    to->masks.bits[k] |= e->masks.bits[k];
    to->writes.bits[k] |= e->writes.bits[k];
  }
  for (int k = 0; k < MEMORY_SPACES; k++) to->loads[k] |= e->loads[k], to->stores[k] |= e->stores[k];
}

void native_arrange(struct plan *p, unsigned lanes) {
  struct effects group = {0}, scalar;
  unsigned number = 0;
  bool vectors = false;
  for (unsigned n = 0; n < p->n; n++) {
    struct step *s = &p->step[n];
    const struct inst *i = s->i;
    if (s->kind == KIND_NOTHING || s->kind == KIND_JUMP) continue;
    if (native_is_vector(s->kind)) {
      if (vectors && vector_conflicts(i, s->kind, &group, lanes, p->unrolled)) number++, group = (struct effects){0};
      vectors = true;
      struct effects own = effects_of(i, s->kind);
      join_effects(&group, &own);
      s->group = (uint16_t)number;
      if (s->kind == KIND_COMPARE_EXEC) number++, group = (struct effects){0}, vectors = false;
      continue;
    }
    bool hoists = false;
    if (s->kind == KIND_CALL && !(i->op->traits & TRAIT_VALU) && !native_writes_exec(i) &&
        (i->op->format == FORMAT_SMEM || (native_rows[i->op->id].flags & NATIVE_PURE))) {
      scalar_effects(i, &scalar);
      hoists = !meet(&scalar.uniform, &group.writes) && !meet(&scalar.writes, &group.uniform) &&
               !meet(&scalar.writes, &group.masks) && !meet(&scalar.writes, &group.writes) && !(i->op->format == FORMAT_SMEM && group.stores[MEMORY_GLOBAL]);
    }
    if (vectors && !hoists) number++, group = (struct effects){0}, vectors = false;
    s->group = (uint16_t)number;
  }
  p->groups = number + 1;
}
