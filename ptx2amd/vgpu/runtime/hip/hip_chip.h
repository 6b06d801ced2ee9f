/* The chips (hip_chip.c). */
#pragma once
#include <stddef.h>

struct arch;

/* Properties of a chip that are reported to programs, beyond struct arch. */
struct chip {
  const char *arch, *name;
  const char *target;             /* with feature suffixes, as gcnArchName gives it */
  unsigned elf_mach[3];           /* EF_AMDGPU_MACH values of code objects that run here, 0-terminated */
  int major, minor;
  int clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
  int simds, waves_per_simd;      /* per reported multiprocessor */
  int vgprs_per_simd, vgpr_granule_w32, vgpr_granule_w64;
  int lds_per_processor, lds_granule;
  int pci_device_id;
};
const struct chip *chip_find(const char *arch);
/* Blocks of `waves` waves, with this many vector registers each, that a multiprocessor can hold. */
int chip_blocks(const struct chip *chip, const struct arch *arch, unsigned wave, int registers, int waves, size_t lds);
/* The maximum number of waves of that size that it can hold. */
int chip_waves(const struct chip *chip, const struct arch *arch, unsigned wave);
