/* The functions of libdrm_amdgpu that ROCm's thunk and runtime call; they replace the library's own, which would need
 * the graphics driver. A device is the GPU whose render node was opened. */
#include <errno.h>
#include <string.h>

#include "kfd.h"
#include "interpose.h"

enum { INTERFACE_MAJOR = 3, INTERFACE_MINOR = 54 };

/* struct amdgpu_gpu_info, as far as it is filled in. */
struct gpu_info {
  uint32_t asic_id, chip_rev, chip_external_rev, family_id;
  uint64_t ids_flags, max_engine_clk, max_memory_clk;
  uint32_t num_shader_engines, num_shader_arrays_per_engine;
  uint32_t rest[104];
};

bool gpu_is_ours(const void *device) {
  return (const struct gpu *)device >= gpus && (const struct gpu *)device < gpus + gpu_count;
}

API int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device) {
  REAL(amdgpu_device_initialize);
  struct gpu *g = kfd_active() ? render_gpu(fd) : NULL;
  if (!g) return real ? real(fd, major, minor, device) : -ENODEV;
  *major = INTERFACE_MAJOR;
  *minor = INTERFACE_MINOR;
  *device = g;
  return 0;
}

API int amdgpu_device_deinitialize(void *device) {
  REAL(amdgpu_device_deinitialize);
  return gpu_is_ours(device) ? 0 : real(device);
}

API int amdgpu_device_get_fd(void *device) {
  REAL(amdgpu_device_get_fd);
  return gpu_is_ours(device) ? render_fd(device) : real(device);
}

API const char *amdgpu_get_marketing_name(void *device) {
  REAL(amdgpu_get_marketing_name);
  return gpu_is_ours(device) ? ((struct gpu *)device)->chip->name : real(device);
}

API int amdgpu_query_gpu_info(void *device, struct gpu_info *info) {
  REAL(amdgpu_query_gpu_info);
  if (!gpu_is_ours(device)) return real(device, info);
  const struct gpu *g = device;
  memset(info, 0, offsetof(struct gpu_info, rest));
  info->asic_id = (uint32_t)g->chip->pci_device_id;
  info->family_id = g->layout->family;
  info->max_engine_clk = (uint64_t)g->chip->clock_khz;
  info->max_memory_clk = (uint64_t)g->chip->memory_clock_khz;
  info->num_shader_engines = g->layout->arrays / g->layout->arrays_per_engine;
  info->num_shader_arrays_per_engine = g->layout->arrays_per_engine;
  return 0;
}
