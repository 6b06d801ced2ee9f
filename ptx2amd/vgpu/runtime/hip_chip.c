/* What the software GPU tells programs about each chip. The numbers are those of one product of the architecture. */
#include <string.h>

#include "hip_state.h"

static const struct chip chips[] = {
    {.arch = "gfx942", .name = "AMD Instinct MI300X (ptx2amd software GPU)", .target = "gfx942:sramecc+:xnack-",
     .elf_mach = {0x04c, 0x05f}, .major = 9, .minor = 4,
     .clock_khz = 2100000, .memory_clock_khz = 1300000, .memory_bus_bits = 8192, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 8, .vgprs_per_simd = 512, .vgpr_granule_w64 = 8,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x74a1},
    {.arch = "gfx1100", .name = "AMD Radeon RX 7900 XTX (ptx2amd software GPU)", .target = "gfx1100",
     .elf_mach = {0x041, 0x054}, .major = 11, .minor = 0,
     .clock_khz = 2371000, .memory_clock_khz = 1249000, .memory_bus_bits = 384, .l2_bytes = 6 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1536, .vgpr_granule_w32 = 24, .vgpr_granule_w64 = 12,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x744c},
};

const struct chip *chip_find(const char *arch) {
  for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
    if (!strcmp(chips[k].arch, arch)) return &chips[k];
  return NULL;
}

const char *ptx2amd_vgpu_archs(void) { return "gfx942,gfx1100"; }
