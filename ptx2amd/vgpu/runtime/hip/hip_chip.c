/* The properties of each chip that the software GPU reports to programs: those of one product of the architecture
 * (ptx2amd/target/chips.toml). */
#include <string.h>

#include "chip_tables.h"
#include "hip_state.h"

static const struct chip chips[] = {CHIP_ROWS};

const struct chip *chip_find(const char *arch) {
  for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
    if (!strcmp(chips[k].arch, arch)) return &chips[k];
  return NULL;
}

static int round_up(int value, int granule) { return granule ? (value + granule - 1) / granule * granule : value; }

/* On a 32-lane chip a 64-lane wave uses two rows per register: half as many registers, half as many waves. */
static int share(const struct arch *arch, unsigned wave, int of) { return wave > arch->default_wave ? of / 2 : of; }

int chip_waves(const struct chip *chip, const struct arch *arch, unsigned wave) {
  return share(arch, wave, chip->waves_per_simd) * chip->simds;
}

int chip_blocks(const struct chip *chip, const struct arch *arch, unsigned wave, int registers, int waves, size_t lds) {
  int granule = wave == 32 ? chip->vgpr_granule_w32 : chip->vgpr_granule_w64;
  int per_simd = share(arch, wave, chip->vgprs_per_simd) / round_up(registers < 1 ? 1 : registers, granule);
  int most = share(arch, wave, chip->waves_per_simd);
  int blocks = (per_simd < most ? per_simd : most) * chip->simds / waves;
  int taken = round_up((int)lds, chip->lds_granule);
  return taken && chip->lds_per_processor / taken < blocks ? chip->lds_per_processor / taken : blocks;
}

const char *ptx2amd_vgpu_archs(void) { return DEVICE_NAMES; }
