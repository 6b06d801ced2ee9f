/* Loads and stores of 16 lanes: neighbouring addresses in one access, others by gather and scatter, and what is left
 * (faults, lanes in several allocations, bytes at scattered addresses) by native_access in C. */
#include "access.h"
#include "native_emit.h"
#include "wave_events.h"

static const uint8_t kind_bytes[] = {4, 8, 12, 16, 1, 1, 2, 2, 1, 2};

static unsigned bytes_of(const struct native_memory *m) { return kind_bytes[m->kind]; }
static unsigned dwords_of(const struct native_memory *m) { return bytes_of(m) <= 4 ? 1 : bytes_of(m) / 4; }
static const struct native_memory *memory_of(const struct inst *i) { return &native_rows[i->op->id].memory; }

bool native_memory_known(const struct inst *i) {
  const struct native_memory *m = memory_of(i);
  if (m->space == MEMORY_NONE || (i->flags & (FLAG_GDS | FLAG_LDS))) return false;
  if (m->space == MEMORY_SCRATCH) return bytes_of(m) >= 4;
  return m->space == MEMORY_GLOBAL || (m->kind != MEMORY_B96 && !(m->kind == MEMORY_B128 && m->store));
}

/* --- in C --------------------------------------------------------------------------------------------- */

static unsigned offset_of(const struct inst *i, const struct native_memory *m, unsigned which) {
  if (!m->unit) return (uint16_t)i->imm;
  return (which ? i->imm >> 8 & 0xff : i->imm & 0xff) * m->unit;
}

/* A lane's private memory is interleaved by dword. */
static void copy_scratch(const struct wave *w, unsigned lane, uint32_t offset, uint32_t *value, unsigned bytes, bool store) {
  for (unsigned k = 0; k < bytes; k++, offset++) {
    uint8_t *at = w->scratch + ((size_t)offset / 4 * w->wg->lanes + lane) * 4 + offset % 4, *byte = (uint8_t *)value + k;
    if (store) *at = *byte;
    else *byte = *at;
  }
}

static bool access_scratch(struct wave *w, const struct inst *i, struct frame *f, unsigned lane, unsigned lane0,
                           const struct native_memory *m) {
  unsigned bytes = bytes_of(m);
  uint64_t offset = f->offset[lane];
  if (offset + bytes > w->scratch_size) {
    wave_fault(w, i, FAULT_SCRATCH, (int)(lane0 + lane), offset, "%s of %u bytes at private offset 0x%llx of %llu",
               m->store ? "write" : "read", bytes, (unsigned long long)offset, (unsigned long long)w->scratch_size);
    return false;
  }
  uint32_t value[4];
  for (unsigned k = 0; k < dwords_of(m) && m->store; k++) value[k] = f->data[k][lane];
  copy_scratch(w, lane0 + lane, (uint32_t)offset, value, bytes, m->store);
  for (unsigned k = 0; k < dwords_of(m) && !m->store; k++) f->data[k][lane] = value[k];
  return true;
}

/* One lane's element: to or from frame->data. False: the fault is raised. */
static bool access_lane(struct wave *w, const struct inst *i, struct frame *f, unsigned lane, unsigned lane0,
                        const struct native_memory *m) {
  unsigned bytes = bytes_of(m);
  uint8_t *at;
  if (m->space == MEMORY_SCRATCH) return access_scratch(w, i, f, lane, lane0, m);
  if (m->space == MEMORY_LDS) {
    uint64_t offset = f->offset[lane];
    if (offset + bytes > w->lds_size) {
      wave_fault(w, i, FAULT_LDS, (int)(lane0 + lane), offset, "%u bytes at LDS offset 0x%llx of %u", bytes,
                 (unsigned long long)offset, w->lds_size);
      return false;
    }
    at = w->lds + offset;
  } else {
    uint64_t address = f->address[lane];
    const struct mem_window *found = address + bytes > address ? find_window(w, address, address + bytes - 1) : NULL;
    if (!found || (m->store && !found->writable)) {
      wave_memory_fault(w, i, (int)(lane0 + lane), address, bytes, m->store);
      return false;
    }
    at = (uint8_t *)(uintptr_t)address;
  }
  uint32_t value[4] = {0};
  if (m->store) {
    for (unsigned k = 0; k < dwords_of(m); k++) value[k] = f->data[k][lane];
    memcpy(at, value, bytes);
    return true;
  }
  if (bytes == 8) {   /* in one access, as atomic loads are made of it */
    uint64_t both = *(const uint64_t __attribute__((aligned(1), may_alias)) *)at;
    memcpy(value, &both, 8);
  } else {
    memcpy(value, at, bytes);
  }
  if (m->kind == MEMORY_I8) value[0] = (uint32_t)(int8_t)value[0];
  if (m->kind == MEMORY_I16) value[0] = (uint32_t)(int16_t)value[0];
  for (unsigned k = 0; k < dwords_of(m); k++) f->data[k][lane] = value[k];
  return true;
}

/* The lanes' accesses one by one; the allocation found is remembered for the machine code. */
static uint64_t native_access(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v,
                              struct native_site *site) {
  const struct native_memory *m = memory_of(i);
  unsigned lane0 = (unsigned)(v - w->v), bytes = bytes_of(m);
  for (uint64_t rest = f->lanes & 0xffff; rest; rest &= rest - 1)
    if (!access_lane(w, i, f, (unsigned)__builtin_ctzll(rest), lane0, m)) return 0;
  if (m->space == MEMORY_GLOBAL && (f->lanes & 0xffff)) {
    uint64_t address = f->address[63 - __builtin_clzll(f->lanes & 0xffff)];
    const struct mem_window *found = find_window(w, address, address + bytes - 1);
    *site = (struct native_site){found->lo, found->hi - bytes};
  }
  return 1;
}

/* Called with rax: the function, rsi: the instruction, r8: the site. Saves what C code may change. Result in rax. */
void native_access_emit(struct x86 *x) {
  enum { BACK = 8 };   /* the return address is above the frame */
  for (int k = 0; k < ZMM_COUNT; k++)
    zmm_rm(x, MOVDQA_STORE, (unsigned)k, 0, mem(RSP, BACK + (int32_t)offsetof(struct frame, zmm) + 64 * k), UNMASKED);
  for (int k = 1; k < 8; k++) k_store(x, (unsigned)k, mem(RSP, BACK + (int32_t)offsetof(struct frame, k) + 2 * k));
  gpr_rr(x, OP_MOV, true, RDI, R13);
  gpr_lea(x, RDX, mem(RSP, BACK));
  gpr_rr(x, OP_MOV, true, RCX, RBX);
  gpr_immediate(x, 5, true, RSP, 8);
  put8(x, 0xff), put8(x, 0xd0);
  gpr_immediate(x, 0, true, RSP, 8);
  for (int k = 0; k < ZMM_COUNT; k++)
    zmm_rm(x, MOVDQA_LOAD, (unsigned)k, 0, mem(RSP, BACK + (int32_t)offsetof(struct frame, zmm) + 64 * k), UNMASKED);
  for (int k = 1; k < 8; k++) k_load(x, (unsigned)k, mem(RSP, BACK + (int32_t)offsetof(struct frame, k) + 2 * k));
  put8(x, 0xc3);
}

/* --- pieces of machine code ----------------------------------------------------------------------------- */

static struct masking exec_mask(const struct compiler *c, bool zero) {
  return (struct masking){c->masked ? K_EXEC : 0, c->masked && zero};
}

/* zmm = the numbers 0, bytes, 2 * bytes ... by lane, or a table for vpermi2d. */
static _Alignas(64) uint32_t tables[TABLES][16];
static void make_tables(void) {
  for (unsigned k = 0; k < 16; k++) {
    for (unsigned step = 1; step <= 16; step *= 2) tables[step][k] = k * step;
    tables[TABLE_EVEN][k] = 2 * k;
    tables[TABLE_ODD][k] = 2 * k + 1;
    tables[TABLE_LOW][k] = k / 2 + k % 2 * 16;        /* interleaves the low halves of two rows */
    tables[TABLE_HIGH][k] = 8 + k / 2 + k % 2 * 16;
    tables[TABLE_QUAD_LOW][k] = k / 4 * 2 + k % 2 + k / 2 % 2 * 16;   /* the same with pairs of dwords */
    tables[TABLE_QUAD_HIGH][k] = 8 + tables[TABLE_QUAD_LOW][k];
    for (unsigned n = 0; n < 4; n++) tables[TABLE_FOURTH + n][k] = (4 * k + n) & 31;   /* every fourth, from the n-th */
  }
}
static const uint32_t *table_at(unsigned table) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tables);
  return tables[table];
}
static unsigned zmm_table(struct compiler *c, unsigned table) {
  unsigned z = zmm_temporary(c);
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(table));
  zmm_rm(&c->x, MOVDQA_LOAD, z, 0, mem(RDX, 0), UNMASKED);
  return z;
}

void native_permute(struct compiler *c, unsigned to, unsigned table, unsigned low, unsigned high) {
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(table));
  zmm_rm(&c->x, MOVDQA_LOAD, to, 0, mem(RDX, 0), UNMASKED);
  zmm_rr(&c->x, PERMI2D, to, low, high, UNMASKED);
}

/* Four dwords a lane: 16 lanes are four registers' worth of memory. */
static void load_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at) {
  unsigned upper = t[4];
  for (int n = 0; n < 4; n++) {
    struct memory part = at;
    part.offset += 64 * n;
    zmm_rm(&c->x, MOVDQU_LOAD, t[n], 0, part, UNMASKED);
  }
  for (unsigned n = 0; n < 4; n++) {
    native_permute(c, z[n], TABLE_FOURTH + n, t[0], t[1]);
    native_permute(c, upper, TABLE_FOURTH + n, t[2], t[3]);
    zmm_rr(&c->x, INSERT_HALF, z[n], z[n], upper, UNMASKED), put8(&c->x, 1);
  }
}
static void store_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at) {
  unsigned pairs[2][2] = {{t[0], t[1]}, {t[2], t[3]}}, out = t[4];
  for (unsigned n = 0; n < 2; n++)
    for (unsigned high = 0; high < 2; high++) {
      native_permute(c, pairs[high][n], high ? TABLE_HIGH : TABLE_LOW, z[2 * n], z[2 * n + 1]);
    }
  for (unsigned n = 0; n < 4; n++) {
    struct memory part = at;
    part.offset += 64 * (int32_t)n;
    native_permute(c, out, n & 1 ? TABLE_QUAD_HIGH : TABLE_QUAD_LOW, pairs[n / 2][0], pairs[n / 2][1]);
    zmm_rm(&c->x, MOVDQU_STORE, out, 0, part, UNMASKED);
  }
}

/* Loads elements that lie one after the other from [rax + offset]. z: the result's registers, then a temporary for
 * each more. */
static void load_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at) {
  static const struct evex *const small[] = {[MEMORY_U8] = &MOVZX_B, [MEMORY_I8] = &MOVSX_B, [MEMORY_U16] = &MOVZX_W,
                                             [MEMORY_I16] = &MOVSX_W};
  struct memory next = at;
  next.offset += 64;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B64:   /* the two halves of the lanes, then low and high dwords of each */
    if (c->masked) {
      zmm_rr(&c->x, PXORD, z[2], z[2], z[2], UNMASKED);
      zmm_rr(&c->x, PXORD, z[3], z[3], z[3], UNMASKED);
      k_shift_right(&c->x, z[7], K_EXEC, 8);
      zmm_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[2], 0, at, (struct masking){K_EXEC, false});
      zmm_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[3], 0, next, (struct masking){z[7], false});
    } else {
      zmm_rm(&c->x, MOVDQU_LOAD, z[2], 0, at, UNMASKED);
      zmm_rm(&c->x, MOVDQU_LOAD, z[3], 0, next, UNMASKED);
    }
    native_permute(c, z[0], TABLE_EVEN, z[2], z[3]);
    native_permute(c, z[1], TABLE_ODD, z[2], z[3]);
    break;
  case MEMORY_B32: zmm_rm(&c->x, MOVDQU_LOAD, z[0], 0, at, exec_mask(c, true)); break;
  default: zmm_rm(&c->x, *small[m->kind], z[0], 0, at, exec_mask(c, true)); break;
  }
}

static void store_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at) {
  struct memory next = at;
  next.offset += 64;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B64:
    native_permute(c, z[2], TABLE_LOW, z[0], z[1]);
    native_permute(c, z[3], TABLE_HIGH, z[0], z[1]);
    if (c->masked) k_shift_right(&c->x, z[7], K_EXEC, 8);
    zmm_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[2], 0, at, exec_mask(c, false));
    zmm_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[3], 0, next, (struct masking){c->masked ? z[7] : 0, false});
    break;
  case MEMORY_B8: zmm_rm(&c->x, TRUNCATE_B, z[0], 0, at, exec_mask(c, false)); break;
  case MEMORY_B16: zmm_rm(&c->x, TRUNCATE_W, z[0], 0, at, exec_mask(c, false)); break;
  default: zmm_rm(&c->x, MOVDQU_STORE, z[0], 0, at, exec_mask(c, false)); break;
  }
}

void native_lanes(struct compiler *c, unsigned k) {
  if (c->masked) k_op(&c->x, K_OR, k, K_EXEC, K_EXEC);
  else k_op(&c->x, K_XNOR, k, k, k);
}

/* The access in C. The addresses are in the frame. d->z[0...]: data. */
static void call_access(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  if (c->masked) gpr_k(x, RAX, K_EXEC);
  else gpr_constant(x, RAX, 0xffff);
  gpr_store(x, true, FRAME(lanes), RAX);
  for (unsigned n = 0; n < d->n_data && d->memory->store; n++)
    zmm_rm(x, MOVDQA_STORE, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_lea(x, R8, mem(R15, (int32_t)(d->site * sizeof(struct native_site))));
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)native_access);
  put8(x, 0xe8), put32(x, 0);
  land_at(x, x->at, c->access);
  put8(x, 0x48), put8(x, 0x85), put8(x, 0xc0);   /* test rax, rax */
  leave(c, jump_if(x, CC_E));
  for (unsigned n = 0; n < d->n_data && !d->memory->store; n++)
    zmm_rm(x, MOVDQA_LOAD, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  land_at(x, jump_always(x), d->back);
}

/* --- global memory --------------------------------------------------------------------------------------- */

/* The element for all lanes, where they have one address. Jumps to where they have not. */
static void global_same(struct compiler *c, const struct detour *d, jump *other, unsigned *n_other) {
  struct x86 *x = &c->x;
  unsigned t = d->z[4], spare = d->pattern_slot, k = d->k, mask = c->masked ? K_EXEC : 0;
  bool scalar = d->z[7] == 255;
  for (unsigned part = 0; part < (scalar ? 1 : 2); part++) {
    unsigned row = d->z[6 + part], first = row;
    if (c->masked) zmm_rr(x, PCOMPRESSD, row, 0, first = t, (struct masking){K_EXEC, true});
    gpr_zmm(x, part ? RCX : RAX, first);
    zmm_rr(x, BROADCAST_D, spare, 0, first, UNMASKED);
    zmm_compare(x, PCMPD, k, row, spare, 4, mask);
    k_test(x, k);
    other[(*n_other)++] = jump_if(x, CC_NE);
  }
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
  else gpr_shift_left(x, RCX, 32), gpr_rr(x, OP_OR, true, RAX, RCX);
  if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
  int32_t site = (int32_t)(d->site * sizeof(struct native_site));
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
  other[(*n_other)++] = jump_if(x, CC_B);
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site + 8));
  other[(*n_other)++] = jump_if(x, CC_A);
  if (d->memory->kind == MEMORY_B64) {   /* in one access */
    gpr_rm(x, OP_MOV, true, RCX, mem(RAX, 0));
    zmm_rr(x, BROADCAST_GPR, d->z[0], 0, RCX, UNMASKED);
    put8(x, 0x48), put8(x, 0xc1), put8(x, 0xe9), put8(x, 32);   /* shr rcx, 32 */
    zmm_rr(x, BROADCAST_GPR, d->z[1], 0, RCX, UNMASKED);
  } else {
    for (int32_t n = 0; n < d->n_data; n++) zmm_rm(x, BROADCAST_D, d->z[n], 0, mem(RAX, 4 * n), UNMASKED);
  }
  land_at(x, jump_always(x), d->back);
}

/* Detour: addresses that are no row. z: data 0-3; 4, 5 temporaries; 6 low and 7 high dwords (7: 255: from a scalar).
 * k: two free mask registers from here on. */
static void global_scattered(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  unsigned first = d->z[4], second = d->z[5], low = d->z[6], high = d->z[7], spare = d->pattern_slot;
  bool scalar = high == 255;
  jump other[4];
  unsigned n_other = 0;
  if (!d->memory->store && bytes_of(d->memory) >= 4) global_same(c, d, other, &n_other);
  for (unsigned n = 0; n < n_other; n++) land(x, other[n]);
  for (int half = 0; half < 2; half++) {
    unsigned to = half ? second : first;
    unsigned from = low;
    if (half) {
      zmm_rr(x, EXTRACT_HALF, low, 0, to, UNMASKED), put8(x, 1);
      from = to;
    }
    zmm_rr(x, MOVZX_DQ, to, 0, from, UNMASKED);
    if (!scalar) {
      from = high;
      if (half) {
        zmm_rr(x, EXTRACT_HALF, high, 0, spare, UNMASKED), put8(x, 1);
        from = spare;
      }
      zmm_rr(x, MOVZX_DQ, spare, 0, from, UNMASKED);
      zmm_shift_q(x, spare, spare, 6, 32, UNMASKED);
      zmm_rr(x, PORQ, to, to, spare, UNMASKED);
    }
  }
  if (scalar) {
    gpr_rm(x, OP_MOV, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
    if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
  } else {
    put8(x, 0x48), put8(x, 0xc7), put8(x, 0xc0), put32(x, (uint32_t)d->offset);   /* mov rax, sign-extended */
  }
  if (scalar || d->offset) {
    zmm_rr(x, BROADCAST_GPRQ, spare, 0, RAX, UNMASKED);
    zmm_rr(x, PADDQ, first, first, spare, UNMASKED);
    zmm_rr(x, PADDQ, second, second, spare, UNMASKED);
  }
  jump outside[2];
  unsigned n_outside = 0;
  bool gathers = bytes_of(d->memory) >= 4 && !(d->memory->store && d->n_data > 2);   /* elements may overlap: in C */
  unsigned k = d->k, k2 = d->k + 1u;   /* two that are free */
  if (gathers) {
    int32_t site = (int32_t)(d->site * sizeof(struct native_site));
    for (unsigned bound = 0; bound < 2; bound++) {   /* below the site's first address, above its last */
      uint8_t relation = bound ? 6 : 1;
      native_lanes(c, k);
      k_shift_right(x, k2, k, 8);
      zmm_rm(x, BROADCAST_Q, spare, 0, mem(R15, site + 8 * (int32_t)bound), UNMASKED);
      zmm_compare(x, PCMPUQ, k, first, spare, relation, k);
      zmm_compare(x, PCMPUQ, k2, second, spare, relation, k2);
      k_op(x, K_OR, k, k, k2);
      k_test(x, k);
      outside[n_outside++] = jump_if(x, CC_NE);
    }
    native_lanes(c, k);
    k_shift_right(x, k2, k, 8);
    gpr_constant(x, RAX, 0);   /* gathers want a base */
    if (d->n_data > 2) {
      for (int32_t n = 0; n < d->n_data; n++) {
        native_lanes(c, k);
        k_shift_right(x, k2, k, 8);
        zmm_rm(x, GATHER_QD, d->z[n], 0, mem_zmm(RAX, first, 4 * n), (struct masking){(uint8_t)k, false});
        zmm_rm(x, GATHER_QD, spare, 0, mem_zmm(RAX, second, 4 * n), (struct masking){(uint8_t)k2, false});
        zmm_rr(x, INSERT_HALF, d->z[n], d->z[n], spare, UNMASKED), put8(x, 1);
      }
    } else if (d->memory->kind == MEMORY_B64) {
      if (d->memory->store) {
        native_permute(c, d->z[2], TABLE_LOW, d->z[0], d->z[1]);
        native_permute(c, d->z[3], TABLE_HIGH, d->z[0], d->z[1]);
        zmm_rm(x, SCATTER_QQ, d->z[2], 0, mem_zmm(RAX, first, 0), (struct masking){(uint8_t)k, false});
        zmm_rm(x, SCATTER_QQ, d->z[3], 0, mem_zmm(RAX, second, 0), (struct masking){(uint8_t)k2, false});
      } else {
        zmm_rm(x, GATHER_QQ, d->z[2], 0, mem_zmm(RAX, first, 0), (struct masking){(uint8_t)k, false});
        zmm_rm(x, GATHER_QQ, d->z[3], 0, mem_zmm(RAX, second, 0), (struct masking){(uint8_t)k2, false});
        native_permute(c, d->z[0], TABLE_EVEN, d->z[2], d->z[3]);
        native_permute(c, d->z[1], TABLE_ODD, d->z[2], d->z[3]);
      }
    } else if (d->memory->store) {
      zmm_rr(x, EXTRACT_HALF, d->z[0], 0, spare, UNMASKED), put8(x, 1);
      zmm_rm(x, SCATTER_QD, d->z[0], 0, mem_zmm(RAX, first, 0), (struct masking){(uint8_t)k, false});
      zmm_rm(x, SCATTER_QD, spare, 0, mem_zmm(RAX, second, 0), (struct masking){(uint8_t)k2, false});
    } else {
      zmm_rm(x, GATHER_QD, d->z[0], 0, mem_zmm(RAX, first, 0), (struct masking){(uint8_t)k, false});
      zmm_rm(x, GATHER_QD, spare, 0, mem_zmm(RAX, second, 0), (struct masking){(uint8_t)k2, false});
      zmm_rr(x, INSERT_HALF, d->z[0], d->z[0], spare, UNMASKED), put8(x, 1);
    }
    land_at(x, jump_always(x), d->back);
  }
  for (unsigned n = 0; n < n_outside; n++) land(x, outside[n]);
  zmm_rm(x, MOVDQA_STORE, first, 0, FRAME(address), UNMASKED);
  zmm_rm(x, MOVDQA_STORE, second, 0, mem(RSP, 64), UNMASKED);
  call_access(c, d);
}

/* Sites are shared by instructions with elements of one size that go in one direction. */
static unsigned site_of(struct compiler *c, const struct native_memory *m) {
  static const uint8_t sizes[] = {[1] = 0, [2] = 1, [4] = 2, [8] = 3, [12] = 4, [16] = 5};
  unsigned size = sizes[bytes_of(m)], number = c->n_sites++;
  return m->store ? 6 * 48 + size * 16 + number % 16 : size * 48 + number % 48;
}
_Static_assert(SCALAR_SITES == 6 * 48 + 6 * 16, "six sizes: 48 sites for loads and 16 for stores each");

/* The distance at which elements are taken to lie one after the other; those of three dwords overlap, as neighbours
 * in stencils do. */
static unsigned step_of(const struct native_memory *m) { return m->kind == MEMORY_B96 ? 4 : bytes_of(m); }

/* All registers are taken before the first jump: taking one may write another back. */
static void global_emit(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m);
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  unsigned low = zmm_row(c, i->src[MEM_ADDR]), high = scalar ? 255 : zmm_row(c, i->src[MEM_ADDR] + 1u);
  struct detour *d = detour_new(c, i);
  d->emit = global_scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  d->site = site_of(c, m);
  d->offset = i->imm;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? zmm_row(c, i->src[MEM_DATA] + n) : zmm_temporary(c));
  for (unsigned n = dwords; n < 4 && dwords == 2; n++) d->z[n] = (uint8_t)zmm_temporary(c);
  d->z[4] = (uint8_t)zmm_temporary(c), d->z[5] = (uint8_t)zmm_temporary(c);
  d->z[6] = (uint8_t)low, d->z[7] = (uint8_t)high;
  d->pattern_slot = (uint8_t)zmm_temporary(c);
  bool quads = dwords == 4 && !c->masked;
  unsigned spare[5];
  for (unsigned n = 0; n < 5 && quads; n++) spare[n] = zmm_temporary(c);
  /* Two neighbouring mask registers. */
  unsigned k = K_LAST - 1, k2 = K_LAST;
  c->k[k].key = c->k[k2].key = KEY_FREE;
  d->k = (uint8_t)k;
  unsigned t1 = d->z[4], t2 = d->z[5], step = step_of(m), steps = zmm_table(c, step);
  zmm_rr(x, PSUBD, t1, low, steps, UNMASKED);
  unsigned first = low, first_high = high;
  if (c->masked) {
    k_test(x, K_EXEC);
    jump none = jump_if(x, CC_E);
    zmm_rr(x, PCOMPRESSD, t1, 0, t2, (struct masking){K_EXEC, true});
    gpr_zmm(x, RAX, t2);
    zmm_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
    zmm_compare(x, PCMPD, k, t1, t2, 4, K_EXEC);
    if (!scalar) {
      zmm_rr(x, PCOMPRESSD, first_high, 0, t2, (struct masking){K_EXEC, true});
      gpr_zmm(x, RCX, t2);
    }
    d->from[d->n_from++] = none;   /* taken out again below: no lane, nothing to do */
  } else {
    gpr_zmm(x, RAX, first);
    zmm_rr(x, BROADCAST_D, t2, 0, first, UNMASKED);
    zmm_compare(x, PCMPD, k, t1, t2, 4, 0);
    if (!scalar) {
      zmm_rr(x, BROADCAST_D, t2, 0, first_high, UNMASKED);
      gpr_zmm(x, RCX, first_high);
    }
  }
  jump none = c->masked ? d->from[--d->n_from] : NULL;
  if (!scalar) {
    if (c->masked) zmm_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
    zmm_compare(x, PCMPD, k2, high, t2, 4, c->masked ? K_EXEC : 0);
    k_op(x, K_OR, k, k, k2);
    gpr_shift_left(x, RCX, 32);
  }
  k_test(x, k);
  d->from[d->n_from++] = jump_if(x, CC_NE);
  gpr_immediate(x, 7, false, RAX, -(int32_t)(16 * bytes));   /* no wrapping around in the low dword */
  d->from[d->n_from++] = jump_if(x, CC_A);
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(i->src[MEM_SADDR]));
  else gpr_rr(x, OP_OR, true, RAX, RCX);
  if (i->imm) gpr_immediate(x, 0, true, RAX, i->imm);
  int32_t site = (int32_t)(d->site * sizeof(struct native_site));
  if (c->masked) {   /* from the first active lane to the last */
    gpr_k(x, RDX, K_EXEC);
    put8(x, 0xf3), put8(x, 0x0f), put8(x, 0xbc), put8(x, 0xf2);   /* tzcnt esi, edx */
    put8(x, 0x0f), put8(x, 0xbd), put8(x, 0xd2);                  /* bsr edx, edx */
    unsigned shift = (unsigned)__builtin_ctz(step);
    if (shift) gpr_shift_left(x, RSI, shift), gpr_shift_left(x, RDX, shift);
    gpr_rr(x, OP_ADD, true, RSI, RAX);
    gpr_rr(x, OP_ADD, true, RDX, RAX);
    gpr_rm(x, OP_CMP, true, RSI, mem(R15, site));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_rm(x, OP_CMP, true, RDX, mem(R15, site + 8));
    d->from[d->n_from++] = jump_if(x, CC_A);
  } else {
    gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_lea(x, RCX, mem(RAX, (int32_t)(15 * step)));
    gpr_rm(x, OP_CMP, true, RCX, mem(R15, site + 8));
    d->from[d->n_from++] = jump_if(x, CC_A);
  }
  uint8_t z[8];
  memcpy(z, d->z, sizeof z);
  z[7] = (uint8_t)k;
  if (quads && m->store) store_quads(c, z, spare, mem(RAX, 0));
  else if (quads) load_quads(c, z, spare, mem(RAX, 0));
  else if (dwords == 4 || (dwords == 3 && m->store)) d->from[d->n_from++] = jump_always(x);
  else if (dwords == 3)
    for (unsigned n = 0; n < dwords; n++)
      zmm_rm(x, MOVDQU_LOAD, z[n], 0, mem(RAX, 4 * (int32_t)n), exec_mask(c, true));
  else if (m->store) store_row(c, m, z, mem(RAX, 0));
  else load_row(c, m, z, mem(RAX, 0));
  d->back = x->at;
  if (none) land(x, none);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}

/* --- LDS -------------------------------------------------------------------------------------------------- */

enum { ROW, SAME, OTHER };

/* The slot that says how the addresses in a row lie, at elements of `bytes`. */
static unsigned lds_pattern(struct compiler *c, unsigned row, unsigned bytes) {
  for (unsigned s = 0; s < c->n_slots; s++)
    if (c->slots[s].row == (int)row && c->slots[s].step == bytes) return s;
  unsigned slot = c->n_slots < 8 ? c->n_slots++ : c->clock % 8;
  c->slots[slot].row = (int)row, c->slots[slot].step = bytes;
  struct x86 *x = &c->x;
  struct memory first = mem(RSP, (int32_t)(offsetof(struct frame, slot) + 8 * slot)), pattern = first;
  pattern.offset += 4;
  unsigned low = zmm_row(c, row), t1 = zmm_temporary(c), t2 = zmm_temporary(c), steps = zmm_table(c, bytes);
  unsigned k = k_temporary(c);
  jump done[2];
  zmm_rr(x, PSUBD, t1, low, steps, UNMASKED);
  if (c->masked) zmm_rr(x, PCOMPRESSD, t1, 0, t2, (struct masking){K_EXEC, true});
  gpr_zmm(x, RAX, c->masked ? t2 : low);
  zmm_rr(x, BROADCAST_D, t2, 0, c->masked ? t2 : low, UNMASKED);
  zmm_compare(x, PCMPD, k, t1, t2, 4, c->masked ? K_EXEC : 0);
  gpr_constant(x, RCX, ROW);
  k_test(x, k);
  done[0] = jump_if(x, CC_E);
  if (c->masked) {
    zmm_rr(x, PCOMPRESSD, low, 0, t2, (struct masking){K_EXEC, true});
    gpr_zmm(x, RAX, t2);
    zmm_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
  }
  zmm_compare(x, PCMPD, k, low, t2, 4, c->masked ? K_EXEC : 0);
  gpr_constant(x, RCX, SAME);
  k_test(x, k);
  done[1] = jump_if(x, CC_E);
  gpr_constant(x, RCX, OTHER);
  land(x, done[0]), land(x, done[1]);
  gpr_store(x, false, first, RAX);
  gpr_store(x, false, pattern, RCX);
  return slot;
}

/* Detour: one element for all lanes, or scattered ones. ecx: the pattern, rax: the first offset. z: data 0-3;
 * 4, 5 temporaries; 6 the row of offsets. */
static void lds_scattered(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  const struct native_memory *m = d->memory;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m), k = d->k, t1 = d->z[4], t2 = d->z[5];
  jump slow[4];
  unsigned n_slow = 0;
  bool wide = bytes >= 4;
  if (!m->store && wide) {
    gpr_immediate(x, 7, false, RCX, SAME);
    jump other = jump_if(x, CC_NE);
    gpr_lea(x, RDX, mem(RAX, d->offset + (int32_t)bytes));
    gpr_rm(x, OP_MOV, false, RSI, WAVE(lds_size));
    gpr_rr(x, OP_CMP, true, RDX, RSI);
    jump outside = jump_if(x, CC_A);
    gpr_rr(x, OP_ADD, true, RAX, RBP);
    for (unsigned n = 0; n < dwords; n++)
      zmm_rm(x, BROADCAST_D, d->z[n], 0, mem(RAX, d->offset + 4 * (int32_t)n), UNMASKED);
    land_at(x, jump_always(x), d->back);
    land(x, other), land(x, outside);
  }
  zmm_constant(x, t2, (uint32_t)d->offset);
  zmm_rr(x, PADDD, t1, d->z[6], t2, UNMASKED);
  if (wide) {
    gpr_rm(x, OP_MOV, false, RAX, WAVE(lds_size));
    gpr_immediate(x, 5, false, RAX, (int32_t)bytes);
    slow[n_slow++] = jump_if(x, CC_B);
    zmm_rr(x, BROADCAST_GPR, t2, 0, RAX, UNMASKED);
    zmm_compare(x, PCMPUD, k, t1, t2, 6, c->masked ? K_EXEC : 0);
    k_test(x, k);
    slow[n_slow++] = jump_if(x, CC_NE);
    if (m->store && dwords == 2) {   /* lane by lane, as elements may overlap */
      native_permute(c, d->z[2], TABLE_LOW, d->z[0], d->z[1]);
      native_permute(c, d->z[3], TABLE_HIGH, d->z[0], d->z[1]);
      zmm_rr(x, EXTRACT_HALF, t1, 0, t2, UNMASKED), put8(x, 1);
      native_lanes(c, k);
      zmm_rm(x, SCATTER_DQ, d->z[2], 0, mem_zmm(RBP, t1, 0), (struct masking){(uint8_t)k, false});
      native_lanes(c, k);
      k_shift_right(x, k, k, 8);
      zmm_rm(x, SCATTER_DQ, d->z[3], 0, mem_zmm(RBP, t2, 0), (struct masking){(uint8_t)k, false});
    }
    for (unsigned n = 0; n < dwords && !(m->store && dwords == 2); n++) {
      native_lanes(c, k);
      zmm_rm(x, m->store ? SCATTER_DD : GATHER_DD, d->z[n], 0, mem_zmm(RBP, t1, 4 * (int32_t)n),
             (struct masking){(uint8_t)k, false});
    }
    land_at(x, jump_always(x), d->back);
  }
  for (unsigned n = 0; n < n_slow; n++) land(x, slow[n]);
  zmm_rm(x, MOVDQA_STORE, t1, 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

/* One element per lane at the address plus offset. */
static void lds_element(struct compiler *c, const struct inst *i, const struct native_memory *m, unsigned which,
                        unsigned slot) {
  struct x86 *x = &c->x;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m);
  int32_t offset = (int32_t)offset_of(i, m, which);
  struct detour *d = detour_new(c, i);
  d->emit = lds_scattered;
  d->memory = m;
  d->offset = offset;
  d->n_data = (uint8_t)dwords;
  unsigned data = which ? i->src[MEM_DATA2] : i->src[MEM_DATA];
  for (unsigned n = 0; n < dwords; n++) d->z[n] = (uint8_t)(m->store ? zmm_row(c, data + n) : zmm_temporary(c));
  for (unsigned n = dwords; n < 4 && dwords > 1; n++) d->z[n] = (uint8_t)zmm_temporary(c);
  d->z[4] = (uint8_t)zmm_temporary(c), d->z[5] = (uint8_t)zmm_temporary(c);
  d->z[6] = (uint8_t)zmm_row(c, i->src[MEM_ADDR]);
  d->k = (uint8_t)k_temporary(c);
  struct memory first = mem(RSP, (int32_t)(offsetof(struct frame, slot) + 8 * slot)), pattern = first;
  pattern.offset += 4;
  gpr_rm(x, OP_MOV, false, RCX, pattern);
  gpr_rm(x, OP_MOV, false, RAX, first);
  if (bytes <= 8) {
    put8(x, 0x85), put8(x, 0xc9);   /* test ecx, ecx */
    d->from[d->n_from++] = jump_if(x, CC_NE);
    gpr_lea(x, RDX, mem(RAX, offset + 16 * (int32_t)bytes));
    gpr_rm(x, OP_MOV, false, RSI, WAVE(lds_size));
    gpr_rr(x, OP_CMP, true, RDX, RSI);
    d->from[d->n_from++] = jump_if(x, CC_A);
    gpr_rr(x, OP_ADD, true, RAX, RBP);
    uint8_t z[8];
    memcpy(z, d->z, sizeof z);
    z[7] = d->k;
    if (m->store) store_row(c, m, z, mem(RAX, offset));
    else load_row(c, m, z, mem(RAX, offset));
  } else {
    d->from[d->n_from++] = jump_always(x);
  }
  d->back = x->at;
}

static void lds_emit(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  unsigned dwords = dwords_of(m), slot = lds_pattern(c, i->src[MEM_ADDR], bytes_of(m));
  unsigned first = c->n_detours;
  lds_element(c, i, m, 0, slot);
  if (m->unit) lds_element(c, i, m, 1, slot);
  if (m->store) memory_immediate(&c->x, 0, true, WAVE(changes), 1);
  else
    for (unsigned e = 0; e < (m->unit ? 2 : 1); e++)
      for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + e * dwords + n, c->detours[first + e].z[n]);
}

/* --- private memory ---------------------------------------------------------------------------------------- */

static unsigned lanes_shift(const struct compiler *c) { return (unsigned)__builtin_ctz(c->lanes); }

/* rax += where the chunk's lanes have their first dword. */
static void scratch_base(struct compiler *c) {
  gpr_rm(&c->x, OP_ADD, true, RAX, WAVE(scratch));
  gpr_rr(&c->x, OP_ADD, true, RAX, RBX);
  gpr_rm(&c->x, OP_SUB, true, RAX, WAVE(v));
}

/* Detour: lanes with different offsets, which are in z[4]. z: data 0-3; 5 a temporary. */
static void scratch_scattered(struct compiler *c, const struct detour *d) {
  static const struct evex test = {2, 1, 0, 0x27};
  struct x86 *x = &c->x;
  unsigned k = d->k, offsets = d->z[4], t = d->z[5], exec = c->masked ? K_EXEC : 0;
  jump slow[3];
  gpr_rm(x, OP_MOV, false, RAX, WAVE(scratch_size));
  gpr_immediate(x, 5, false, RAX, (int32_t)bytes_of(d->memory));
  slow[0] = jump_if(x, CC_B);
  zmm_rr(x, BROADCAST_GPR, t, 0, RAX, UNMASKED);
  zmm_compare(x, PCMPUD, k, offsets, t, 6, exec);
  k_test(x, k);
  slow[1] = jump_if(x, CC_NE);
  zmm_constant(x, t, 3);
  zmm_rr(x, test, k, offsets, t, (struct masking){(uint8_t)exec, false});
  k_test(x, k);
  slow[2] = jump_if(x, CC_NE);
  zmm_shift_d(x, t, offsets, 6, lanes_shift(c), UNMASKED);
  gpr_constant(x, RDX, (uint64_t)(uintptr_t)table_at(TABLE_STEPS4));
  zmm_rm(x, PADDD, t, t, mem(RDX, 0), UNMASKED);
  gpr_constant(x, RAX, 0);
  scratch_base(c);
  for (unsigned n = 0; n < d->n_data; n++) {
    native_lanes(c, k);
    zmm_rm(x, d->memory->store ? SCATTER_DD : GATHER_DD, d->z[n], 0, mem_zmm(RAX, t, (int32_t)n * c->row_bytes),
           (struct masking){(uint8_t)k, false});
  }
  land_at(x, jump_always(x), d->back);
  for (unsigned n = 0; n < 3; n++) land(x, slow[n]);
  zmm_rm(x, MOVDQA_STORE, offsets, 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

static void scratch_emit(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned dwords = dwords_of(m);
  bool vector = i->src_kind[MEM_ADDR] != OPERAND_NONE;
  struct detour *d = detour_new(c, i);
  d->emit = scratch_scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? zmm_row(c, i->src[MEM_DATA] + n) : zmm_temporary(c));
  unsigned row = vector ? zmm_row(c, i->src[MEM_ADDR]) : 0, offsets = zmm_temporary(c), t = zmm_temporary(c);
  unsigned k = k_temporary(c);
  d->z[4] = (uint8_t)offsets, d->z[5] = (uint8_t)t, d->k = (uint8_t)k;
  jump none = NULL;
  gpr_constant(x, RAX, (uint32_t)i->imm);
  if (i->src_kind[MEM_SADDR] != OPERAND_NONE) gpr_rm(x, OP_ADD, false, RAX, SCALAR(i->src[MEM_SADDR]));
  zmm_rr(x, BROADCAST_GPR, offsets, 0, RAX, UNMASKED);
  if (vector) {
    unsigned first = offsets;
    zmm_rr(x, PADDD, offsets, offsets, row, UNMASKED);
    if (c->masked) {
      k_test(x, K_EXEC);
      none = jump_if(x, CC_E);
      zmm_rr(x, PCOMPRESSD, offsets, 0, first = t, (struct masking){K_EXEC, true});
    }
    gpr_zmm(x, RAX, first);
    zmm_rr(x, BROADCAST_D, t, 0, first, UNMASKED);
    zmm_compare(x, PCMPD, k, offsets, t, 4, c->masked ? K_EXEC : 0);
    k_test(x, k);
    d->from[d->n_from++] = jump_if(x, CC_NE);
  } else if (c->masked) {
    k_test(x, K_EXEC);
    none = jump_if(x, CC_E);
  }
  put8(x, 0xa8), put8(x, 3);   /* test al, 3 */
  d->from[d->n_from++] = jump_if(x, CC_NE);
  gpr_lea(x, RCX, mem(RAX, (int32_t)bytes_of(m)));
  gpr_rm(x, OP_CMP, true, RCX, WAVE(scratch_size));
  d->from[d->n_from++] = jump_if(x, CC_A);
  gpr_shift_left(x, RAX, lanes_shift(c));
  scratch_base(c);
  for (unsigned n = 0; n < dwords; n++) {
    struct memory at = mem(RAX, (int32_t)n * c->row_bytes);
    if (m->store) zmm_rm(x, MOVDQU_STORE, d->z[n], 0, at, exec_mask(c, false));
    else zmm_rm(x, MOVDQU_LOAD, d->z[n], 0, at, exec_mask(c, true));
  }
  d->back = x->at;
  if (none) land(x, none);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}

void native_memory_emit(struct compiler *c, const struct inst *i) {
  const struct native_memory *m = memory_of(i);
  if (m->space == MEMORY_SCRATCH) {
    scratch_emit(c, i, m);
    return;
  }
  if (m->space == MEMORY_LDS) lds_emit(c, i, m);
  else global_emit(c, i, m);
}
