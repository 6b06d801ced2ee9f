/* What the software GPU tells programs about each chip. The numbers are those of one product of the architecture. */
#include <string.h>

#include "hip_state.h"

#define NAME(product) product " (ptx2amd software GPU)"

static const struct chip chips[] = {
    {.arch = "gfx942", .name = NAME("AMD Instinct MI300X"), .target = "gfx942:sramecc+:xnack-",
     .elf_mach = {0x04c, 0x05f}, .major = 9, .minor = 4,
     .clock_khz = 2100000, .memory_clock_khz = 1300000, .memory_bus_bits = 8192, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 8, .vgprs_per_simd = 512, .vgpr_granule_w64 = 8,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x74a1},
    {.arch = "gfx1100", .name = NAME("AMD Radeon RX 7900 XTX"), .target = "gfx1100",
     .elf_mach = {0x041, 0x054}, .major = 11, .minor = 0,
     .clock_khz = 2371000, .memory_clock_khz = 1249000, .memory_bus_bits = 384, .l2_bytes = 6 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1536, .vgpr_granule_w32 = 24, .vgpr_granule_w64 = 12,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x744c},
    {.arch = "gfx900", .name = NAME("AMD Radeon RX Vega 64"), .target = "gfx900:xnack-",
     .elf_mach = {0x02c, 0x051}, .major = 9, .minor = 0,
     .clock_khz = 1630000, .memory_clock_khz = 945000, .memory_bus_bits = 2048, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 10, .vgprs_per_simd = 256, .vgpr_granule_w64 = 4,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x687f},
    {.arch = "gfx906", .name = NAME("AMD Instinct MI50"), .target = "gfx906:sramecc+:xnack-",
     .elf_mach = {0x02f, 0x051}, .major = 9, .minor = 0,
     .clock_khz = 1725000, .memory_clock_khz = 1000000, .memory_bus_bits = 4096, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 10, .vgprs_per_simd = 256, .vgpr_granule_w64 = 4,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x66a1},
    {.arch = "gfx908", .name = NAME("AMD Instinct MI100"), .target = "gfx908:sramecc+:xnack-",
     .elf_mach = {0x030}, .major = 9, .minor = 0,
     .clock_khz = 1502000, .memory_clock_khz = 1200000, .memory_bus_bits = 4096, .l2_bytes = 8 << 20,
     .simds = 4, .waves_per_simd = 10, .vgprs_per_simd = 256, .vgpr_granule_w64 = 4,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x738c},
    {.arch = "gfx90a", .name = NAME("AMD Instinct MI210"), .target = "gfx90a:sramecc+:xnack-",
     .elf_mach = {0x03f}, .major = 9, .minor = 0,
     .clock_khz = 1700000, .memory_clock_khz = 1600000, .memory_bus_bits = 4096, .l2_bytes = 8 << 20,
     .simds = 4, .waves_per_simd = 8, .vgprs_per_simd = 512, .vgpr_granule_w64 = 8,
     .lds_per_processor = 64 << 10, .lds_granule = 512, .pci_device_id = 0x740f},
    {.arch = "gfx950", .name = NAME("AMD Instinct MI350X"), .target = "gfx950:sramecc+:xnack-",
     .elf_mach = {0x04f, 0x05f}, .major = 9, .minor = 5,
     .clock_khz = 2200000, .memory_clock_khz = 2000000, .memory_bus_bits = 8192, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 8, .vgprs_per_simd = 512, .vgpr_granule_w64 = 8,
     .lds_per_processor = 160 << 10, .lds_granule = 1280, .pci_device_id = 0x75a0},
    {.arch = "gfx1030", .name = NAME("AMD Radeon RX 6900 XT"), .target = "gfx1030",
     .elf_mach = {0x036, 0x053}, .major = 10, .minor = 3,
     .clock_khz = 2250000, .memory_clock_khz = 1000000, .memory_bus_bits = 256, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1024, .vgpr_granule_w32 = 16, .vgpr_granule_w64 = 8,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x73bf},
    {.arch = "gfx1151", .name = NAME("AMD Radeon 8060S"), .target = "gfx1151",
     .elf_mach = {0x04a, 0x054}, .major = 11, .minor = 5,
     .clock_khz = 2900000, .memory_clock_khz = 1000000, .memory_bus_bits = 256, .l2_bytes = 2 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1536, .vgpr_granule_w32 = 24, .vgpr_granule_w64 = 12,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x1586},
    {.arch = "gfx1200", .name = NAME("AMD Radeon RX 9060 XT"), .target = "gfx1200",
     .elf_mach = {0x048, 0x059}, .major = 12, .minor = 0,
     .clock_khz = 3130000, .memory_clock_khz = 1258000, .memory_bus_bits = 128, .l2_bytes = 4 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1536, .vgpr_granule_w32 = 24, .vgpr_granule_w64 = 12,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x7590},
    {.arch = "gfx1201", .name = NAME("AMD Radeon RX 9070 XT"), .target = "gfx1201",
     .elf_mach = {0x04e, 0x059}, .major = 12, .minor = 0,
     .clock_khz = 2970000, .memory_clock_khz = 1258000, .memory_bus_bits = 256, .l2_bytes = 8 << 20,
     .simds = 4, .waves_per_simd = 16, .vgprs_per_simd = 1536, .vgpr_granule_w32 = 24, .vgpr_granule_w64 = 12,
     .lds_per_processor = 128 << 10, .lds_granule = 512, .pci_device_id = 0x7550},
};

const struct chip *chip_find(const char *arch) {
  for (size_t k = 0; k < sizeof chips / sizeof *chips; k++)
    if (!strcmp(chips[k].arch, arch)) return &chips[k];
  return NULL;
}

static int round_up(int value, int granule) { return granule ? (value + granule - 1) / granule * granule : value; }

/* A 64-lane wave on a 32-lane chip takes two rows a register: half as many registers, half as many waves. */
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

const char *ptx2amd_vgpu_archs(void) {
  return "gfx900,gfx906,gfx908,gfx90a,gfx942,gfx950,gfx1030,gfx1100,gfx1151,gfx1200,gfx1201";
}
