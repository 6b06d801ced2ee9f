/* A rocm_smi with one GPU at 0000:c1:00.0 and made-up readings. */
#include <stdint.h>
#include <string.h>

int rsmi_init(uint64_t flags) { return flags != 0; }
int rsmi_num_monitor_devices(uint32_t *n) { return *n = 1, 0; }
int rsmi_dev_pci_id_get(uint32_t i, uint64_t *place) { return *place = (PLACE), i != 0; }
int rsmi_dev_memory_usage_get(uint32_t i, int kind, uint64_t *bytes) { return *bytes = 123456789, i || kind; }
int rsmi_dev_busy_percent_get(uint32_t i, uint32_t *percent) { return *percent = 42, i != 0; }
int rsmi_dev_memory_busy_percent_get(uint32_t i, uint32_t *percent) { return *percent = 17, i != 0; }
int rsmi_dev_temp_metric_get(uint32_t i, uint32_t sensor, int metric, int64_t *value) {
  return *value = 61500, i || metric || sensor != 1; /* no edge sensor, as on Instinct */
}
int rsmi_dev_power_ave_get(uint32_t i, uint32_t sensor, uint64_t *microwatts) { return *microwatts = 250000000, i || sensor; }
int rsmi_dev_gpu_clk_freq_get(uint32_t i, int clock, void *out) {
  struct { _Bool deep; uint32_t supported, current; uint64_t hertz[33]; } f = {0, 2, 1, {500000000, clock ? 900000000 : 2100000000}};
  return memcpy(out, &f, sizeof f), i != 0;
}
int rsmi_compute_process_info_get(void *out, uint32_t *n) {
  struct { uint32_t pid, pasid; uint64_t memory, copied; uint32_t occupancy; } p = {4711, 0, 1000000, 0, 0};
  return memcpy(out, &p, sizeof p), *n = 1, 0;
}
