/* Sampling of one lane: wrapping, filters, comparison, cubes. */
#include "image.h"

#include <math.h>
#include <string.h>

#include "access.h"
#include "bits.h"
#include "element.h"

/* How a coordinate is wrapped (CLAMP_X ...). */
enum { WRAP, MIRROR, CLAMP_EDGE, MIRROR_ONCE_EDGE, CLAMP_HALF_BORDER, MIRROR_ONCE_HALF_BORDER, CLAMP_BORDER, MIRROR_ONCE_BORDER };
enum { OUTSIDE = -1 };

struct sampling {
  struct wave *w;
  const struct image *image;
  const struct sampler *sampler;
  const struct image_request *request;
  unsigned flags;
  uint32_t slice;
  uint64_t bad;
};

static int64_t modulo(int64_t a, int64_t n) {
  int64_t r = a % n;
  return r < 0 ? r + n : r;
}

/* Texel number of a wrapped coordinate, or OUTSIDE. */
static int32_t wrapped(int64_t k, int64_t n, unsigned mode) {
  bool once = mode == MIRROR_ONCE_EDGE || mode == MIRROR_ONCE_HALF_BORDER || mode == MIRROR_ONCE_BORDER;
  if (once && k < 0) k = -1 - k;
  switch (mode) {
  case WRAP: return (int32_t)modulo(k, n);
  case MIRROR: {
    int64_t at = modulo(k, 2 * n);
    return (int32_t)(at < n ? at : 2 * n - 1 - at);
  }
  case CLAMP_EDGE: case MIRROR_ONCE_EDGE: return (int32_t)(k < 0 ? 0 : k >= n ? n - 1 : k);
  default: return k < 0 || k >= n ? OUTSIDE : (int32_t)k;
  }
}

/* A coordinate in units of 1/256 texel; whole periods are removed before precision is lost. */
static int64_t fixed(float c, uint32_t n, unsigned mode, bool normalized, bool truncates) {
  double x = isnan(c) ? 0 : c;
  if (isinf(x)) x = x < 0 ? -1e9 : 1e9;
  if (normalized) {
    if (mode == WRAP) x -= floor(x);
    else if (mode == MIRROR) x -= 2 * floor(x / 2);
    x *= n;
  }
  bool half = mode == CLAMP_HALF_BORDER || mode == MIRROR_ONCE_HALF_BORDER;
  if (half) x = x < (mode == CLAMP_HALF_BORDER ? 0 : -(double)n) ? (mode == CLAMP_HALF_BORDER ? 0 : -(double)n) : x > n ? n : x;
  x = x < -1e9 ? -1e9 : x > 1e9 ? 1e9 : x;
  return (int64_t)(truncates ? floor(x * 256) : rint(x * 256));
}

/* --- texels ----------------------------------------------------------------------------------------------------- */

static void border(const struct sampling *s, uint32_t value[4]) {
  static const uint8_t alpha[8] = {3, 1, 0, 0, 3, 2, 3, 3};   /* by BC_SWIZZLE */
  float colour[4] = {0};
  if (s->sampler->border == 2) for (unsigned k = 0; k < 4; k++) colour[k] = 1;
  if (s->sampler->border == 1) colour[alpha[s->image->border_swizzle]] = 1;
  for (unsigned k = 0; k < 4; k++) {
    value[k] = texel_integer(&s->image->format) ? colour[k] != 0 : f32_bits(colour[k]);
  }
}

static bool compares(unsigned function, float a, float b) {
  switch (function) {
  case 0: return false;
  case 1: return a < b;
  case 2: return a == b;
  case 3: return a <= b;
  case 4: return a > b;
  case 5: return a != b;
  case 6: return a >= b;
  default: return true;
  }
}

static void texel(struct sampling *s, int32_t x, int32_t y, int32_t z, uint32_t value[4]) {
  const struct image *m = s->image;
  if (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE) {
    border(s, value);
  } else {
    uint64_t at = m->base + (uint64_t)z * m->slice_bytes + ((uint64_t)y * m->pitch + (uint64_t)x) * m->format.bytes;
    if (may_read(s->w, at, at + m->format.bytes - 1)) texel_load(&m->format, element(s->w, at, m->format.bytes, false), value);
    else s->bad = at, memset(value, 0, 16);
  }
  texel_select(&m->format, m->select, value);
  if (s->flags & IMAGE_COMPARE) {
    float reference = s->request->reference;
    if (m->format.number == NUMBER_UNORM) reference = reference > 1 ? 1 : !(reference > 0) ? 0 : reference;
    value[0] = f32_bits(compares(s->sampler->compare, reference, as_f32(value[0])));
    value[1] = value[2] = value[3] = value[0];
  }
}

/* --- cubes ------------------------------------------------------------------------------------------------------ */

/* Axes of the six faces: the major coordinate, and the signed coordinates for s and t. */
static const struct { int8_t major, sign, s, s_sign, t, t_sign; } faces[6] = {
  {0, 1, 2, -1, 1, -1}, {0, -1, 2, 1, 1, -1}, {1, 1, 0, 1, 2, 1}, {1, -1, 0, 1, 2, -1}, {2, 1, 0, 1, 1, -1}, {2, -1, 0, -1, 1, -1},
};

/* The texel of the neighbouring face for one beyond an edge. */
static void over_the_edge(int64_t n, unsigned *face, int64_t *x, int64_t *y) {
  double v[3], s = (2 * (double)*x + 1) / (double)n - 1, t = (2 * (double)*y + 1) / (double)n - 1;
  v[faces[*face].major] = faces[*face].sign;
  v[faces[*face].s] = s * faces[*face].s_sign;
  v[faces[*face].t] = t * faces[*face].t_sign;
  unsigned major = fabs(s) > fabs(t) ? (unsigned)faces[*face].s : (unsigned)faces[*face].t;
  unsigned to = 2 * major + (v[major] < 0);
  /* The distance beyond the edge becomes the distance from the edge. */
  double beyond = fabs(v[major]) - 1, from = v[faces[*face].major];
  v[faces[*face].major] = from * (1 - beyond);
  double a = v[faces[to].s] * faces[to].s_sign, b = v[faces[to].t] * faces[to].t_sign;
  *face = to;
  *x = (int64_t)floor((a + 1) / 2 * (double)n);
  *y = (int64_t)floor((b + 1) / 2 * (double)n);
}

/* false: a corner, where there is no third texel */
static bool cube_texel(struct sampling *s, int64_t x, int64_t y, uint32_t value[4]) {
  int64_t n = s->image->size[0];
  bool x_out = x < 0 || x >= n, y_out = y < 0 || y >= n;
  unsigned cube = s->slice / 6 * 6, face = s->slice % 6;
  if (s->sampler->apart) x = wrapped(x, n, CLAMP_EDGE), y = wrapped(y, n, CLAMP_EDGE);
  else if (x_out && y_out) return false;
  else if (x_out || y_out) over_the_edge(n, &face, &x, &y);
  texel(s, (int32_t)x, (int32_t)y, (int32_t)(cube + face), value);
  return true;
}

static void average(const uint32_t corner[8][4], unsigned missing, uint32_t value[4]) {
  for (unsigned c = 0; c < 4; c++) {
    float sum = 0;
    for (unsigned k = 0; k < 4; k++)
      if (k != missing) sum += as_f32(corner[k][c]);
    value[c] = f32_bits(sum / 3);
  }
}

/* --- filters ---------------------------------------------------------------------------------------------------- */

static void combine(const struct sampling *s, const uint32_t corner[8][4], const float weight[8], unsigned n, uint32_t value[4]) {
  for (unsigned c = 0; c < 4; c++) {
    float result = 0;
    bool any = false;
    for (unsigned k = 0; k < n; k++) {
      if (weight[k] == 0) continue;
      float v = as_f32(corner[k][c]);
      if (s->sampler->reduction == 0) result += v * weight[k];
      else if (!any || (s->sampler->reduction == 1 ? v < result : v > result)) result = v;
      any = true;
    }
    value[c] = f32_bits(result);
  }
}

/* Slice of an array (for a cube: layer * 8 + face) selected by a coordinate. */
static uint32_t slice_of(const struct image *m, enum image_dim dim, const struct image_request *r) {
  if (dim != DIM_1D_ARRAY && dim != DIM_2D_ARRAY && dim != DIM_CUBE) return m->first;
  float c = rintf(r->at.f[dim == DIM_1D_ARRAY ? 1 : 2]);
  uint32_t most = m->slices - 1 - (m->first < m->slices ? m->first : 0);
  uint32_t k = !(c > 0) ? 0 : c > 1e6f ? 1000000 : (uint32_t)c;
  if (dim == DIM_CUBE) k = k / 8 * 6 + (k % 8 > 5 ? 5 : k % 8);
  return m->first + (k > most ? most : k);
}

bool image_sample(struct wave *w, const struct image *m, const struct sampler *p, enum image_dim dim, unsigned flags,
                  bool unnormalized, unsigned component, const struct image_request *r, uint32_t value[4], uint64_t *bad) {
  struct sampling s = {.w = w, .image = m, .sampler = p, .request = r, .flags = flags, .slice = slice_of(m, dim, r)};
  static const uint8_t filtered[] = {1, 2, 3, 2, 1, 2, 2, 2};
  unsigned n = filtered[dim];
  bool gather = flags & IMAGE_GATHER, normalized = !(unnormalized || p->unnormalized);
  float lod = flags & IMAGE_ZERO ? 0 : image_lod_limited(m, p, r, image_lod(m, p, dim, r));
  bool linear = (lod > 0 ? p->minify : p->magnify) == 1 && (!texel_integer(&m->format) || gather);
  linear |= gather;
  int64_t low[3] = {0};
  unsigned fraction[3] = {0};
  for (unsigned k = 0; k < n; k++) {
    bool smooth = linear && !(k == 2 && p->between_slices == 1);
    float c = dim == DIM_CUBE ? r->at.f[k] - 1 : r->at.f[k];
    unsigned mode = dim == DIM_CUBE ? CLAMP_BORDER : p->clamp[k];
    int64_t at = fixed(c, m->size[k], mode, normalized, p->truncates && !smooth) - (smooth ? 128 : 0);
    low[k] = (at >> 8) + r->offset[k];
    fraction[k] = smooth ? (unsigned)(at & 255) : 0;
  }
  if (dim == DIM_CUBE && !linear)
    for (unsigned k = 0; k < 2; k++) low[k] = wrapped(low[k], m->size[0], CLAMP_EDGE);
  uint32_t corner[8][4];
  float weight[8];
  unsigned corners = linear ? 1u << n : 1, missing = 8;
  for (unsigned k = 0; k < corners; k++) {
    int64_t at[3];
    weight[k] = 1;
    for (unsigned d = 0; d < 3; d++) {
      unsigned up = k >> d & 1;
      at[d] = low[d] + up;
      if (d < n) weight[k] *= (float)(up ? fraction[d] : 256 - fraction[d]) / 256;
    }
    if (weight[k] == 0 && !gather) {
      memset(corner[k], 0, 16);
    } else if (dim == DIM_CUBE) {
      if (!cube_texel(&s, at[0], at[1], corner[k])) missing = k;
    } else {
      int32_t x = wrapped(at[0], m->size[0], p->clamp[0]);
      int32_t y = n > 1 ? wrapped(at[1], m->size[1], p->clamp[1]) : 0;
      int32_t z = n > 2 ? wrapped(at[2], m->size[2], p->clamp[2]) : (int32_t)s.slice;
      texel(&s, x, y, z, corner[k]);
    }
  }
  if (missing < 8) average((const uint32_t(*)[4])corner, missing, corner[missing]);
  if (gather) {
    static const uint8_t order[4] = {2, 3, 1, 0};
    for (unsigned k = 0; k < 4; k++) value[k] = corner[order[k] & (corners - 1)][component];
  } else if (linear) {
    combine(&s, (const uint32_t(*)[4])corner, weight, corners, value);
  } else {
    memcpy(value, corner[0], 16);
  }
  *bad = s.bad;
  return !s.bad;
}

/* --- level of detail -------------------------------------------------------------------------------------------- */

float image_lod(const struct image *m, const struct sampler *p, enum image_dim dim, const struct image_request *r) {
  static const uint8_t gradients[] = {1, 2, 3, 2, 1, 2, 2, 2};
  if (r->lod != 0) return r->lod;
  double longest = 0;
  for (unsigned d = 0; d < 2; d++) {
    double length = 0;
    for (unsigned k = 0; k < gradients[dim]; k++) {
      double step = r->gradient[d][k] * (double)(p->unnormalized ? 1 : m->size[k]);
      length += step * step;
    }
    longest = length > longest ? length : longest;
  }
  return longest > 0 ? (float)(log2(longest) / 2) : -128;
}

float image_lod_limited(const struct image *m, const struct sampler *p, const struct image_request *r, float lod) {
  float least = fmaxf(fmaxf(p->least_lod, r->least_lod), m->least_lod);
  return fminf(fmaxf(lod + r->bias + p->bias, least), p->most_lod);
}
