/* librocm_smi64 of the software GPU: what RCCL asks of AMD's, which reads what the kernel's driver says. GPUs are those
 * of libptx2amd_vgpu.so, each one link away from each other. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))

enum { SUCCESS, INVALID, NOT_SUPPORTED };      /* rsmi_status_t */
enum { XGMI = 2, ONE_LINK = 15, TO_SELF = 0 }; /* RSMI_IO_LINK_TYPE; weights of links */
struct version { uint32_t major, minor, patch; const char *build; };

int hipGetDeviceCount(int *count);
int hipDeviceGetPCIBusId(char *text, int size, int device);

/* RCCL, which loads this library, else reads the kernel's files itself. */
__attribute__((constructor)) static void ask_us(void) { setenv("RCCL_USE_ROCM_SMI_LIB", "1", 0); }

static uint32_t devices(void) {
  int count = 0;
  return hipGetDeviceCount(&count) ? 0 : (uint32_t)count;
}

API int rsmi_init(uint64_t flags);
int rsmi_init(uint64_t flags) {
  (void)flags;
  return SUCCESS;
}

API int rsmi_shut_down(void);
int rsmi_shut_down(void) { return SUCCESS; }

API int rsmi_version_get(struct version *version);
int rsmi_version_get(struct version *version) {
  if (!version) return INVALID;
  *version = (struct version){7, 0, 0, "ptx2amd"};
  return SUCCESS;
}

API int rsmi_status_string(int status, const char **text);
int rsmi_status_string(int status, const char **text) {
  if (!text) return INVALID;
  *text = status == SUCCESS ? "success" : status == INVALID ? "invalid argument" : "not supported";
  return SUCCESS;
}

API int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_num_monitor_devices(uint32_t *count) {
  if (!count) return INVALID;
  *count = devices();
  return SUCCESS;
}

/* Domain in bits 63 to 32, bus in 15 to 8, device in 7 to 3, function in 2 to 0. */
API int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id);
int rsmi_dev_pci_id_get(uint32_t device, uint64_t *id) {
  unsigned domain, bus, slot, function;
  char text[32];
  if (!id || hipDeviceGetPCIBusId(text, sizeof text, (int)device)) return INVALID;
  if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return INVALID;
  *id = (uint64_t)domain << 32 | bus << 8 | slot << 3 | function;
  return SUCCESS;
}

/* RCCL refuses to start on firmware whose reclaiming of scratch memory is slow. The software GPU's is newer than any. */
API int rsmi_dev_firmware_version_get(uint32_t device, int block, uint64_t *version);
int rsmi_dev_firmware_version_get(uint32_t device, int block, uint64_t *version) {
  (void)block;
  if (!version || device >= devices()) return INVALID;
  *version = 9999;
  return SUCCESS;
}

static int linked(uint32_t from, uint32_t to) { return from < devices() && to < devices(); }

API int rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops, int *type);
int rsmi_topo_get_link_type(uint32_t from, uint32_t to, uint64_t *hops, int *type) {
  if (!hops || !type || !linked(from, to)) return INVALID;
  *hops = 1, *type = XGMI;
  return SUCCESS;
}

API int rsmi_topo_get_link_weight(uint32_t from, uint32_t to, uint64_t *weight);
int rsmi_topo_get_link_weight(uint32_t from, uint32_t to, uint64_t *weight) {
  if (!weight || !linked(from, to)) return INVALID;
  *weight = from == to ? TO_SELF : ONE_LINK;
  return SUCCESS;
}

API int rsmi_minmax_bandwidth_get(uint32_t from, uint32_t to, uint64_t *least, uint64_t *most);
int rsmi_minmax_bandwidth_get(uint32_t from, uint32_t to, uint64_t *least, uint64_t *most) {
  if (!least || !most || !linked(from, to)) return INVALID;
  *least = *most = 50000; /* MB/s */
  return SUCCESS;
}

#define ABSENT(name) API int name(void); int name(void) { return NOT_SUPPORTED; }
#include "smi_absent.h"
