/* Which processors and which memory of the host are near a device, as Linux says of its place on the bus. A device that is
 * not on the bus, such as the software GPU, is near all of them. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_state.h"

enum { MOST = 8192, WORD = 8 * sizeof(unsigned long), SCOPE_NODE = 0, SCOPE_SOCKET = 1 };
typedef unsigned long set[MOST / WORD];

/* A list as Linux writes it, "0-3,8". False: no such file, or none in it. */
static bool read_list(const char *path, set bits) {
  char text[4096];
  FILE *f = fopen(path, "re");
  bool any = false, line = f && fgets(text, sizeof text, f);
  if (f) fclose(f);
  memset(bits, 0, sizeof(set));
  for (char *at = text; line && *at >= '0' && *at <= '9';) {
    unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;
    for (unsigned long k = first; k <= last && k < MOST; k++) bits[k / WORD] |= 1ul << k % WORD, any = true;
    if (*at == ',') at++;
  }
  return any;
}

static void on_the_bus(const struct pci *p, const char *what, char *path, size_t size) {
  snprintf(path, size, "/sys/bus/pci/devices/%04x:%02x:%02x.0/%s", p->domain, p->bus, p->device, what);
}

/* The processors near a device; place NULL: all. */
static bool near_processors(const struct pci *place, set bits) {
  char path[96];
  if (place) on_the_bus(place, "local_cpulist", path, sizeof path);
  return (place && read_list(path, bits)) || read_list("/sys/devices/system/cpu/online", bits);
}

static bool near_memory(const struct pci *place, set bits) {
  char path[96];
  on_the_bus(place, "numa_node", path, sizeof path);
  if (read_list(path, bits) || read_list("/sys/devices/system/node/online", bits)) return true;
  bits[0] = 1; /* a system without nodes is one */
  return true;
}

/* As many words as the caller has room for; those beyond are 0. */
static nvmlReturn_t give(const set bits, unsigned words, unsigned long *out) {
  for (unsigned k = 0; k < words; k++) out[k] = k < MOST / WORD ? bits[k] : 0;
  return NVML_SUCCESS;
}

typedef bool near(const struct pci *place, set bits);

static nvmlReturn_t answer(nvmlDevice_t device, near *find, unsigned words, unsigned long *out, unsigned scope) {
  const struct pci *place;
  set bits;
  nvmlReturn_t result = device_place(device, &place);
  if (result) return result;
  if (!words || !out || scope > SCOPE_SOCKET) return NVML_ERROR_INVALID_ARGUMENT;
  return find(place, bits) ? give(bits, words, out) : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned cpuSetSize, unsigned long *cpuSet) {
  return answer(device, near_processors, cpuSetSize, cpuSet, SCOPE_NODE);
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned cpuSetSize, unsigned long *cpuSet,
                                                     unsigned scope) {
  return answer(device, near_processors, cpuSetSize, cpuSet, scope);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned nodeSetSize, unsigned long *nodeSet, unsigned scope) {
  return answer(device, near_memory, nodeSetSize, nodeSet, scope);
}

/* The calling thread runs on these, as far as it may. */
static nvmlReturn_t run_on(const struct pci *place) {
  set bits;
  bool found = near_processors(place, bits) && !sched_setaffinity(0, sizeof bits, (const cpu_set_t *)bits);
  return found ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device) {
  const struct pci *place;
  nvmlReturn_t result = device_place(device, &place);
  return result ? result : run_on(place);
}

nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device) {
  const struct pci *place;
  nvmlReturn_t result = device_place(device, &place);
  return result ? result : run_on(NULL);
}
