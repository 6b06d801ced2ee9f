/* Values of sequences (isa/native.py) during translation: sources, temporaries and results of one instruction in the
 * registers of a chunk of lanes. */
#pragma once
#include "native_machine.h"

static inline bool wide_type(unsigned type) {
  return type == TYPE_u64 || type == TYPE_i64 || type == TYPE_b64 || type == TYPE_f64;
}

/* Modifiers of a result: f32 and f64 only. */
static inline bool modifies_result(const struct inst *i) { return i->omod || i->clamp; }

static inline bool has_32_bits(unsigned type) {
  return type == TYPE_b32 || type == TYPE_u32 || type == TYPE_i32 || type == TYPE_f32;
}

static inline bool has_16_bits(unsigned type) {
  return type == TYPE_b16 || type == TYPE_u16 || type == TYPE_i16 || type == TYPE_f16;
}

/* A value during the translation of a sequence. outer: of the whole chunk, while the sequence processes one half. */
struct value { bool known, constant, outer; uint8_t reg; uint64_t bits; };
enum { ALL_LANES = 2 };
/* dpp: the first source is permuted by the numbers in `index`; read, kept: mask registers of the lanes with a source
 * and with a result (0: all). */
struct sequence { const struct inst *i; unsigned half; bool dpp; uint8_t read, kept, index; struct value v[VALUE_COUNT]; };

static inline struct value in_register(unsigned reg) { return (struct value){.known = true, .reg = (uint8_t)reg}; }
/* The value in a register. */
unsigned value_register(struct compiler *c, const struct sequence *s, struct value *v);
/* A separate register for a value that will be modified. */
unsigned value_own(struct compiler *c, struct sequence *s, struct value *v);
/* Sets the value to `now`; releases a temporary that held it. */
void value_set(struct compiler *c, struct sequence *s, struct value *v, struct value now);
/* The value with that number (enum native_value); sources are read when first used. */
struct value *value_get(struct compiler *c, struct sequence *s, unsigned id);
/* The steps on which results depend. want: bit per value. */
uint64_t steps_useful(const struct native_step *steps, unsigned count, uint32_t want);
void step_emit(struct compiler *c, struct sequence *s, const struct native_step *step);
/* Whether the value with that number is a lane mask. */
bool value_is_mask(const struct sequence *s, unsigned id);
