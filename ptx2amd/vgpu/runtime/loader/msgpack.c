/* A reader for MessagePack. */
#include "msgpack.h"

#include <string.h>

static uint64_t big_endian(struct msgpack *m, unsigned bytes) {
  if (m->bad || (size_t)(m->end - m->at) < bytes) {
    m->bad = true;
    return 0;
  }
  uint64_t v = 0;
  while (bytes--) v = v << 8 | *m->at++;
  return v;
}

static uint8_t tag(struct msgpack *m) { return (uint8_t)big_endian(m, 1); }

static uint32_t fail(struct msgpack *m) {
  m->bad = true;
  return 0;
}

uint32_t msgpack_map(struct msgpack *m) {
  uint8_t t = tag(m);
  if (t >= 0x80 && t <= 0x8f) return t & 15;
  if (t == 0xde) return (uint32_t)big_endian(m, 2);
  if (t == 0xdf) return (uint32_t)big_endian(m, 4);
  return fail(m);
}

uint32_t msgpack_array(struct msgpack *m) {
  uint8_t t = tag(m);
  if (t >= 0x90 && t <= 0x9f) return t & 15;
  if (t == 0xdc) return (uint32_t)big_endian(m, 2);
  if (t == 0xdd) return (uint32_t)big_endian(m, 4);
  return fail(m);
}

static const uint8_t *bytes(struct msgpack *m, uint64_t n) {
  if (m->bad || (uint64_t)(m->end - m->at) < n) {
    m->bad = true;
    return NULL;
  }
  const uint8_t *p = m->at;
  m->at += n;
  return p;
}

const char *msgpack_string(struct msgpack *m, size_t *length) {
  uint8_t t = tag(m);
  uint64_t n = 0;
  if (t >= 0xa0 && t <= 0xbf) n = t & 31;
  else if (t >= 0xd9 && t <= 0xdb) n = big_endian(m, 1u << (t - 0xd9));
  else m->bad = true;
  const uint8_t *p = bytes(m, n);
  *length = p ? n : 0;
  return p ? (const char *)p : "";
}

uint64_t msgpack_uint(struct msgpack *m) {
  uint8_t t = tag(m);
  if (t <= 0x7f) return t;
  if (t >= 0xcc && t <= 0xcf) return big_endian(m, 1u << (t - 0xcc));
  if (t >= 0xd0 && t <= 0xd3) {          /* signed: non-negative values only */
    unsigned n = 1u << (t - 0xd0);
    uint64_t v = big_endian(m, n);
    return v >> (8 * n - 1) ? fail(m) : v;
  }
  return fail(m);
}

bool msgpack_bool(struct msgpack *m) {
  uint8_t t = tag(m);
  if (t == 0xc2 || t == 0xc3) return t == 0xc3;
  return fail(m);
}

bool msgpack_is(struct msgpack *m, const char *text) {
  struct msgpack copy = *m;
  size_t n;
  const char *s = msgpack_string(&copy, &n);
  if (copy.bad || n != strlen(text) || memcmp(s, text, n)) return false;
  *m = copy;
  return true;
}

/* Iterative: the input determines the nesting depth. */
void msgpack_skip(struct msgpack *m) {
  for (uint64_t left = 1; left > 0 && !m->bad; left--) {
    uint8_t t = tag(m);
    if (m->bad || t <= 0x7f || t >= 0xe0 || t == 0xc0 || t == 0xc2 || t == 0xc3) continue;
    if (t <= 0x8f) left += 2 * (uint64_t)(t & 15);
    else if (t <= 0x9f) left += t & 15;
    else if (t <= 0xbf) bytes(m, t & 31);
    else if (t >= 0xc4 && t <= 0xc6) bytes(m, big_endian(m, 1u << (t - 0xc4)));
    else if (t >= 0xc7 && t <= 0xc9) bytes(m, 1 + big_endian(m, 1u << (t - 0xc7)));
    else if (t >= 0xca && t <= 0xcb) bytes(m, 4u << (t - 0xca));
    else if (t >= 0xcc && t <= 0xcf) bytes(m, 1u << (t - 0xcc));
    else if (t >= 0xd0 && t <= 0xd3) bytes(m, 1u << (t - 0xd0));
    else if (t >= 0xd4 && t <= 0xd8) bytes(m, 1 + (1u << (t - 0xd4)));
    else if (t >= 0xd9 && t <= 0xdb) bytes(m, big_endian(m, 1u << (t - 0xd9)));
    else if (t >= 0xdc && t <= 0xdd) left += big_endian(m, 2u << (t - 0xdc));
    else if (t >= 0xde) left += 2 * big_endian(m, 2u << (t - 0xde));
    else m->bad = true;
  }
}
