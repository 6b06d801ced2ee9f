/* Decides for which instructions the sequence implements the complete effect. */
#include "native_value.h"
#include "valu_tables.h"

/* op_sel names halves of 16-bit operands; the older rows of GFX9 clear the rest of the register. */
static bool halves_known(const struct inst *i) {
  const struct op_info *op = i->op;
  if (has_16_bits(op->dst_type)) return op->generation > 0;
  if (!i->op_sel) return true;
  for (unsigned k = 0; k < op->n_src; k++)
    if ((i->op_sel >> k & 1) && !has_16_bits(op->src_type[k])) return false;
  return op->dst_type == TYPE_mask || op->dst_type == TYPE_f32;
}

/* DPP that stays within 16 lanes and does the same in all of them. */
static bool permutes_chunks(const struct inst *i) {
  const struct inst_ext *x = i->ext;
  if (x->kind == EXT_DPP8) return true;
  const uint8_t *from = dpp_from[i->op->generation != 0][x->dpp_ctrl];
  uint64_t readable = dpp_readable[i->op->generation != 0][x->dpp_ctrl];
  for (unsigned l = 0; l < 64; l++)
    if ((readable >> l & 1) != (readable >> l % 16 & 1) || ((readable >> l & 1) && from[l] != (l & ~15u) + from[l % 16]))
      return false;
  return x->dpp_row_mask == 15 && readable;
}

static bool extension_known(const struct inst *i) {
  const struct op_info *op = i->op;
  const struct inst_ext *x = i->ext;
  bool dpp = x->kind == EXT_DPP16 || x->kind == EXT_DPP8, sdwa = x->kind == EXT_SDWA;
  if ((!dpp && !sdwa) || (native_rows[op->id].flags & NATIVE_WIDE) || native_rows[op->id].slow) return false;
  if (op->dst2_type != TYPE_none || (op->dst_type != TYPE_mask && !has_32_bits(op->dst_type))) return false;
  for (unsigned k = 0; k < op->n_src; k++)
    if (op->src_type[k] != TYPE_mask && !has_32_bits(op->src_type[k])) return false;
  if (dpp) return i->src_kind[0] == OPERAND_VGPR && !native_machine()->vex && permutes_chunks(i);
  return op->dst_type == TYPE_mask || x->sdwa_dst_sel >= 6 || x->sdwa_dst_unused != 1;
}

/* Whether the sequence of the instruction's row, if any, implements the instruction completely. */
bool native_sequence_known(const struct inst *i) {
  const struct op_info *op = i->op;
  const struct native_row *row = &native_rows[op->id];
  const struct vector_machine *m = native_machine();
  if (!m || !row->steps[m->sequences].count || !halves_known(i) || (i->ext && !extension_known(i))) return false;
  if (modifies_result(i) && op->dst_type != TYPE_f32 && op->dst_type != TYPE_f64) return false;
  for (unsigned k = 0; k < op->n_src; k++) {
    if (i->src_kind[k] == OPERAND_SPECIAL || i->src_kind[k] == OPERAND_NONE) return false;
    if (op->src_type[k] == TYPE_mask && i->src_kind[k] != OPERAND_SCALAR) return false;
    bool sign = (i->neg | i->abs) >> k & 1, wide = op->src_type[k] == TYPE_f64 && row->flags & NATIVE_WIDE;
    if (sign && !wide && op->src_type[k] != TYPE_f32 && op->src_type[k] != TYPE_b32) return false;
  }
  return true;
}
