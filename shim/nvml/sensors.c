/* rocm_smi by dlopen. */
#include "sensors.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 32 };
enum { MEMORY_VRAM = 0, TEMPERATURE_EDGE = 0, TEMPERATURE_CURRENT = 0, CLOCK_SYSTEM = 0, CLOCK_MEMORY = 4 };

/* rsmi_frequencies_t: `deep` since ROCm 5.7. */
struct frequencies { bool deep; uint32_t supported, current; uint64_t hertz[33]; };

struct smi_process { uint32_t pid, pasid; uint64_t memory, copied; uint32_t occupancy; };

static int (*smi_init)(uint64_t), (*smi_count)(uint32_t *), (*smi_place)(uint32_t, uint64_t *),
    (*smi_memory)(uint32_t, int, uint64_t *), (*smi_busy)(uint32_t, uint32_t *), (*smi_memory_busy)(uint32_t, uint32_t *),
    (*smi_temperature)(uint32_t, uint32_t, int, int64_t *), (*smi_power)(uint32_t, uint64_t *, int *),
    (*smi_average_power)(uint32_t, uint32_t, uint64_t *), (*smi_clock)(uint32_t, int, struct frequencies *),
    (*smi_processes)(struct smi_process *, uint32_t *);
static uint64_t places[MOST];
static uint32_t count;

void sensors_open(void) {
  static const struct { const char *name; void *slot; } names[] = {
      {"rsmi_init", &smi_init}, {"rsmi_num_monitor_devices", &smi_count}, {"rsmi_dev_pci_id_get", &smi_place},
      {"rsmi_dev_memory_usage_get", &smi_memory}, {"rsmi_dev_busy_percent_get", &smi_busy},
      {"rsmi_dev_memory_busy_percent_get", &smi_memory_busy}, {"rsmi_dev_temp_metric_get", &smi_temperature},
      {"rsmi_dev_power_get", &smi_power}, {"rsmi_dev_power_ave_get", &smi_average_power},
      {"rsmi_dev_gpu_clk_freq_get", &smi_clock}, {"rsmi_compute_process_info_get", &smi_processes}};
  static const char *const libraries[] = {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                                          "librocm_smi64.so.1", "librocm_smi64.so"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
    void *found = dlsym(library, names[i].name);
    memcpy(names[i].slot, &found, sizeof found);
  }
  if (!smi_init || !smi_count || !smi_place || smi_init(0) || smi_count(&count)) count = 0;
  if (count > MOST) count = MOST;
  for (uint32_t i = 0; i < count; i++)
    if (smi_place(i, &places[i])) places[i] = UINT64_MAX;
}

/* Its place: domain in bits 32 and up, bus in 8 to 15, device in 3 to 7. */
static bool find(const struct pci *pci, uint32_t *number) {
  for (uint32_t i = 0; i < count; i++)
    if (places[i] >> 32 == pci->domain && (places[i] >> 8 & 0xff) == pci->bus && (places[i] >> 3 & 0x1f) == pci->device) {
      *number = i;
      return true;
    }
  return false;
}

bool sensor_memory_used(const struct pci *pci, unsigned long long *bytes) {
  uint32_t i;
  uint64_t used = 0;
  if (!smi_memory || !find(pci, &i) || smi_memory(i, MEMORY_VRAM, &used)) return false;
  *bytes = used;
  return true;
}

bool sensor_busy(const struct pci *pci, unsigned *gpu, unsigned *memory) {
  uint32_t i;
  if (!smi_busy || !find(pci, &i) || smi_busy(i, gpu)) return false;
  if (!smi_memory_busy || smi_memory_busy(i, memory)) *memory = 0;
  return true;
}

bool sensor_temperature(const struct pci *pci, unsigned *celsius) {
  uint32_t i;
  int64_t thousandths = 0;
  for (uint32_t sensor = TEMPERATURE_EDGE; smi_temperature && find(pci, &i) && sensor < 2; sensor++) /* edge, hot spot */
    if (!smi_temperature(i, sensor, TEMPERATURE_CURRENT, &thousandths)) {
      *celsius = (unsigned)(thousandths / 1000);
      return true;
    }
  return false;
}

bool sensor_power(const struct pci *pci, unsigned *milliwatts) {
  uint32_t i;
  uint64_t microwatts = 0;
  int kind;
  if (!find(pci, &i)) return false;
  if ((!smi_power || smi_power(i, &microwatts, &kind)) &&
      (!smi_average_power || smi_average_power(i, 0, &microwatts)))
    return false;
  *milliwatts = (unsigned)(microwatts / 1000);
  return true;
}

bool sensor_clock(const struct pci *pci, bool memory, unsigned *mhz) {
  uint32_t i;
  struct frequencies f = {0};
  if (!smi_clock || !find(pci, &i) || smi_clock(i, memory ? CLOCK_MEMORY : CLOCK_SYSTEM, &f) || f.current >= 33) return false;
  *mhz = (unsigned)(f.hertz[f.current] / 1000000);
  return *mhz != 0;
}

unsigned sensor_processes(struct process *out, unsigned room) {
  struct smi_process found[MOST];
  uint32_t n = MOST;
  if (!count || !smi_processes || smi_processes(found, &n)) return 0;
  if (n > MOST) n = MOST;
  if (n > room) n = room;
  for (uint32_t i = 0; i < n; i++) out[i] = (struct process){.pid = found[i].pid, .used = found[i].memory};
  return n;
}
