/* Formats of texels and typed-buffer elements: conversion between bits in memory and four components. */
#ifndef PTX2AMD_VGPU_TEXEL_H
#define PTX2AMD_VGPU_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

enum texel_number {
  NUMBER_UNORM, NUMBER_SNORM, NUMBER_USCALED, NUMBER_SSCALED, NUMBER_UINT, NUMBER_SINT, NUMBER_FLOAT = 7, NUMBER_SRGB = 9,
};
struct texel_format {
  uint8_t number, bytes, components;
  uint8_t at[4], width[4];   /* of each component: its first bit, and the number of bits */
  bool shared_exponent;      /* in the top 5 bits */
};

/* Decodes the format field of a descriptor or instruction; GFX9: data format | number format << 6. False: unknown. */
bool texel_format(unsigned generation, unsigned code, struct texel_format *f);

/* The field for a data format and number format, as numbered on GFX9; 0: the generation has none. */
unsigned texel_code(unsigned generation, unsigned data, unsigned number);

static inline bool texel_integer(const struct texel_format *f) {
  return f->number == NUMBER_UINT || f->number == NUMBER_SINT;
}
/* Components as bits of floats or integers; missing components are 0, 0, 0, 1. */
void texel_load(const struct texel_format *f, const void *from, uint32_t value[4]);
/* Values out of range are clamped. */
void texel_store(const struct texel_format *f, void *to, const uint32_t value[4]);

/* DST_SEL: 0, 1, or component 4 + k. */
void texel_select(const struct texel_format *f, const uint8_t select[4], uint32_t value[4]);
/* The inverse: each component receives the value that it would be read as. */
void texel_unselect(const uint8_t select[4], uint32_t value[4]);

/* Converts a float's bits to half precision, to nearest even; and back. */
uint32_t texel_half(uint32_t value);
uint32_t texel_from_half(uint32_t half);
#endif
