/* Groups of vector instructions: the loop over chunks of lanes. */
#include "native_linear.h"
#include "native_machine.h"

static bool live_linear(const struct compiler *c, unsigned row) {
  return linear_held(c, row) != NO_VALUE && (!c->live || has_row(c->live, row));
}

bool linear_is_live(const struct compiler *c) {
  for (unsigned row = 0; row < VGPR_ROWS; row++)
    if (live_linear(c, row)) return true;
  return false;
}

void linear_store(struct compiler *c) {
  for (unsigned row = 0; row < VGPR_ROWS; row++) {
    if (!live_linear(c, row)) continue;
    unsigned z = vec_row(c, row);
    if (c->masked) {   /* other lanes keep theirs */
      unsigned old = vec_temporary(c);
      vec_rm(&c->x, MOVDQA_LOAD, old, 0, row_at(c, row, c->chunk), UNMASKED);
      c->machine->merge(c, old, z, c->machine->exec, false);
      z = old;
    }
    vec_rm(&c->x, MOVDQA_STORE, z, 0, row_at(c, row, c->chunk), UNMASKED);
    native_release(c);
  }
}

/* The values that rows were made of: to the next chunk's, or, at the end, back to the first one's. */
static void move_linear(struct compiler *c, bool back) {
  for (unsigned v = 0; c->linear && v < 2 * LINEAR_NODES; v++) {
    if (!(c->linear->moved[v / 64] >> v % 64 & 1)) continue;
    int32_t by = (int32_t)linear_stride(c->linear, v);
    memory_immediate(&c->x, 0, false, FRAME(linear[v]), back ? -by * (int32_t)c->lanes : by * c->machine->lanes);
  }
}

void native_group_begin(struct compiler *c) {
  gpr_rm(&c->x, OP_MOV, true, RBX, WAVE(v));
  gpr_lea(&c->x, R12, SCALAR(0));
  if (!c->unrolled) gpr_lea(&c->x, R14, mem(RBX, c->row_bytes));
  for (unsigned z = 0; z < VECTORS; z++) c->z[z] = (struct held){.key = KEY_FREE};
  for (unsigned k = 0; k < 8; k++) c->k[k] = (struct held){.key = KEY_FREE};
  c->n_slots = c->n_masks = 0;
  if (c->linear) memset(c->linear->moved, 0, sizeof c->linear->moved);
  for (unsigned k = 0; k < c->n_shadows; k++) {
    gpr_rm(&c->x, OP_MOV, true, RAX, SCALAR(c->shadow[k]));
    gpr_store(&c->x, true, mem(RSP, (int32_t)(offsetof(struct frame, shadow) + 8 * k)), RAX);
  }
  c->machine->begin(c);
  c->loop = c->x.at;
  if (c->masked) c->machine->mask_load(c, c->machine->exec, lane_mask(c, S_EXEC), false);
}

/* Combines the chunks' parts of a lane mask: a load of data just written by several smaller stores stalls the
 * processor, a load of each part does not. */
static void join_mask(struct compiler *c, unsigned index) {
  struct memory at = SCALAR(index);
  unsigned bits = c->machine->lanes;
  for (unsigned chunk = 0; chunk < c->lanes / bits; chunk++, at.offset += bits / 8) {
    int k = c->unrolled ? mask_find(c, (int)(chunk << ROW_BITS | index)) : -1;
    if (k < 0) (bits == 8 ? gpr_load8 : gpr_load16)(&c->x, chunk ? RCX : RAX, at);
    else gpr_k(&c->x, chunk ? RCX : RAX, (unsigned)k);
    if (!chunk) continue;
    gpr_shift_left(&c->x, RCX, bits * chunk);
    gpr_rr(&c->x, OP_OR, true, RAX, RCX);
  }
  gpr_store(&c->x, c->lanes == 64, SCALAR(index), RAX);
}

/* Whether a row in the register is read after the group. */
static bool read_later(const struct compiler *c, const struct held *h) {
  bool wide = key_is_wide(h->key);
  unsigned row = (unsigned)(wide ? (h->key - KEY_WIDE) / 2 : h->key) & ((1u << ROW_BITS) - 1);
  return !c->live || has_row(c->live, row) || (wide && has_row(c->live, row + 1));
}

void native_group_end(struct compiler *c) {
  for (unsigned z = c->machine->first; z < c->machine->end; z++)
    if (c->z[z].dirty && read_later(c, &c->z[z])) vec_write_back(c, z);
  if (!c->unrolled) {
    move_linear(c, false);
    gpr_immediate(&c->x, 0, true, RBX, 4 * c->machine->lanes);
    gpr_immediate(&c->x, 0, true, R12, c->machine->lanes / 8);
    gpr_rr(&c->x, OP_CMP, true, RBX, R14);
    jump again = jump_if(&c->x, CC_NE);
    land_at(&c->x, again, c->loop);
    move_linear(c, true);
  }
  for (unsigned k = 0; k < c->n_masks; k++) join_mask(c, c->masks[k]);
}
