/* Loads and stores between registers and the lanes' addresses. */
#include "quad.h"
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

static inline void load_dword(uint32_t *restrict d, const struct lane_addresses *a, unsigned offset) {
  if (!all_lanes(a->lanes)) {
    EACH_LANE(l, a->lanes) d[l] = AT(u32_any, a->p[l] + offset);
    return;
  }
  for (int g = 0; g < GROUPS; g++) {
    const uint64_t *p = a->p + 16 * g;
    uint32_t *r = d + 16 * g;
    switch (a->pattern[g]) {
    case PATTERN_ROW: memcpy(r, (const void *)(uintptr_t)(p[0] + offset), 64); break;
    case PATTERN_SAME: {
      uint32_t value = AT(u32_any, p[0] + offset);
      for (int k = 0; k < 16; k++) r[k] = value;
      break;
    }
    default:
      for (int k = 0; k < 16; k++) r[k] = AT(u32_any, p[k] + offset);
    }
  }
}

/* One lane's element: two dwords in one access, or four (quad.h). */
static inline __attribute__((always_inline)) void load_pair(uint32_t *restrict d, uint64_t address) {
  uint64_t value = AT(u64_any, address);
  d[0] = (uint32_t)value;
  d[W] = (uint32_t)(value >> 32);
}
static inline __attribute__((always_inline)) void load_four(uint32_t *restrict d, uint64_t address) {
  quad value = load_quad(address);
  for (int k = 0; k < 4; k++) d[k * W] = value[k];
}

/* n adjacent dwords per lane: n = 2 or 4. An element is read in one access, because atomic and volatile loads are plain
 * loads. */
static inline __attribute__((always_inline)) void load_wide(uint32_t *restrict d, const struct lane_addresses *a,
                                                            unsigned n) {
  if (!all_lanes(a->lanes)) {
    EACH_LANE(l, a->lanes) n == 2 ? load_pair(d + l, a->p[l]) : load_four(d + l, a->p[l]);
    return;
  }
  for (int g = 0; g < GROUPS; g++) {
    const uint64_t *p = a->p + 16 * g;
    uint32_t *restrict r = d + 16 * g;
    switch (a->pattern[g]) {
    case PATTERN_ROW: {
      quad element[16];
      for (unsigned k = 0; k < 4 * n; k++) element[k] = load_quad(p[0] + 16 * k);
      const u32_any *e = (const u32_any *)element;
      for (unsigned k = 0; k < n; k++)
        for (unsigned l = 0; l < 16; l++) r[k * W + l] = e[l * n + k];
      break;
    }
    case PATTERN_SAME:
      n == 2 ? load_pair(r, p[0]) : load_four(r, p[0]);
      for (unsigned k = 0; k < n; k++)
        for (int l = 1; l < 16; l++) r[k * W + l] = r[k * W];
      break;
    default:
      for (int l = 0; l < 16; l++) n == 2 ? load_pair(r + l, p[l]) : load_four(r + l, p[l]);
    }
  }
}

void VG(load_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind) {
  if (__builtin_expect(w->weak != NULL, 0) && VG(weak_load)(w, i, a, kind)) return;
  uint32_t *d = vgpr(w, i->dst);
  const uint64_t *p = a->p;
  const uint32_t upper = w->sram_ecc ? 0 : 0xffff0000, lower = w->sram_ecc ? 0 : 0xffff;   /* the half that D16 kinds
                                                                                            * keep */
  switch (kind) {
  case LOAD_B32: load_dword(d, a, 0); break;
  case LOAD_B64: case LOAD_B96: case LOAD_B128:
    if (a->stride != 4) {
      for (unsigned k = 0; k < load_bytes[kind] / 4u; k++) load_dword(d + k * W, a, k * a->stride);
      break;
    }
    if (kind == LOAD_B128) load_wide(d, a, 4);
    else if (kind == LOAD_B64) load_wide(d, a, 2);
    else EACH_LANE(l, a->lanes) {
      uint32_t value[3];
      memcpy(value, (const void *)(uintptr_t)p[l], 12);
      for (int k = 0; k < 3; k++) d[k * W + l] = value[k];
    }
    break;
  case LOAD_U8: LOAD_EACH(d[l] = AT(uint8_t, p[l])); break;
  case LOAD_I8: LOAD_EACH(d[l] = (uint32_t)(int32_t)AT(int8_t, p[l])); break;
  case LOAD_U16: LOAD_EACH(d[l] = AT(u16_any, p[l])); break;
  case LOAD_I16: LOAD_EACH(d[l] = (uint32_t)(int32_t)AT(i16_any, p[l])); break;
  case LOAD_D16_U8: LOAD_EACH(d[l] = (d[l] & upper) | AT(uint8_t, p[l])); break;
  case LOAD_D16_I8: LOAD_EACH(d[l] = (d[l] & upper) | (uint16_t)(int16_t)AT(int8_t, p[l])); break;
  case LOAD_D16: LOAD_EACH(d[l] = (d[l] & upper) | AT(u16_any, p[l])); break;
  case LOAD_D16_HI_U8: LOAD_EACH(d[l] = (d[l] & lower) | (uint32_t)AT(uint8_t, p[l]) << 16); break;
  case LOAD_D16_HI_I8: LOAD_EACH(d[l] = (d[l] & lower) | (uint32_t)(int32_t)AT(int8_t, p[l]) << 16); break;
  case LOAD_D16_HI: LOAD_EACH(d[l] = (d[l] & lower) | (uint32_t)AT(u16_any, p[l]) << 16); break;
  }
}

void VG(load_zeros)(struct wave *w, const struct inst *i, uint64_t lanes, enum load_kind kind) {
  static const uint8_t zeros[16];
  if (__builtin_expect(!lanes, 1)) return;
  struct lane_addresses z = {.lanes = lanes, .stride = 4};
  for (int l = 0; l < W; l++) z.p[l] = (uint64_t)(uintptr_t)zeros;
  VG(load_lanes)(w, i, &z, kind);
}

#define PUT(type, address, value) (*(type *)(uintptr_t)(address) = (type)(value))

static inline void store_dword(const uint32_t *restrict s, const struct lane_addresses *a, unsigned offset) {
  if (!all_lanes(a->lanes)) {
    EACH_LANE(l, a->lanes) PUT(u32_any, a->p[l] + offset, s[l]);
    return;
  }
  for (int g = 0; g < GROUPS; g++) {
    const uint64_t *p = a->p + 16 * g;
    if (a->pattern[g] == PATTERN_ROW) memcpy((void *)(uintptr_t)(p[0] + offset), s + 16 * g, 64);
    else
      for (int k = 0; k < 16; k++) PUT(u32_any, p[k] + offset, s[16 * g + k]);
  }
}

/* n adjacent dwords per lane; two and four in one access. */
static inline __attribute__((always_inline)) void store_wide(const uint32_t *restrict s,
                                                             const struct lane_addresses *a, unsigned n) {
  EACH_LANE(l, a->lanes) {
    if (n == 4) {
      store_quad(a->p[l], (quad){s[l], s[W + l], s[2 * W + l], s[3 * W + l]});
      continue;
    }
    PUT(u64_any, a->p[l], (uint64_t)s[W + l] << 32 | s[l]);
    if (n == 3) PUT(u32_any, a->p[l] + 8, s[2 * W + l]);
  }
}

void VG(store_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum store_kind kind) {
  if (__builtin_expect(w->weak != NULL, 0) && VG(weak_store)(w, i, a, kind)) return;
  const uint32_t *s = vgpr(w, i->src[MEM_DATA]);
  const uint64_t *p = a->p;
  w->changes++;
  switch (kind) {
  case STORE_B32: store_dword(s, a, 0); break;
  case STORE_B64: case STORE_B96: case STORE_B128:
    if (a->stride != 4) {
      for (unsigned k = 0; k < store_bytes[kind] / 4u; k++) store_dword(s + k * W, a, k * a->stride);
      break;
    }
    if (kind == STORE_B64) store_wide(s, a, 2);
    else if (kind == STORE_B96) store_wide(s, a, 3);
    else store_wide(s, a, 4);
    break;
  case STORE_B8: EACH_LANE(l, a->lanes) PUT(uint8_t, p[l], s[l]); break;
  case STORE_B16: EACH_LANE(l, a->lanes) PUT(u16_any, p[l], s[l]); break;
  case STORE_D16_HI_B8: EACH_LANE(l, a->lanes) PUT(uint8_t, p[l], s[l] >> 16); break;
  case STORE_D16_HI_B16: EACH_LANE(l, a->lanes) PUT(u16_any, p[l], s[l] >> 16); break;
  }
}
