/* The chips that the engine can be. */
#include <string.h>

#include "engine.h"

enum { GFX9, GFX10, GFX11, GFX12 };
enum { WAVE32 = 1, WAVE64 = 2 };

static const struct arch archs[] = {
  {.name = "gfx900", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .vgpr_granule = {0, 4},
   .lds_bytes = 65536, .compute_units = 64},
  {.name = "gfx906", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .vgpr_granule = {0, 4},
   .lds_bytes = 65536, .compute_units = 60},
  {.name = "gfx908", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .vgpr_granule = {0, 4},
   .lds_bytes = 65536, .compute_units = 120},
  {.name = "gfx90a", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .packed_tid = true,
   .unified_vgprs = true, .vgpr_granule = {0, 8}, .lds_bytes = 65536, .compute_units = 104},
  {.name = "gfx942", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .packed_tid = true,
   .architected_flat_scratch = true, .unified_vgprs = true, .vgpr_granule = {0, 8}, .lds_bytes = 65536,
   .compute_units = 304},
  {.name = "gfx950", .generation = GFX9, .wave_sizes = WAVE64, .default_wave = 64, .packed_tid = true,
   .architected_flat_scratch = true, .unified_vgprs = true, .vgpr_granule = {0, 8}, .lds_bytes = 163840,
   .compute_units = 256},
  {.name = "gfx1100", .generation = GFX11, .wave_sizes = WAVE32 | WAVE64, .default_wave = 32, .packed_tid = true,
   .architected_flat_scratch = true, .vgpr_granule = {8, 4}, .lds_bytes = 65536, .compute_units = 96},
  {.name = "gfx1101", .generation = GFX11, .wave_sizes = WAVE32 | WAVE64, .default_wave = 32, .packed_tid = true,
   .architected_flat_scratch = true, .vgpr_granule = {8, 4}, .lds_bytes = 65536, .compute_units = 60},
  {.name = "gfx1102", .generation = GFX11, .wave_sizes = WAVE32 | WAVE64, .default_wave = 32, .packed_tid = true,
   .architected_flat_scratch = true, .vgpr_granule = {8, 4}, .lds_bytes = 65536, .compute_units = 32},
  {.name = "gfx1151", .generation = GFX11, .wave_sizes = WAVE32 | WAVE64, .default_wave = 32, .packed_tid = true,
   .architected_flat_scratch = true, .vgpr_granule = {8, 4}, .lds_bytes = 65536, .compute_units = 40},
};
enum { COUNT = sizeof archs / sizeof *archs };

const struct arch *arch_find(const char *name) {
  size_t n = strcspn(name, ":");
  for (size_t k = 0; k < COUNT; k++)
    if (strlen(archs[k].name) == n && strncmp(archs[k].name, name, n) == 0) return &archs[k];
  return NULL;
}

const struct arch *arch_at(size_t index) { return index < COUNT ? &archs[index] : NULL; }
