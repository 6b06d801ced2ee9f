/* Loads and stores between registers and the lanes' addresses. */
#include "vmem.h"

#define AT(type, address) (*(const type *)(uintptr_t)(address))

typedef uint32_t __attribute__((aligned(1), may_alias)) u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64_any;
typedef uint16_t __attribute__((aligned(1), may_alias)) u16_any;
typedef int16_t __attribute__((aligned(1), may_alias)) i16_any;

#define LOAD_EACH(expression) \
  do { \
    if (all_lanes(a->lanes)) \
      for (int l = 0; l < W; l++) expression; \
    else \
      EACH_LANE(l, a->lanes) expression; \
  } while (0)

static void load_dword(uint32_t *restrict d, const struct lane_addresses *a, unsigned offset) {
  if (a->rows) {
    memcpy(d, (const void *)(uintptr_t)(a->p[0] + offset), W * 4);
    return;
  }
  LOAD_EACH(d[l] = AT(u32_any, a->p[l] + offset));
}

/* Two dwords in one access: 64-bit atomic loads are plain loads. */
static void load_pair(uint32_t *restrict d, const struct lane_addresses *a, unsigned offset) {
  if (all_lanes(a->lanes)) {
    for (int l = 0; l < W; l++) {
      uint64_t value = AT(u64_any, a->p[l] + offset);
      d[l] = (uint32_t)value;
      d[W + l] = (uint32_t)(value >> 32);
    }
  } else {
    EACH_LANE(l, a->lanes) {
      uint64_t value = AT(u64_any, a->p[l] + offset);
      d[l] = (uint32_t)value;
      d[W + l] = (uint32_t)(value >> 32);
    }
  }
}

void VG(load_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind) {
  uint32_t *d = vgpr(w, i->dst);
  const uint64_t *p = a->p;
  switch (kind) {
  case LOAD_B32: load_dword(d, a, 0); break;
  case LOAD_B64: case LOAD_B96: case LOAD_B128:
    if (a->stride != 4) {
      for (unsigned k = 0; k < load_bytes[kind] / 4u; k++) load_dword(d + k * W, a, k * a->stride);
      break;
    }
    load_pair(d, a, 0);
    if (kind == LOAD_B96) load_dword(d + 2 * W, a, 8);
    if (kind == LOAD_B128) load_pair(d + 2 * W, a, 8);
    break;
  case LOAD_U8: LOAD_EACH(d[l] = AT(uint8_t, p[l])); break;
  case LOAD_I8: LOAD_EACH(d[l] = (uint32_t)(int32_t)AT(int8_t, p[l])); break;
  case LOAD_U16: LOAD_EACH(d[l] = AT(u16_any, p[l])); break;
  case LOAD_I16: LOAD_EACH(d[l] = (uint32_t)(int32_t)AT(i16_any, p[l])); break;
  case LOAD_D16_U8: LOAD_EACH(d[l] = (d[l] & 0xffff0000) | AT(uint8_t, p[l])); break;
  case LOAD_D16_I8: LOAD_EACH(d[l] = (d[l] & 0xffff0000) | (uint16_t)(int16_t)AT(int8_t, p[l])); break;
  case LOAD_D16: LOAD_EACH(d[l] = (d[l] & 0xffff0000) | AT(u16_any, p[l])); break;
  case LOAD_D16_HI_U8: LOAD_EACH(d[l] = (d[l] & 0xffff) | (uint32_t)AT(uint8_t, p[l]) << 16); break;
  case LOAD_D16_HI_I8: LOAD_EACH(d[l] = (d[l] & 0xffff) | (uint32_t)(int32_t)AT(int8_t, p[l]) << 16); break;
  case LOAD_D16_HI: LOAD_EACH(d[l] = (d[l] & 0xffff) | (uint32_t)AT(u16_any, p[l]) << 16); break;
  }
}

#define PUT(type, address, value) (*(type *)(uintptr_t)(address) = (type)(value))

static void store_dword(const uint32_t *restrict s, const struct lane_addresses *a, unsigned offset) {
  if (a->rows) {
    memcpy((void *)(uintptr_t)(a->p[0] + offset), s, W * 4);
    return;
  }
  EACH_LANE(l, a->lanes) PUT(u32_any, a->p[l] + offset, s[l]);
}

static void store_pair(const uint32_t *restrict s, const struct lane_addresses *a, unsigned offset) {
  EACH_LANE(l, a->lanes) PUT(u64_any, a->p[l] + offset, (uint64_t)s[W + l] << 32 | s[l]);
}

void VG(store_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum store_kind kind) {
  const uint32_t *s = vgpr(w, i->src[MEM_DATA]);
  const uint64_t *p = a->p;
  switch (kind) {
  case STORE_B32: store_dword(s, a, 0); break;
  case STORE_B64: case STORE_B96: case STORE_B128:
    if (a->stride != 4) {
      for (unsigned k = 0; k < store_bytes[kind] / 4u; k++) store_dword(s + k * W, a, k * a->stride);
      break;
    }
    store_pair(s, a, 0);
    if (kind == STORE_B96) store_dword(s + 2 * W, a, 8);
    if (kind == STORE_B128) store_pair(s + 2 * W, a, 8);
    break;
  case STORE_B8: EACH_LANE(l, a->lanes) PUT(uint8_t, p[l], s[l]); break;
  case STORE_B16: EACH_LANE(l, a->lanes) PUT(u16_any, p[l], s[l]); break;
  case STORE_D16_HI_B8: EACH_LANE(l, a->lanes) PUT(uint8_t, p[l], s[l] >> 16); break;
  case STORE_D16_HI_B16: EACH_LANE(l, a->lanes) PUT(u16_any, p[l], s[l] >> 16); break;
  }
}
