/* Accesses a lane's 16 bytes at once, so that waves on other threads see all of an aligned element or nothing of it
 * (CUB's look-back relies on that). Intel and AMD guarantee this for moves of 16 aligned bytes on processors with AVX;
 * on older ones it is the best possible without writing to memory that is only read. Wider moves, gathers and scatters
 * have no such guarantee for their elements; elements of up to 8 bytes, and 16 aligned bytes within a wider move, are
 * not torn on any known processor. */
#ifndef PTX2AMD_VGPU_QUAD_H
#define PTX2AMD_VGPU_QUAD_H

#include <stdint.h>

typedef uint32_t quad __attribute__((vector_size(16)));
typedef quad quad_any __attribute__((aligned(1), may_alias));

#ifdef __AVX__
#define QUAD_MOVE "vmovdqu"
#else
#define QUAD_MOVE "movdqu"
#endif

static inline quad load_quad(uint64_t address) {
  quad value;
  __asm__ volatile(QUAD_MOVE " %1, %0" : "=x"(value) : "m"(*(const quad_any *)(uintptr_t)address));
  return value;
}
static inline void store_quad(uint64_t address, quad value) {
  __asm__ volatile(QUAD_MOVE " %1, %0" : "=m"(*(quad_any *)(uintptr_t)address) : "x"(value));
}
#endif
