/* The tests' interface to the decoder and the engine, below the HIP API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "state.h"

#define EXPORT __attribute__((visibility("default")))

struct probe_context { struct decode_context c; void *blocks[8]; size_t used; };

static void *probe_alloc(struct decode_context *c, size_t size) {
  struct probe_context *p = (struct probe_context *)c;
  if (p->used == sizeof p->blocks / sizeof *p->blocks) abort();
  return p->blocks[p->used++] = calloc(1, size);
}

static int operand(char *text, size_t size, const struct inst *i, int k) {
  switch (i->src_kind[k]) {
  case OPERAND_VGPR: return snprintf(text, size, " src%d=%c%u", k, i->src[k] < 256 ? 'v' : 'a', i->src[k] & 255);
  case OPERAND_SCALAR: return snprintf(text, size, " src%d=s%u", k, i->src[k]);
  case OPERAND_LITERAL: return snprintf(text, size, " src%d=0x%x:0x%x", k, i->literal[1], i->literal[0]);
  case OPERAND_SPECIAL: return snprintf(text, size, " src%d=special%u", k, i->src[k]);
  default: return snprintf(text, size, " src%d=-", k);
  }
}

/* Decodes one instruction. Returns its length in dwords, 0 if it is unknown, and describes it as text: "mnemonic dst=
 * dst2= src0= ... imm= flags=". Negative: known, but without a handler. */
EXPORT int ptx2amd_vgpu_describe(const char *arch, unsigned lanes, const uint32_t *words, size_t dwords, char *text,
                                 size_t size) {
  const struct build *build = build_for(lanes);
  const struct arch *chip = arch_find(arch);
  if (!chip) return 0;
  struct probe_context p = {.c = {.handlers = build->handlers, .vopd = build->vopd, .alloc = probe_alloc, .after = dwords,
                                  .before = 1u << 20}};
  struct inst i;
  text[0] = 0;
  chip->decode(words, &i, &p.c);
  int result = i.run == run_illegal ? 0 : i.run == run_unimplemented ? -i.len : i.len;
  if (result) {
    size_t n = (size_t)snprintf(text, size, "%s dst=%u dst2=%u", i.op->name, i.dst, i.dst2);
    unsigned sources = i.op->traits & TRAIT_MEMORY ? 4 : i.op->n_src;
    for (unsigned k = 0; k < sources && n < size; k++) n += (size_t)operand(text + n, size - n, &i, (int)k);
    if (n < size) snprintf(text + n, size - n, " imm=%d flags=%u neg=%u abs=%u omod=%u clamp=%u opsel=%u", i.imm, i.flags,
                           i.neg, i.abs, i.omod, i.clamp, i.op_sel);
  }
  while (p.used) free(p.blocks[--p.used]);
  return result;
}

/* Makes the caller's memory accessible to kernels, until ptx2amd_vgpu_forget. It is no device's: a reset keeps it. */
EXPORT void *ptx2amd_vgpu_adopt(void *base, uint64_t size, int readonly) {
  return mem_adopt(base, size, MEM_REGISTERED | (readonly ? MEM_READONLY : 0), -1);
}
EXPORT void ptx2amd_vgpu_forget(void *block) { mem_release(block); }

EXPORT struct code *ptx2amd_vgpu_code(const char *arch, uint64_t base, uint64_t size) {
  const struct arch *a = arch_find(arch);
  return a ? code_create(a, base, size) : NULL;
}
EXPORT void ptx2amd_vgpu_code_free(struct code *code) { code_destroy(code); }

/* Runs a kernel given by its descriptor. Returns enum fault_kind, and the report as text. */
EXPORT int ptx2amd_vgpu_dispatch(struct code *code, uint64_t descriptor, const uint32_t *grid, const uint32_t *block,
                                 uint32_t dynamic_lds, uint32_t private_bytes, uint64_t kernarg,
                                 uint64_t max_instructions, char *text, size_t size, uint64_t *instructions) {
  struct dispatch d = {
    .code = code, .kernel = "probe", .descriptor = descriptor, .grid = {grid[0], grid[1], grid[2]},
    .block = {block[0], block[1], block[2]}, 
    .dynamic_lds = dynamic_lds, .private_bytes = private_bytes, .kernarg = kernarg,
    .max_instructions = max_instructions,
  };
  struct fault fault;
  struct engine_counters counters;
  int kind = engine_run(&d, &fault, &counters);
  snprintf(text, size, "%s", kind ? fault.text : "");
  if (instructions) *instructions = counters.instructions;
  return kind;
}
