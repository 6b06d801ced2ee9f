/* Tables of the vector ALU that do not depend on wave width or x86 level. */
#ifndef PTX2AMD_VGPU_VALU_TABLES_H
#define PTX2AMD_VGPU_VALU_TABLES_H

#include <stdint.h>

/* DPP by [since GFX10][9-bit control]: the lane that each lane reads, and the lanes that have a source. Filled in at
 * load. */
extern uint8_t dpp_from[2][512][64];
extern uint64_t dpp_readable[2][512];

double trig_preop_f64(double f, uint32_t segment);

/* 1.0, opaque to the compiler. */
extern const volatile float valu_one_f32;
extern const volatile double valu_one_f64;
#endif
