/* NVML's types, as far as the library uses them. */
#ifndef NVML_TYPES_H
#define NVML_TYPES_H

typedef int nvmlReturn_t;
typedef struct nvml_device *nvmlDevice_t;
enum {
  NVML_SUCCESS = 0, NVML_ERROR_UNINITIALIZED = 1, NVML_ERROR_INVALID_ARGUMENT = 2, NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6, NVML_ERROR_INSUFFICIENT_SIZE = 7, NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12, NVML_ERROR_FUNCTION_NOT_FOUND = 13, NVML_ERROR_UNKNOWN = 999,
};
struct pci {
  char legacy[16];
  unsigned domain, bus, device, device_id, subsystem;
  char id[32];
};
struct memory { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };
struct utilization { unsigned gpu, memory; };
struct temperature { unsigned version; int sensor, celsius; };
struct process { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; };
#endif
