/* Devices: what the HIP library has, as CUDA devices. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "shim.h"

struct device devices[MAX_DEVICES];
int device_count;

/* The place of gcnArchName in HIP 5's properties, and room for whatever they are. */
enum { ARCH_AT_HIP5 = 396, PROPERTIES_SIZE = 4096 };
enum { HIP_MULTIPROCESSORS = 63, HIP_LDS = 74, HIP_PCI_BUS = 67, HIP_PCI_DEVICE = 68, HIP_PCI_DOMAIN = 69 };

static int hip_attribute(int device, unsigned number, int otherwise) {
  int value = 0;
  return hip.DeviceGetAttribute(&value, number, device) ? otherwise : value;
}

static void find_arch(struct device *d, int i) {
  union { hipDeviceProp_tR0600 now; hipDeviceProp_t *hip5; char bytes[PROPERTIES_SIZE]; } p = {0};
  const char *name = NULL;
  if (!hip.GetDevicePropertiesR0600(&p.now, i)) name = p.now.gcnArchName;
  else if (!hip.GetDeviceProperties((hipDeviceProp_t *)&p, i)) name = p.bytes + ARCH_AT_HIP5;
  snprintf(d->arch, sizeof d->arch, "%.*s", name ? (int)strcspn(name, ":") : 0, name ? name : "");
}

static void find_uuid(struct device *d, int i) {
  static const CUuuid none;
  if (!hip.DeviceGetUuid((hipUUID *)&d->uuid, i) && memcmp(&d->uuid, &none, sizeof none)) return;
  snprintf((char *)d->uuid.bytes, sizeof d->uuid.bytes, "p2a-%d-%s", i, d->arch); /* the name's end may not fit */
}

CUresult devices_find(void) {
  int count = 0;
  if (hip.GetDeviceCount(&count) || count <= 0) return CUDA_ERROR_NO_DEVICE;
  device_count = count < MAX_DEVICES ? count : MAX_DEVICES;
  capability_read();
  for (int i = 0; i < device_count; i++) {
    struct device *d = &devices[i];
    char name[128] = "GPU";
    find_arch(d, i);
    hip.DeviceGetName(name, (int)sizeof name, i);
    snprintf(d->name, sizeof d->name, "%s%s%s", strncmp(name, "AMD", 3) ? "AMD " : "", name,
             strstr(name, "ptx2amd") ? "" : " (ptx2amd)");
    hip.DeviceTotalMem(&d->memory, i);
    find_uuid(d, i);
    d->pci_bus = hip_attribute(i, HIP_PCI_BUS, i + 1);
    d->pci_device = hip_attribute(i, HIP_PCI_DEVICE, 0);
    d->pci_domain = hip_attribute(i, HIP_PCI_DOMAIN, 0);
    d->multiprocessors = hip_attribute(i, HIP_MULTIPROCESSORS, 1);
    d->lds = hip_attribute(i, HIP_LDS, 65536);
    char quoted[600];
    if (trace_on) trace("\"event\": \"device\", \"ordinal\": %d, \"name\": %s, \"arch\": \"%s\", \"software\": %s", i,
                        json_string(d->name, quoted, sizeof quoted), d->arch, hip_is_software ? "true" : "false");
  }
  return CUDA_SUCCESS;
}

#define CHECK_DEVICE(pointer, dev) do { \
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED; \
    if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE; \
    if (!(pointer)) return CUDA_ERROR_INVALID_VALUE; \
  } while (0)

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  CHECK_DEVICE(device, ordinal);
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = device_count;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
  CHECK_DEVICE(name, dev);
  if (len <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, (size_t)len, "%s", devices[dev].name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
  CHECK_DEVICE(uuid, dev);
  *uuid = devices[dev].uuid;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev) {
  CHECK_DEVICE(luid, dev); /* LUIDs exist on Windows alone */
  if (!deviceNodeMask) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
  CHECK_DEVICE(bytes, dev);
  *bytes = devices[dev].memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev) {
  CHECK_DEVICE(bytes, dev);
  *bytes = devices[dev].memory > 0xffffffffu ? 0xffffffffu : (unsigned)devices[dev].memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
  if (initialised && !pi) return CUDA_ERROR_INVALID_VALUE; /* the first thing that NVIDIA's driver finds */
  CHECK_DEVICE(pi, dev);
  const struct device *d = &devices[dev];
  switch (attrib) {
    case 75: *pi = capability_for_caller().major; return CUDA_SUCCESS;
    case 76: *pi = capability_for_caller().minor; return CUDA_SUCCESS;
    case 16: *pi = d->multiprocessors; return CUDA_SUCCESS;
    case 33: *pi = d->pci_bus; return CUDA_SUCCESS;
    case 34: *pi = d->pci_device; return CUDA_SUCCESS;
    case 50: *pi = d->pci_domain; return CUDA_SUCCESS;
    case 8: *pi = d->lds < 49152 ? d->lds : 49152; return CUDA_SUCCESS; /* without opting in to more */
    case 81: case 97: *pi = d->lds; return CUDA_SUCCESS;
    default: break;
  }
  for (int i = 0; i < device_attribute_count; i++) {
    const struct attribute *a = &device_attributes[i];
    if (a->number != attrib) continue;
    *pi = a->hip < 0 ? a->value : hip_attribute(dev, (unsigned)a->hip, a->value);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

static int attribute_of(CUdevice dev, int number) {
  int value = 0;
  cuDeviceGetAttribute(&value, number, dev);
  return value;
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
  CHECK_DEVICE(prop, dev);
  *prop = (CUdevprop){.maxThreadsPerBlock = attribute_of(dev, 1),
                      .maxThreadsDim = {attribute_of(dev, 2), attribute_of(dev, 3), attribute_of(dev, 4)},
                      .maxGridSize = {attribute_of(dev, 5), attribute_of(dev, 6), attribute_of(dev, 7)},
                      .sharedMemPerBlock = attribute_of(dev, 8), .totalConstantMemory = attribute_of(dev, 9),
                      .SIMDWidth = attribute_of(dev, 10), .memPitch = attribute_of(dev, 11),
                      .regsPerBlock = attribute_of(dev, 12), .clockRate = attribute_of(dev, 13),
                      .textureAlign = attribute_of(dev, 14)};
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
  CHECK_DEVICE(major && minor, dev);
  struct capability told = capability_for_caller();
  *major = told.major;
  *minor = told.minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
  enum { ROOM = sizeof "0000:00:00.0" };
  CHECK_DEVICE(pciBusId, dev);
  if (len < ROOM) return CUDA_ERROR_INVALID_VALUE;
  const struct device *d = &devices[dev];
  snprintf(pciBusId, (size_t)len, "%04x:%02x:%02x.0", d->pci_domain, d->pci_bus, d->pci_device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!dev || !pciBusId) return CUDA_ERROR_INVALID_VALUE;
  int domain = 0, bus = 0, device = 0;
  if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &device) != 3) {
    domain = 0;
    if (sscanf(pciBusId, "%x:%x", &bus, &device) != 2) return CUDA_ERROR_INVALID_VALUE;
  }
  for (int i = 0; i < device_count; i++)
    if (devices[i].pci_domain == domain && devices[i].pci_bus == bus && devices[i].pci_device == device) {
      *dev = i;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev) {
  CHECK_DEVICE(pi, dev);
  (void)type; /* of no type */
  *pi = 0;
  return CUDA_SUCCESS;
}

CUresult device_texture_1d_width(size_t *width, CUarray_format format, unsigned channels, CUdevice dev) {
  (void)format;
  CHECK_DEVICE(width, dev);
  if (!channels || channels > 4) return CUDA_ERROR_INVALID_VALUE;
  *width = (size_t)attribute_of(dev, 69);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const CUatomicOperation *operations,
                                           unsigned int count, CUdevice dev) {
  CHECK_DEVICE(capabilities && operations && count, dev);
  for (unsigned i = 0; i < count; i++) capabilities[i] = 0;
  return CUDA_SUCCESS;
}
