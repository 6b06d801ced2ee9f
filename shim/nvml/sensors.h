/* What AMD's rocm_smi says about the GPU at a place of the PCI bus. False: there is no rocm_smi, no such GPU, no such
 * sensor. */
#ifndef SHIM_SENSORS_H
#define SHIM_SENSORS_H
#include <stdbool.h>

#include "nvml_types.h"

void sensors_open(void);
bool sensor_memory_used(const struct pci *pci, unsigned long long *bytes);
bool sensor_busy(const struct pci *pci, unsigned *gpu, unsigned *memory); /* percent */
bool sensor_temperature(const struct pci *pci, unsigned *celsius);
bool sensor_power(const struct pci *pci, unsigned *milliwatts);
bool sensor_clock(const struct pci *pci, bool memory, unsigned *mhz);
unsigned sensor_processes(struct process *out, unsigned room); /* of all GPUs; returns how many */
#endif
