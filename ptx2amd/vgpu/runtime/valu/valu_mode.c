/* The MODE register's floating-point fields as MXCSR values. */
#include "valu.h"

enum { CSR_MASKED = 0x1f80, CSR_DAZ = 0x40, CSR_FTZ = 0x8000 };

/* round: MODE's code (0 nearest even, 1 +inf, 2 -inf, 3 zero); denormals: bit 0 inputs, bit 1 outputs kept. */
static uint32_t csr(uint32_t round, uint32_t denormals) {
  static const uint32_t rounding[4] = {0x0000, 0x4000, 0x2000, 0x6000};
  return CSR_MASKED | rounding[round & 3] | (denormals & 1 ? 0 : CSR_DAZ) | (denormals & 2 ? 0 : CSR_FTZ);
}

void VG(mode_changed)(struct wave *w) {
  w->mxcsr = csr(w->mode, w->mode >> 4);
  w->float_state[FLOAT_CSR64] = csr(w->mode >> 2, w->mode >> 6);
  w->float_state[FLOAT_IEEE] = w->mode >> 9 & 1;
  w->float_state[FLOAT_DX10_CLAMP] = w->mode >> 8 & 1;
  w->float_state[FLOAT_FLUSH16] = ~(w->mode >> 6) & 3;
  w->float_state[FLOAT_NEAREST16] = (w->mode >> 2 & 3) == 0;
}
