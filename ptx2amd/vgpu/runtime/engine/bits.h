/* Conversion between floating-point numbers and their bits in registers and memory. */
#ifndef PTX2AMD_VGPU_BITS_H
#define PTX2AMD_VGPU_BITS_H

#include <stdint.h>
#include <string.h>

static inline float as_f32(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static inline uint32_t f32_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static inline double as_f64(uint64_t u) { double f; memcpy(&f, &u, 8); return f; }
static inline uint64_t f64_bits(double f) { uint64_t u; memcpy(&u, &f, 8); return u; }
#endif
