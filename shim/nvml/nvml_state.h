/* What the functions share (nvml.c). */
#ifndef NVML_STATE_H
#define NVML_STATE_H
#include <stdbool.h>
#include <stddef.h>

#include "nvml_api.h"

struct nvml_device {
  char name[96], uuid[48];
  struct pci pci;
  unsigned long long memory;
  int cc_major, cc_minor;
};

bool nvml_ready(void); /* initialised */
bool device_known(nvmlDevice_t device);
int device_index(nvmlDevice_t device);
int device_attribute(nvmlDevice_t device, int number); /* a CUdevice_attribute */
/* Where a device is on the bus; or what a call answers that it is no device of. */
nvmlReturn_t device_place(nvmlDevice_t device, const struct pci **place);
/* The processes that use a device, as entries of `size` bytes. */
nvmlReturn_t processes(nvmlDevice_t device, unsigned *n, void *infos, size_t size);
/* What a clock can reach. */
nvmlReturn_t clock_limit(nvmlDevice_t device, int type, unsigned *mhz);
#endif
