/* Machine code to struct inst. One decoder per machine code, generated from ptx2amd/vgpu/isa. */
#ifndef PTX2AMD_VGPU_DECODE_H
#define PTX2AMD_VGPU_DECODE_H

#include "wave.h"

/* Handlers of one row: [0] plain, [1] with modifiers (NULL: [0] does both). Both NULL: not implemented. */
struct handler_pair { handler_fn run[2]; };

struct decode_context {
  const struct handler_pair *handlers;   /* by op_info.id */
  handler_fn vopd;                       /* NULL: not implemented */
  void *(*alloc)(struct decode_context *c, size_t size);  /* zeroed; lives as long as the code */
  size_t before, after;                  /* dwords of code before and from this instruction on */
};

/* Decodes the instruction at words into *out. For unknown code all fields except the handler are filled in as well, and
 * out->run is one of the fault handlers below. Reads at most c->after dwords. */
typedef void decode_fn(const uint32_t *words, struct inst *out, struct decode_context *c);
#include "decoders.h"   /* one for each machine code: decode_gfx900 ... */

/* Each ends the launch with a fault that shows the instruction's words. */
const struct inst *run_illegal(struct wave *w, const struct inst *i);
const struct inst *run_unimplemented(struct wave *w, const struct inst *i);
const struct inst *run_bad_jump(struct wave *w, const struct inst *i);
#endif
