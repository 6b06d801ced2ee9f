/* /sys/devices/virtual/kfd/kfd/topology: a CPU, node 0, and the GPUs, each linked with all others. The counts in a node's
 * properties are those of its folders. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kfd.h"

#define TOPOLOGY "/sys/devices/virtual/kfd/kfd/topology"
enum { LINK_PCIE = 2, LINK_XGMI = 11, LINK_ENABLED = 1 };
enum { HEAP_SYSTEM = 0, HEAP_VRAM_VISIBLE = 1 };
enum { CACHE_OF_GPU = 9 /* data, of SIMDs */ };
enum { CACHE_LINE = 128 /* bytes */, COMPUTE_QUEUES = 24 };
enum { FIRST_SIMD = (int)0x80001000 };
#define CAPABILITY_WATCH_POINTS (1u << 7 | 2u << 8)
#define CAPABILITY_DOORBELLS_64 (2u << 12)
#define CAPABILITY_SRAM_ECC (1u << 26)
#define CAPABILITY_SVM (1u << 27)

/* "gfx90a" as major * 10000 + minor * 100 + stepping. */
static unsigned target_version(const char *arch) {
  const char *digits = arch + 3;
  size_t n = strlen(digits);
  char step[2] = {digits[n - 1], 0};
  return (unsigned)(strtol(digits, NULL, 16) >> 8 == 9 ? 9 : atoi(digits) / 100) * 10000 +
         (unsigned)(digits[n - 2] - '0') * 100 + (unsigned)strtol(step, NULL, 16);
}

static void add_links(unsigned from) {
  unsigned at = 0;
  for (unsigned to = 0; to <= gpu_count; to++) {
    if (to == from) continue;
    char path[128];
    bool gpu_to_gpu = from && to;
    snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/io_links/%u/properties", from, at++);
    file_add(path, "type %d\nversion_major 0\nversion_minor 0\nnode_from %u\nnode_to %u\nweight %d\nmin_latency 0\n"
             "max_latency 0\nmin_bandwidth 0\nmax_bandwidth 0\nrecommended_transfer_size 0\nflags %d\n",
             gpu_to_gpu ? LINK_XGMI : LINK_PCIE, from, to, gpu_to_gpu ? 15 : 20, LINK_ENABLED);
  }
}

static void add_memory(unsigned node, int heap, unsigned width, unsigned mhz) {
  char path[128];
  snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/mem_banks/0/properties", node);
  file_add(path, "heap_type %d\nsize_in_bytes %llu\nflags 0\nwidth %u\nmem_clk_max %u\n", heap,
           (unsigned long long)gpu_memory(), width, mhz);
}

static void add_caches(const struct gpu *g) {
  for (int level = 1; level <= 2; level++) {
    char path[128];
    snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/caches/%d/properties", g->node, level - 1);
    file_add(path, "processor_id_low %u\nlevel %d\nsize %d\ncache_line_size %d\ncache_lines_per_tag 1\nassociation 16\n"
             "latency 1\ntype %d\nsibling_map 1\n", (unsigned)FIRST_SIMD, level, level == 1 ? 16 : g->chip->l2_bytes >> 10,
             CACHE_LINE, CACHE_OF_GPU);
  }
}

/* Properties that apply to only one kind of node are 0 for the other. */
static void add_cpu(void) {
  file_add(TOPOLOGY "/nodes/0/gpu_id", "0\n");
  file_add(TOPOLOGY "/nodes/0/name", "\n");
  file_add(TOPOLOGY "/nodes/0/properties",
           "cpu_cores_count %ld\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count %u\np2p_links_count 0\n"
           "cpu_core_id_base 0\nsimd_id_base 0\nmax_waves_per_simd 0\nlds_size_in_kb 0\ngds_size_in_kb 0\nnum_gws 0\n"
           "wave_front_size 0\narray_count 0\nsimd_arrays_per_engine 0\ncu_per_simd_array 0\nsimd_per_cu 0\n"
           "max_slots_scratch_cu 0\ngfx_target_version 0\nvendor_id 0\ndevice_id 0\nlocation_id 0\ndomain 0\n"
           "drm_render_minor 0\nhive_id 0\nnum_sdma_engines 0\nnum_sdma_xgmi_engines 0\nnum_sdma_queues_per_engine 0\n"
           "num_cp_queues 0\nmax_engine_clk_ccompute 3000\n", sysconf(_SC_NPROCESSORS_ONLN), gpu_count);
  add_memory(0, HEAP_SYSTEM, 64, 3200);
  add_links(0);
}

static void add_gpu(const struct gpu *g) {
  const struct layout *l = g->layout;
  char path[128];
  snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/gpu_id", g->node);
  file_add(path, "%u\n", g->id);
  snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/name", g->node);
  file_add(path, "ip discovery\n");   /* the driver's name for chips without a name */
  snprintf(path, sizeof path, TOPOLOGY "/nodes/%u/properties", g->node);
  unsigned simds = g->arch->default_wave == 64 ? 4 : 2;
  unsigned capability = CAPABILITY_WATCH_POINTS | CAPABILITY_DOORBELLS_64 | CAPABILITY_SVM |
                        (g->arch->sram_ecc ? CAPABILITY_SRAM_ECC : 0);
  file_add(path,
           "cpu_cores_count 0\nsimd_count %u\nmem_banks_count 1\ncaches_count 2\nio_links_count %u\np2p_links_count 0\n"
           "cpu_core_id_base 0\nsimd_id_base %u\nmax_waves_per_simd %d\nlds_size_in_kb %u\ngds_size_in_kb 0\nnum_gws 64\n"
           "wave_front_size %u\narray_count %u\nsimd_arrays_per_engine %u\ncu_per_simd_array %u\nsimd_per_cu %u\n"
           "max_slots_scratch_cu 32\ngfx_target_version %u\nvendor_id 4098\ndevice_id %d\nlocation_id %u\ndomain 0\n"
           "drm_render_minor %u\nhive_id %d\nnum_sdma_engines %u\nnum_sdma_xgmi_engines 0\nnum_sdma_queues_per_engine 8\n"
           "num_cp_queues %d\nmax_engine_clk_fcompute %d\nlocal_mem_size 0\nfw_version 68\ncapability %u\n"
           "sdma_fw_version 8\nunique_id %llu\nnum_xcc 1\nmax_engine_clk_ccompute 3000\n",
           g->arch->compute_units * simds, gpu_count, (unsigned)FIRST_SIMD, g->chip->waves_per_simd, g->arch->lds_bytes >> 10,
           (unsigned)g->arch->default_wave, l->arrays, l->arrays_per_engine, l->units_per_array, simds,
           target_version(g->arch->name), g->chip->pci_device_id, g->node << 8, RENDER_MINOR + g->node - 1,
           gpu_count > 1 ? 1 : 0, l->sdma_engines, COMPUTE_QUEUES, g->chip->clock_khz / 1000, capability,
           0x7074783261000000ull + g->node);
  add_memory(g->node, HEAP_VRAM_VISIBLE, (unsigned)g->chip->memory_bus_bits, (unsigned)g->chip->memory_clock_khz / 1000);
  add_caches(g);
  add_links(g->node);
}

void topology_make(void) {
  file_add(TOPOLOGY "/generation_id", "2\n");
  file_add(TOPOLOGY "/system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n");
  add_cpu();
  for (unsigned k = 0; k < gpu_count; k++) add_gpu(&gpus[k]);
}

bool topology_copy(const char *target, bool (*write)(const char *path, const char *text)) {
  return files_copy(TOPOLOGY, target, write);
}
