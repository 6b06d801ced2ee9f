/* libnvidia-ml.so.1: what programs ask the management library, answered from our libcuda. Numbers that only the GPU's own
 * sensors know come from AMD's rocm_smi, where it is installed; else they are NVML_ERROR_NOT_SUPPORTED, as on chips
 * without the sensor. What is one expression is in the table (ptx2amd/api/nvml), as are functions without an answer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml_state.h"
#include "sensors.h"

enum { MAX_DEVICES = 16, MAX_PROCESSES = 64 };

static struct nvml_device devices[MAX_DEVICES];
static unsigned count;
static int initialised; /* how often */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- our libcuda ---- */

static int (*cu_init)(unsigned), (*cu_version)(int *), (*cu_count)(int *), (*cu_name)(char *, int, int),
    (*cu_uuid)(unsigned char *, int), (*cu_total)(size_t *, int), (*cu_attribute)(int *, int, int),
    (*cu_memory)(size_t *, size_t *, int);

static bool load_cuda(void) {
  static const struct { const char *name; void *slot; } names[] = {
      {"cuInit", &cu_init}, {"cuDriverGetVersion", &cu_version}, {"cuDeviceGetCount", &cu_count},
      {"cuDeviceGetName", &cu_name}, {"cuDeviceGetUuid_v2", &cu_uuid}, {"cuDeviceTotalMem_v2", &cu_total},
      {"cuDeviceGetAttribute", &cu_attribute}, {"ptx2amd_memory_info", &cu_memory}};
  Dl_info info;
  char path[4096];
  if (!dladdr((void *)load_cuda, &info) || strlen(info.dli_fname) > sizeof path - 32) return false;
  snprintf(path, sizeof path, "%s", info.dli_fname);
  char *slash = strrchr(path, '/');
  snprintf(slash ? slash + 1 : path, 16, "libcuda.so.1");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
    void *found = dlsym(library, names[i].name);
    if (!found) return false;
    memcpy(names[i].slot, &found, sizeof found);
  }
  return library;
}

static int attribute(int device, int number) {
  int value = 0;
  cu_attribute(&value, number, device);
  return value;
}

static void describe(int i) {
  struct nvml_device *d = &devices[i];
  unsigned char id[16] = {0};
  size_t total = 0;
  cu_name(d->name, sizeof d->name, i);
  cu_uuid(id, i);
  cu_total(&total, i);
  d->memory = total;
  d->cc_major = attribute(i, 75);
  d->cc_minor = attribute(i, 76);
  int n = snprintf(d->uuid, sizeof d->uuid, "GPU-");
  for (int k = 0; k < 16; k++)
    n += snprintf(d->uuid + n, sizeof d->uuid - (size_t)n, k == 4 || k == 6 || k == 8 || k == 10 ? "-%02x" : "%02x", id[k]);
  struct pci *p = &d->pci;
  p->domain = (unsigned)attribute(i, 50);
  p->bus = (unsigned)attribute(i, 33);
  p->device = (unsigned)attribute(i, 34);
  p->device_id = 0x1002; /* AMD; the chip's own number is not known here */
  snprintf(p->legacy, sizeof p->legacy, "%04X:%02X:%02X.0", p->domain & 0xffff, p->bus & 0xff, p->device & 0xff);
  snprintf(p->id, sizeof p->id, "%08X:%02X:%02X.0", p->domain, p->bus & 0xff, p->device & 0xff);
}

static nvmlReturn_t start(void) {
  int found = 0;
  if (!load_cuda()) return NVML_ERROR_LIBRARY_NOT_FOUND;
  if (cu_init(0) || cu_count(&found) || found <= 0) return NVML_ERROR_DRIVER_NOT_LOADED;
  count = found > MAX_DEVICES ? MAX_DEVICES : (unsigned)found;
  for (unsigned i = 0; i < count; i++) describe((int)i);
  sensors_open();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void) {
  static bool ready;
  pthread_mutex_lock(&lock);
  nvmlReturn_t result = ready ? NVML_SUCCESS : start();
  if (!result) ready = true, initialised++;
  pthread_mutex_unlock(&lock);
  return result;
}

nvmlReturn_t nvmlShutdown(void) {
  pthread_mutex_lock(&lock);
  nvmlReturn_t result = initialised ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
  if (!result) initialised--;
  pthread_mutex_unlock(&lock);
  return result;
}

const char *nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_LIBRARY_NOT_FOUND: return "Shared Library Not Found";
    case NVML_ERROR_FUNCTION_NOT_FOUND: return "Function Not Found";
    default: return "Unknown Error";
  }
}

/* ---- checks ---- */

#define READY(condition)                                     \
  do {                                                       \
    if (!initialised) return NVML_ERROR_UNINITIALIZED;       \
    if (!(condition)) return NVML_ERROR_INVALID_ARGUMENT;    \
  } while (0)

bool nvml_ready(void) { return initialised != 0; }
bool device_known(nvmlDevice_t d) {
  uintptr_t offset = (uintptr_t)d - (uintptr_t)devices;
  return offset < count * sizeof *devices && offset % sizeof *devices == 0;
}
#define DEVICE(d, condition) READY(device_known(d) && (condition))
nvmlReturn_t device_place(nvmlDevice_t device, const struct pci **place) {
  DEVICE(device, true);
  *place = &device->pci;
  return NVML_SUCCESS;
}
int device_index(nvmlDevice_t d) { return (int)(d - devices); }
int device_attribute(nvmlDevice_t d, int number) { return attribute(device_index(d), number); }

static nvmlReturn_t give_text(char *out, unsigned length, const char *text) {
  if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  strcpy(out, text);
  return NVML_SUCCESS;
}

/* ---- the system ---- */

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) {
  READY(version);
  return cu_version(version) ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

/* Of the branch that brought the CUDA version that we report: tools compare it with what they need. */
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length) {
  int cuda = 0;
  char text[32];
  READY(version);
  cu_version(&cuda);
  int minor = cuda / 10 % 100, branch = cuda / 1000 >= 13 ? 580 + 5 * minor : cuda / 1000 == 12 ? 525 + 5 * minor : 450 + 5 * minor;
  snprintf(text, sizeof text, "%d.0.0", branch);
  return give_text(version, length, text);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length) {
  char text[32];
  int cuda = 0;
  READY(version);
  cu_version(&cuda);
  snprintf(text, sizeof text, "%d.0.0", cuda / 1000);
  return give_text(version, length, text);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
  char path[64], line[4096];
  READY(name && length);
  snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
  FILE *f = fopen(path, "re");
  size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
  if (f) fclose(f);
  if (!n) return NVML_ERROR_NOT_FOUND;
  line[n] = 0; /* up to the first NUL: the program */
  snprintf(name, length, "%s", line);
  return NVML_SUCCESS;
}

/* ---- devices ---- */

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *devices_out) {
  READY(devices_out);
  *devices_out = count;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
  READY(device && index < count);
  *device = &devices[index];
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  READY(uuid && device);
  for (unsigned i = 0; i < count; i++)
    if (!strcmp(devices[i].uuid, uuid)) return nvmlDeviceGetHandleByIndex_v2(i, device);
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device) {
  READY(serial && device);
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device) {
  unsigned domain = 0, bus = 0, slot = 0;
  READY(id && device);
  if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (sscanf(id, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
  }
  for (unsigned i = 0; i < count; i++) {
    const struct pci *p = &devices[i].pci;
    if (p->domain == domain && p->bus == bus && p->device == slot) return nvmlDeviceGetHandleByIndex_v2(i, device);
  }
  return NVML_ERROR_NOT_FOUND;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
  DEVICE(device, name);
  return give_text(name, length, device->name);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length) {
  DEVICE(device, uuid);
  return give_text(uuid, length, device->uuid);
}

/* As the CUDA version 2 has no such call, its pieces are written out: pci information with its long bus id. */
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, struct pci *pci) {
  DEVICE(device, pci);
  *pci = device->pci;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, struct pci *pci) {
  DEVICE(device, pci);
  memcpy(pci, &device->pci, offsetof(struct pci, id)); /* without it */
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
  DEVICE(device, major && minor);
  *major = device->cc_major;
  *minor = device->cc_minor;
  return NVML_SUCCESS;
}

/* ---- memory: rocm_smi sees what all processes use, HIP what this one can get ---- */

static void memory_of(nvmlDevice_t device, unsigned long long *free_bytes, unsigned long long *used) {
  size_t left = 0, own = 0;
  if (sensor_memory_used(&device->pci, used)) {
    *free_bytes = device->memory > *used ? device->memory - *used : 0;
    return;
  }
  *free_bytes = device->memory;
  if (!cu_memory(&left, &own, device_index(device))) *free_bytes = left < device->memory ? left : device->memory;
  *used = device->memory - *free_bytes;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, struct memory *memory) {
  DEVICE(device, memory);
  memory->total = device->memory;
  memory_of(device, &memory->free, &memory->used);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, struct memory_v2 *memory) {
  DEVICE(device, memory);
  memory->total = device->memory;
  memory->reserved = 0;
  memory_of(device, &memory->free, &memory->used);
  return NVML_SUCCESS;
}

/* ---- processes: those that rocm_smi knows; without it this one, when it has memory there ---- */

static unsigned find_processes(nvmlDevice_t device, struct process *out) {
  size_t left, own = 0;
  unsigned n = sensor_processes(out, MAX_PROCESSES);
  if (n || cu_memory(&left, &own, device_index(device)) || !own) return n;
  out[0] = (struct process){.pid = (unsigned)getpid(), .used = own};
  return 1;
}

nvmlReturn_t processes(nvmlDevice_t device, unsigned *n, void *infos, size_t size) {
  DEVICE(device, n);
  struct process found[MAX_PROCESSES];
  unsigned room = infos ? *n : 0;
  *n = find_processes(device, found);
  for (unsigned i = 0; i < *n && i < room; i++) {
    found[i].gpu_instance = found[i].compute_instance = ~0u; /* of the whole GPU */
    memcpy((char *)infos + i * size, &found[i], size);
  }
  return room < *n ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* ---- sensors ---- */

static nvmlReturn_t sensed(bool known_value) { return known_value ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED; }

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, struct utilization *rates) {
  DEVICE(device, rates);
  return sensed(sensor_busy(&device->pci, &rates->gpu, &rates->memory));
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *celsius) {
  DEVICE(device, celsius && !sensor);
  return sensed(sensor_temperature(&device->pci, celsius));
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, struct temperature *t) {
  DEVICE(device, t && !t->sensor);
  return sensed(sensor_temperature(&device->pci, (unsigned *)&t->celsius));
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) {
  DEVICE(device, milliwatts);
  return sensed(sensor_power(&device->pci, milliwatts));
}

/* Clocks in MHz: 0 graphics, 1 multiprocessors, 2 memory, 3 video. What they can reach; where no sensor is, that alone. */
nvmlReturn_t clock_limit(nvmlDevice_t device, int type, unsigned *mhz) {
  DEVICE(device, mhz && type >= 0 && type <= 3);
  *mhz = (unsigned)device_attribute(device, type == 2 ? 36 : 13) / 1000;
  return sensed(*mhz);
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int type, unsigned *mhz) {
  DEVICE(device, mhz && type >= 0 && type <= 3);
  return sensed(sensor_clock(&device->pci, type == 2, mhz));
}
