/* The start-up handshake of NVIDIA's CUDA runtime: the runtime asks the driver for a keyed digest of facts that both
 * know, and rejects a driver that returns another value. It is implemented for interoperability only. Build with
 * -DPTX2AMD_NO_HANDSHAKE, or set PTX2AMD_HANDSHAKE=0, to omit it: programs that use only the driver API do not need
 * it. */
#include "handshake.h"

#include <stdlib.h>
#include <string.h>

#include "settings.h"

#ifdef PTX2AMD_NO_HANDSHAKE
int handshake(const struct handshake *about, const struct handshake_device *devices, int count, uint64_t result[2]) {
  (void)about, (void)devices, (void)count, (void)result;
  return -1;
}
#else

enum { BLOCK = 16 };

struct md2 { unsigned char state[BLOCK], checksum[BLOCK], block[BLOCK]; unsigned used; };

/* RFC 1319: the digits of pi, shuffled into a permutation. */
static const unsigned char pi_substitution[256] = {
    41, 46, 67, 201, 162, 216, 124, 1, 61, 54, 84, 161, 236, 240, 6, 19, 98, 167, 5, 243, 192, 199,
    115, 140, 152, 147, 43, 217, 188, 76, 130, 202, 30, 155, 87, 60, 253, 212, 224, 22, 103, 66, 111, 24,
    138, 23, 229, 18, 190, 78, 196, 214, 218, 158, 222, 73, 160, 251, 245, 142, 187, 47, 238, 122, 169, 104,
    121, 145, 21, 178, 7, 63, 148, 194, 16, 137, 11, 34, 95, 33, 128, 127, 93, 154, 90, 144, 50, 39,
    53, 62, 204, 231, 191, 247, 151, 3, 255, 25, 48, 179, 72, 165, 181, 209, 215, 94, 146, 42, 172, 86,
    170, 198, 79, 184, 56, 210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4, 241, 69, 157, 112, 89,
    100, 113, 135, 32, 134, 91, 207, 101, 230, 45, 168, 2, 27, 96, 37, 173, 174, 176, 185, 246, 28, 70,
    97, 105, 52, 64, 126, 15, 85, 71, 163, 35, 221, 81, 175, 58, 195, 92, 249, 206, 186, 197, 234, 38,
    44, 83, 13, 110, 133, 40, 132, 9, 211, 223, 205, 244, 65, 129, 77, 82, 106, 220, 55, 200, 108, 193,
    171, 250, 36, 225, 123, 8, 12, 189, 177, 74, 120, 136, 149, 139, 227, 99, 232, 109, 233, 203, 213, 254,
    59, 0, 29, 57, 242, 239, 183, 14, 102, 88, 208, 228, 166, 119, 114, 248, 235, 117, 75, 10, 49, 68,
    80, 180, 143, 237, 31, 26, 219, 153, 141, 51, 159, 17, 131, 20,
};

static void md2_block(struct md2 *m) {
  unsigned char x[3 * BLOCK], t;
  memcpy(x, m->state, BLOCK);
  memcpy(x + BLOCK, m->block, BLOCK);
  for (int i = 0; i < BLOCK; i++) x[2 * BLOCK + i] = m->state[i] ^ m->block[i];
  t = 0;
  for (int round = 0; round < 18; round++) {
    for (int i = 0; i < 3 * BLOCK; i++) t = x[i] ^= pi_substitution[t];
    t = (unsigned char)(t + round);
  }
  memcpy(m->state, x, BLOCK);
  t = m->checksum[BLOCK - 1];
  for (int i = 0; i < BLOCK; i++) t = m->checksum[i] ^= pi_substitution[m->block[i] ^ t];
  m->used = 0;
}

static void md2_add(struct md2 *m, const void *data, size_t size) {
  for (const unsigned char *p = data; size--; p++) {
    m->block[m->used++] = *p;
    if (m->used == BLOCK) md2_block(m);
  }
}

static void md2_end(struct md2 *m, unsigned char digest[BLOCK]) {
  unsigned char padding[BLOCK], checksum[BLOCK];
  unsigned n = BLOCK - m->used;
  memset(padding, (int)n, n);
  md2_add(m, padding, n);
  memcpy(checksum, m->checksum, BLOCK);
  md2_add(m, checksum, BLOCK);
  memcpy(digest, m->state, BLOCK);
}

void hmac_md2(const unsigned char key[BLOCK], const void *message, size_t size, unsigned char digest[BLOCK]) {
  struct md2 inner = {0}, outer = {0};
  unsigned char pad[BLOCK];
  for (int i = 0; i < BLOCK; i++) pad[i] = key[i] ^ 0x36;
  md2_add(&inner, pad, BLOCK);
  md2_add(&inner, message, size);
  md2_end(&inner, digest);
  for (int i = 0; i < BLOCK; i++) pad[i] = key[i] ^ 0x5c;
  md2_add(&outer, pad, BLOCK);
  md2_add(&outer, digest, BLOCK);
  md2_end(&outer, digest);
}

int handshake(const struct handshake *about, const struct handshake_device *devices, int count, uint64_t result[2]) {
  static const unsigned char key[BLOCK] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
                                           0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};
  if (!setting_on(SETTING_HANDSHAKE)) return -1;
  if (about->version % 10 < 2) {
    result[0] = about->version % 10 ? 0x1841181c03cb675cull : 0x3341181c03cb675cull;
    result[1] = 0x8ed383aa1f4cd1e8ull;
    return 0;
  }
  size_t size = sizeof *about + (size_t)count * sizeof *devices;
  unsigned char *message = malloc(size), digest[BLOCK];
  if (!message) return -1;
  memcpy(message, about, sizeof *about);
  memcpy(message + sizeof *about, devices, (size_t)count * sizeof *devices);
  hmac_md2(key, message, size, digest);
  free(message);
  memcpy(result, digest, BLOCK);
  return 0;
}
#endif
