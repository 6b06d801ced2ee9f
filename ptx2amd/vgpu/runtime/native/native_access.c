/* Loads and stores that native code leaves to C: faults, lanes in several allocations, bytes at scattered addresses. */
#include <immintrin.h>

#include "memory_access.h"
#include "native_machine.h"
#include "quad.h"
#include "wave_events.h"

unsigned lds_offset(const struct inst *i, const struct native_memory *m, unsigned which) {
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

typedef uint64_t __attribute__((aligned(1), may_alias)) u64_any;

/* Elements of 8 and 16 bytes in one access, as required for volatile and atomic accesses. */
static void move_element(uint8_t *at, quad *value, unsigned bytes, bool store) {
  uint64_t address = (uint64_t)(uintptr_t)at;
  if (bytes == 16 && store) store_quad(address, *value);
  else if (bytes == 16) *value = load_quad(address);
  else if (bytes == 8 && store) *(u64_any *)at = *(u64_any *)value;
  else if (bytes == 8) *(u64_any *)value = *(u64_any *)at;
  else if (store) memcpy(at, value, bytes);
  else memcpy(value, at, bytes);
}

/* One lane's element: to or from frame->data. False: a fault was raised. */
static bool access_lane(struct wave *w, const struct inst *i, struct frame *f, unsigned lane, unsigned lane0,
                        const struct native_memory *m) {
  unsigned bytes = bytes_of(m);
  uint8_t *at;
  if (m->space == MEMORY_SCRATCH) return access_scratch(w, i, f, lane, lane0, m);
  if (m->space == MEMORY_LDS) {
    uint64_t offset = f->offset[lane];
    if (offset + bytes > w->lds_size && wave_may_stray(w)) {
      for (unsigned k = 0; k < dwords_of(m) && !m->store; k++) f->data[k][lane] = 0;
      return true;
    }
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
  quad value = {0};
  if (m->store)
    for (unsigned k = 0; k < dwords_of(m); k++) value[k] = f->data[k][lane];
  move_element(at, &value, bytes, m->store);
  if (m->store) return true;
  if (m->kind == MEMORY_I8) value[0] = (uint32_t)(int8_t)value[0];
  if (m->kind == MEMORY_I16) value[0] = (uint32_t)(int16_t)value[0];
  for (unsigned k = 0; k < dwords_of(m); k++) f->data[k][lane] = value[k];
  return true;
}

/* at = the lanes' addresses; false: one of them is outside of LDS, or of the site. */
__attribute__((target("avx512f"))) static bool inside_avx512(const struct wave *w, const struct frame *f,
                                                             const struct native_memory *m,
                                                             const struct native_site *site, uint64_t *at) {
  __mmask16 lanes = (__mmask16)f->lanes, outside;
  if (m->space == MEMORY_LDS) {
    if (w->lds_size < bytes_of(m)) return false;
    __m512i offsets = _mm512_load_si512(f->offset), base = _mm512_set1_epi64((int64_t)(uintptr_t)w->lds);
    outside = _mm512_cmpgt_epu32_mask(offsets, _mm512_set1_epi32((int)(w->lds_size - bytes_of(m))));
    for (int half = 0; half < 2; half++) {
      __m512i wide = _mm512_cvtepu32_epi64(_mm256_load_si256((const __m256i *)f->offset + half));
      _mm512_store_si512(at + 8 * half, _mm512_add_epi64(base, wide));
    }
  } else if (m->space == MEMORY_GLOBAL) {
    __m512i low = _mm512_set1_epi64((int64_t)site->lo), last = _mm512_set1_epi64((int64_t)site->last);
    outside = 0;
    for (int half = 0; half < 2; half++) {
      __m512i address = _mm512_load_si512(f->address + 8 * half);
      unsigned wrong = _mm512_cmplt_epu64_mask(address, low) | _mm512_cmpgt_epu64_mask(address, last);
      outside |= (__mmask16)(wrong << 8 * half);
      _mm512_store_si512(at + 8 * half, address);
    }
  } else {
    return false;
  }
  return !(outside & lanes);
}

static bool inside_avx2(const struct wave *w, const struct frame *f, const struct native_memory *m,
                        const struct native_site *site, uint64_t *at) {
  bool lds = m->space == MEMORY_LDS;
  if ((lds && w->lds_size < bytes_of(m)) || m->space == MEMORY_SCRATCH) return false;
  uint64_t low = lds ? (uintptr_t)w->lds : site->lo, last = lds ? low + w->lds_size - bytes_of(m) : site->last;
  unsigned outside = 0;
  for (unsigned l = 0; l < 8; l++) {
    at[l] = lds ? low + f->offset[l] : f->address[l];
    outside |= (unsigned)(at[l] < low || at[l] > last) << l;
  }
  return !(outside & f->lanes);
}

/* The common case, without a search per lane: all lanes access LDS, or the allocation of the site's last access. For
 * accesses that machine code does not gather or scatter. False: nothing was done. */
static bool access_inside(const struct wave *w, struct frame *f, const struct native_memory *m,
                          const struct native_site *site) {
  _Alignas(64) uint64_t at[16];
  unsigned lanes = f->lanes & 0xffff;
  if (!(native_machine()->vex ? inside_avx2 : inside_avx512)(w, f, m, site, at)) return false;
#define EACH(statement) \
  for (unsigned rest = lanes, l; rest && (l = (unsigned)__builtin_ctz(rest), true); rest &= rest - 1) statement
#define AT(type) (*(type __attribute__((aligned(1), may_alias)) *)(uintptr_t)at[l])
  uint32_t *data = f->data[0];
  switch ((enum native_kind)m->kind) {
  case MEMORY_U8: EACH(data[l] = AT(const uint8_t)); break;
  case MEMORY_I8: EACH(data[l] = (uint32_t)AT(const int8_t)); break;
  case MEMORY_U16: EACH(data[l] = AT(const uint16_t)); break;
  case MEMORY_I16: EACH(data[l] = (uint32_t)AT(const int16_t)); break;
  case MEMORY_B8: EACH(AT(uint8_t) = (uint8_t)data[l]); break;
  case MEMORY_B16: EACH(AT(uint16_t) = (uint16_t)data[l]); break;
  case MEMORY_B128:
    if (!m->store) return false;
    EACH(store_quad(at[l], (quad){data[l], data[16 + l], data[32 + l], data[48 + l]}));
    break;
  default: return false;
  }
#undef AT
#undef EACH
  return true;
}

/* Accesses lane by lane; the allocation that was found is stored for the machine code. */
uint64_t native_access(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v,
                              struct native_site *site) {
  const struct native_memory *m = memory_of(i);
  unsigned lane0 = (unsigned)(v - w->v), bytes = bytes_of(m);
  if (access_inside(w, f, m, site)) return 1;
  for (uint64_t rest = f->lanes & 0xffff; rest; rest &= rest - 1)
    if (!access_lane(w, i, f, (unsigned)__builtin_ctzll(rest), lane0, m)) return 0;
  if (m->space == MEMORY_GLOBAL && (f->lanes & 0xffff)) {
    uint64_t address = f->address[63 - __builtin_clzll(f->lanes & 0xffff)];
    const struct mem_window *found = find_window(w, address, address + bytes - 1);
    uint64_t low = address & ~(uint64_t)UINT32_MAX, high = low + UINT32_MAX, last = found->hi - bytes;
    *site = (struct native_site){found->lo > low ? found->lo : low, last < high ? last : high};
  }
  return 1;
}

void native_access_call(struct compiler *c) {
  gpr_lea(&c->x, RCX, mem(RBX, chunk_bytes(c)));
  put8(&c->x, 0xe8), put32(&c->x, 0);
  land_at(&c->x, c->x.at, c->access);
}

/* Called with rax: the function, rcx: row 0 at the chunk, rsi: the instruction, r8: the site. Saves the registers that
 * C code may change. Result in rax. */
void native_access_emit(struct x86 *x) {
  enum { BACK = 8 };   /* the return address is above the frame */
  const struct vector_machine *m = native_machine();
  m->save(x, BACK, false);
  gpr_rr(x, OP_MOV, true, RDI, R13);
  gpr_lea(x, RDX, mem(RSP, BACK));
  gpr_immediate(x, 5, true, RSP, 8);
  put8(x, 0xff), put8(x, 0xd0);
  gpr_immediate(x, 0, true, RSP, 8);
  m->save(x, BACK, true);
  put8(x, 0xc3);
}
