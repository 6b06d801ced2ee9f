/* The chips that the engine can be. */
#include <string.h>

#include "engine.h"

enum { GFX9, GFX10, GFX11, GFX12 };
enum { WAVE32 = 1, WAVE64 = 2 };

#define CHIP_GFX9(chip, decoder) \
  .name = chip, .generation = GFX9, .decode = decoder, .wave_sizes = WAVE64, .default_wave = 64
#define CHIP_GFX900(chip, decoder) CHIP_GFX9(chip, decoder), .vgpr_granule = {0, 4}, .lds_bytes = 65536
#define CHIP_GFX90A(chip, decoder) \
  CHIP_GFX9(chip, decoder), .sram_ecc = true, .packed_tid = true, .unified_vgprs = true, .vgpr_granule = {0, 8}, .lds_bytes = 65536
#define CHIP_GFX94(chip, decoder) \
  CHIP_GFX9(chip, decoder), .sram_ecc = true, .packed_tid = true, .unified_vgprs = true, .vgpr_granule = {0, 8}, \
  .architected_flat_scratch = true
#define CHIP_WAVE32(chip, family, decoder) \
  .name = chip, .generation = family, .decode = decoder, .wave_sizes = WAVE32 | WAVE64, .default_wave = 32, \
  .vgpr_granule = {8, 4}, .lds_bytes = 65536
#define CHIP_GFX11(chip, decoder) \
  CHIP_WAVE32(chip, GFX11, decoder), .packed_tid = true, .architected_flat_scratch = true
#define CHIP_GFX12(chip, decoder) \
  CHIP_WAVE32(chip, GFX12, decoder), .packed_tid = true, .architected_flat_scratch = true, .ttmp_ids = true

static const struct arch archs[] = {
  {CHIP_GFX900("gfx900", decode_gfx900), .compute_units = 64},
  {CHIP_GFX900("gfx906", decode_gfx906), .sram_ecc = true, .compute_units = 60},
  {CHIP_GFX900("gfx908", decode_gfx908), .sram_ecc = true, .compute_units = 120},
  {CHIP_GFX90A("gfx90a", decode_gfx90a), .compute_units = 104},
  {CHIP_GFX94("gfx942", decode_gfx942), .lds_bytes = 65536, .compute_units = 304},
  {CHIP_GFX94("gfx950", decode_gfx950), .lds_bytes = 163840, .compute_units = 256},
  {CHIP_WAVE32("gfx1030", GFX10, decode_gfx1030), .compute_units = 80},
  {CHIP_GFX11("gfx1100", decode_gfx1100), .compute_units = 96},
  {CHIP_GFX11("gfx1101", decode_gfx1100), .compute_units = 60},
  {CHIP_GFX11("gfx1102", decode_gfx1100), .compute_units = 32},
  {CHIP_GFX11("gfx1151", decode_gfx1151), .compute_units = 40},
  {CHIP_GFX12("gfx1200", decode_gfx1200), .compute_units = 32},
  {CHIP_GFX12("gfx1201", decode_gfx1200), .compute_units = 64},
};
enum { COUNT = sizeof archs / sizeof *archs };

const struct arch *arch_find(const char *name) {
  size_t n = strcspn(name, ":");
  for (size_t k = 0; k < COUNT; k++)
    if (strlen(archs[k].name) == n && strncmp(archs[k].name, name, n) == 0) return &archs[k];
  return NULL;
}

const struct arch *arch_at(size_t index) { return index < COUNT ? &archs[index] : NULL; }
