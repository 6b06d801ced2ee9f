/* The registers that the instructions of a group share: what they hold, and what is written back to memory. */
#include "native_linear.h"
#include "native_machine.h"

struct memory row_at(const struct compiler *c, unsigned row, unsigned chunk) {
  return mem(RBX, (int32_t)row * c->row_bytes + 4 * c->machine->lanes * (int32_t)chunk);
}
struct memory lane_mask(const struct compiler *c, unsigned index) {
  return mem(R12, (int32_t)(4 * index + c->machine->lanes / 8 * c->chunk));
}
int32_t chunk_bytes(const struct compiler *c) { return (int32_t)(4 * c->machine->lanes * c->chunk); }

static int look(const struct compiler *c, int key) {
  for (int z = c->machine->first; z < c->machine->end; z++)
    if (c->z[z].key == key) return z;
  return -1;
}

static int wide_key(const struct compiler *c, unsigned row, unsigned half) { return KEY_WIDE + 2 * row_key(c, row) + (int)half; }

bool key_is_wide(int key) { return key >= KEY_WIDE && key < KEY_MASK; }

/* z = the low or high dwords of two halves. */
static void narrow(struct compiler *c, unsigned z, unsigned high, int first, int second) {
  c->machine->permute_narrow(c, z, high, (unsigned)first, (unsigned)second);
}

/* The value that a row has instead of its lanes in memory (native_linear.h). */
unsigned linear_held(const struct compiler *c, unsigned row) { return c->linear ? c->linear->held[row] : NO_VALUE; }

void vec_write_back(struct compiler *c, unsigned z) {
  if (!c->z[z].dirty) return;
  c->z[z].dirty = false;
  bool wide = key_is_wide(c->z[z].key);
  unsigned key = wide ? (unsigned)(c->z[z].key - KEY_WIDE) / 2 : (unsigned)c->z[z].key;
  unsigned row = key & ((1u << ROW_BITS) - 1), chunk = key >> ROW_BITS;
  if (!wide) {
    vec_rm(&c->x, MOVDQA_STORE, z, 0, row_at(c, row, chunk), UNMASKED);
    return;
  }
  int first = KEY_WIDE + 2 * (int)key, half[2] = {look(c, first), look(c, first + 1)};
  for (unsigned high = 0; high < 2; high++) {
    narrow(c, c->machine->spare, high, half[0], half[1]);
    vec_rm(&c->x, MOVDQA_STORE, c->machine->spare, 0, row_at(c, row + high, chunk), UNMASKED);
  }
  c->z[half[0]].dirty = c->z[half[1]].dirty = false;
}

/* The register no longer holds the value of its key. */
static void forget(struct compiler *c, int z) {
  if (z < 0) return;
  c->z[z].key = c->z[z].pinned ? KEY_TEMPORARY : KEY_FREE;
  c->z[z].dirty = false;
}

/* Called before one of the pair's rows is written separately. */
static void leave_wide(struct compiler *c, unsigned row) {
  for (unsigned half = 0; half < 2; half++) {
    int z = look(c, wide_key(c, row, half));
    if (z < 0) continue;
    vec_write_back(c, (unsigned)z);
    forget(c, z);
  }
}

/* A register to use: a free one, or the least recently used. */
static unsigned take(struct compiler *c, int key) {
  unsigned best = VECTORS;
  for (unsigned z = c->machine->first; z < c->machine->end; z++) {
    if (c->z[z].pinned) continue;
    if (c->z[z].key == KEY_FREE) {
      best = z;
      break;
    }
    if (best == VECTORS || c->z[z].used < c->z[best].used) best = z;
  }
  if (best == VECTORS) return c->x.full = true, c->machine->first;   /* no sequence needs that many */
  vec_write_back(c, best);
  c->z[best] = (struct held){.key = key, .used = ++c->clock, .pinned = true};
  return best;
}

static int find(struct compiler *c, int key) {
  int z = look(c, key);
  if (z >= 0) c->z[z].used = ++c->clock, c->z[z].pinned = true;
  return z;
}

unsigned vec_temporary(struct compiler *c) { return take(c, KEY_TEMPORARY); }

unsigned vec_row(struct compiler *c, unsigned row) {
  int found = find(c, row_key(c, row));
  if (found >= 0) return (unsigned)found;
  for (unsigned high = 0; high < 2 && high <= row; high++) {
    int first = look(c, wide_key(c, row - high, 0)), second = look(c, wide_key(c, row - high, 1));
    if (first < 0 || second < 0) continue;
    c->z[first].used = c->z[second].used = c->clock + 1;   /* these must not be evicted */
    bool pinned[2] = {c->z[first].pinned, c->z[second].pinned};
    c->z[first].pinned = c->z[second].pinned = true;
    unsigned z = take(c, row_key(c, row));
    c->z[first].pinned = pinned[0], c->z[second].pinned = pinned[1];
    narrow(c, z, high, first, second);
    return z;
  }
  unsigned z = take(c, row_key(c, row)), value = linear_held(c, row);
  if (value != NO_VALUE) {
    unsigned stride = linear_stride(c->linear, value);
    vec_rm(&c->x, BROADCAST_D, z, 0, FRAME(linear[value]), UNMASKED);
    if (!stride) return z;
    gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(stride));
    vec_rm(&c->x, PADDD, z, z, mem(RDX, 0), UNMASKED);
    c->linear->moved[value / 64] |= UINT64_C(1) << value % 64;
  } else {
    vec_rm(&c->x, MOVDQA_LOAD, z, 0, row_at(c, row, c->chunk), UNMASKED);
  }
  return z;
}

static void linear_forget(struct compiler *c, unsigned row) {
  if (c->linear) c->linear->held[row] = NO_VALUE;
}

unsigned vec_wide(struct compiler *c, unsigned row, unsigned half) {
  int found = find(c, wide_key(c, row, half));
  if (found >= 0) return (unsigned)found;
  int held[2] = {look(c, row_key(c, row)), look(c, row_key(c, row + 1))};
  bool pinned[2] = {held[0] >= 0 && c->z[held[0]].pinned, held[1] >= 0 && c->z[held[1]].pinned};
  unsigned low = vec_row(c, row), high = vec_row(c, row + 1), z = take(c, wide_key(c, row, half));
  c->machine->permute_wide(c, z, half, low, high);
  c->z[low].pinned = pinned[0], c->z[high].pinned = pinned[1];
  return z;
}

/* Location of a scalar source: 32-bit parts of wide ones use the copy of the whole. */
static struct memory scalar_at(const struct compiler *c, unsigned index, bool wide) {
  for (unsigned k = 0; k < c->n_shadows; k++)
    if (c->shadow[k] == index || (!wide && c->shadow[k] + 1u == index))
      return mem(RSP, (int32_t)(offsetof(struct frame, shadow) + 8 * k + 4 * (index - c->shadow[k])));
  return SCALAR(index);
}

unsigned vec_scalar(struct compiler *c, unsigned index) {
  int found = find(c, KEY_SCALAR + (int)index);
  if (found >= 0) return (unsigned)found;
  unsigned z = take(c, KEY_SCALAR + (int)index);
  vec_rm(&c->x, BROADCAST_D, z, 0, scalar_at(c, index, false), UNMASKED);
  return z;
}

unsigned vec_scalar64(struct compiler *c, unsigned index) {
  int found = find(c, KEY_SCALAR64 + (int)index);
  if (found >= 0) return (unsigned)found;
  unsigned z = take(c, KEY_SCALAR64 + (int)index);
  vec_rm(&c->x, BROADCAST_Q, z, 0, scalar_at(c, index, true), UNMASKED);
  return z;
}

static unsigned constant(struct compiler *c, int key, uint64_t value) {
  for (unsigned z = c->machine->first; z < c->machine->end; z++)
    if (c->z[z].key == key && c->z[z].constant == value) {
      c->z[z].used = ++c->clock;
      c->z[z].pinned = true;
      return z;
    }
  unsigned z = take(c, key);
  c->z[z].constant = value;
  if (key == KEY_CONSTANT || !value) {
    vec_constant(&c->x, z, (uint32_t)value);
  } else {
    gpr_constant(&c->x, RAX, value);
    vec_broadcast(&c->x, z, RAX, true);
  }
  return z;
}

unsigned vec_const(struct compiler *c, uint32_t value) { return constant(c, KEY_CONSTANT, value); }
unsigned vec_table(struct compiler *c, unsigned table) {
  int found = find(c, KEY_TABLE + (int)table);
  if (found >= 0) return (unsigned)found;
  unsigned z = take(c, KEY_TABLE + (int)table);
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(table));
  vec_rm(&c->x, MOVDQA_LOAD, z, 0, mem(RDX, 0), UNMASKED);
  return z;
}

unsigned vec_const64(struct compiler *c, uint64_t value) { return constant(c, KEY_CONSTANT64, value); }

static unsigned k_take(struct compiler *c, int key) {
  unsigned best = 0;
  for (unsigned k = K_FIRST; k <= K_LAST; k++)
    if (!c->k[k].pinned && (!best || c->k[k].key == KEY_FREE || c->k[k].used < c->k[best].used)) {
      best = k;
      if (c->k[k].key == KEY_FREE) break;
    }
  if (!best) return c->x.full = true, (unsigned)K_FIRST;
  c->k[best] = (struct held){.key = key, .used = ++c->clock, .pinned = true};
  return best;
}

int mask_find(struct compiler *c, int key) {
  for (unsigned k = K_FIRST; k <= K_LAST; k++)
    if (c->k[k].key == key) {
      c->k[k].used = ++c->clock;
      c->k[k].pinned = true;
      return (int)k;
    }
  return -1;
}

struct held *mask_held(struct compiler *c, unsigned k) { return c->machine->vex ? &c->z[k] : &c->k[k]; }
static int mask_key(const struct compiler *c, unsigned index) { return row_key(c, index) + (c->machine->vex ? KEY_MASK : 0); }
static unsigned mask_take(struct compiler *c, int key) { return c->machine->vex ? take(c, key) : k_take(c, key); }

unsigned mask_temporary(struct compiler *c) { return mask_take(c, KEY_TEMPORARY); }

unsigned mask_scalar(struct compiler *c, unsigned index) {
  int key = mask_key(c, index), found = c->machine->vex ? find(c, key) : mask_find(c, key);
  if (found >= 0) return (unsigned)found;
  unsigned k = mask_take(c, key);
  c->machine->mask_load(c, k, lane_mask(c, index), false);
  return k;
}

void commit_mask(struct compiler *c, unsigned index, unsigned k) {
  bool listed = c->n_masks == MAX_MASKS;
  for (unsigned n = 0; n < c->n_masks; n++) listed |= c->masks[n] == index;
  if (!listed) c->masks[c->n_masks++] = (uint16_t)index;
  c->machine->mask_store(c, lane_mask(c, index), k);
  unsigned first = c->machine->vex ? c->machine->first : K_FIRST, end = c->machine->vex ? c->machine->end : K_LAST + 1;
  for (unsigned n = first; n < end; n++) {   /* masks that overlap it */
    struct held *h = mask_held(c, n);
    int distance = h->key - mask_key(c, index);
    if (h->key >= 0 && distance >= -1 && distance <= 1) h->key = h->pinned ? KEY_TEMPORARY : KEY_FREE;
  }
  mask_held(c, k)->key = mask_key(c, index);
}

void native_release(struct compiler *c) {
  for (unsigned z = 0; z < VECTORS; z++) {
    c->z[z].pinned = false;
    if (c->z[z].key == KEY_TEMPORARY) c->z[z].key = KEY_FREE;
  }
  for (unsigned k = K_FIRST; k <= K_LAST; k++) {
    c->k[k].pinned = false;
    if (c->k[k].key == KEY_TEMPORARY) c->k[k].key = KEY_FREE;
  }
}

void vec_free(struct compiler *c, unsigned z) {
  c->z[z].pinned = false;
  if (c->z[z].key == KEY_TEMPORARY) c->z[z].key = KEY_FREE;
}

/* Invalidates facts about the addresses in the row. */
static void row_changed(struct compiler *c, unsigned row) {
  for (unsigned s = 0; s < c->n_slots; s++)
    if (c->slots[s].row == row_key(c, row)) c->slots[s].row = -1;
}

/* A row has its lanes in memory again, and no register has what they were instead. */
static void linear_end(struct compiler *c, unsigned row) {
  if (linear_held(c, row) == NO_VALUE) return;
  forget(c, look(c, row_key(c, row)));
  for (unsigned first = row ? row - 1 : 0; first <= row; first++)
    for (unsigned half = 0; half < 2; half++) forget(c, look(c, wide_key(c, first, half)));
  linear_forget(c, row);
}

void commit_row(struct compiler *c, unsigned row, unsigned z) { commit_lanes(c, row, z, c->masked ? c->machine->exec : 0); }

void commit_lanes(struct compiler *c, unsigned row, unsigned z, unsigned k) {
  row_changed(c, row);
  leave_wide(c, row);
  if (row) leave_wide(c, row - 1);
  if (k) {
    if (c->masked) linear_end(c, row);   /* the other lanes' values are in memory */
    unsigned old = vec_row(c, row);
    linear_forget(c, row);
    c->machine->merge(c, old, z, k, false);
    c->z[old].dirty = true;
    return;
  }
  linear_forget(c, row);
  forget(c, look(c, row_key(c, row)));
  if (c->z[z].key != KEY_TEMPORARY) {   /* it remains a copy */
    unsigned copy = vec_temporary(c);
    vec_rr(&c->x, MOVDQA_LOAD, copy, 0, z, UNMASKED);
    z = copy;
  }
  c->z[z].key = row_key(c, row);
  c->z[z].dirty = true;
}

void commit_wide(struct compiler *c, unsigned row, const unsigned z[2]) {
  unsigned to[2];
  row_changed(c, row), row_changed(c, row + 1);
  for (unsigned high = 0; high < 2; high++) {
    if (c->masked) linear_end(c, row + high);
    linear_forget(c, row + high);
  }
  if (row) leave_wide(c, row - 1);
  leave_wide(c, row + 1);
  for (unsigned half = 0; half < 2; half++) {
    if (c->masked) {
      to[half] = vec_wide(c, row, half);
      c->machine->merge(c, to[half], z[half], c->machine->mask_half(c, c->machine->exec, half), true);
    } else {
      to[half] = z[half];
      if (c->z[to[half]].key != KEY_TEMPORARY || (half && to[1] == to[0])) {
        to[half] = vec_temporary(c);
        vec_rr(&c->x, MOVDQA_LOAD, to[half], 0, z[half], UNMASKED);
      }
    }
  }
  if (!c->masked)
    for (unsigned half = 0; half < 2; half++) c->z[to[half]].dirty = false;
  forget(c, look(c, row_key(c, row))), forget(c, look(c, row_key(c, row + 1)));
  for (unsigned half = 0; half < 2; half++) {
    int old = look(c, wide_key(c, row, half));
    if (old >= 0 && (unsigned)old != to[half]) forget(c, old);
    c->z[to[half]].key = wide_key(c, row, half);
  }
  c->z[to[0]].dirty = c->z[to[1]].dirty = true;
}

void linear_define(struct compiler *c, unsigned row, unsigned value, bool open) {
  if (open) {
    row_changed(c, row);
    leave_wide(c, row);
    if (row) leave_wide(c, row - 1);
    forget(c, look(c, row_key(c, row)));
  }
  c->linear->held[row] = (uint8_t)value;
}
