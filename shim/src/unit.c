/* A module's unit: the kernels that see addresses of functions. They share one code object, which also has a table
 * of the functions whose addresses variables hold: docs/architecture.md, "Cache entries". */
#include <stdlib.h>

#include "module.h"

/* Reads the table of function addresses that the loaded code object has. */
static CUresult read_table(struct module *m, struct unit *u) {
  uint64_t address = 0;
  size_t size = 0;
  int error = hip.ModuleGetGlobal(&address, &size, u->module, "__ptx2amd_functions");
  if (error) return from_hip(error);
  u->functions = malloc(size + 1);
  if (!u->functions) return CUDA_ERROR_OUT_OF_MEMORY;
  u->function_count = (uint32_t)(size / sizeof *u->functions);
  for (uint32_t i = 0; i < m->function_cell_count; i++)
    if (m->function_cells[i].target >= u->function_count) return CUDA_ERROR_INVALID_IMAGE;
  return from_hip(hip.MemcpyDtoH(u->functions, address, size));
}

CUresult unit_load(struct module *m, int device, const void *code, void **module) {
  struct unit *u = &m->units[device];
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&m->unit_lock);
  if (!u->module) {
    result = from_hip(hip.ModuleLoadData(&u->module, code));
    if (result) u->module = NULL;
    else if (m->function_cell_count) result = read_table(m, u);
    if (result) unit_drop(u);
  }
  *module = u->module;
  pthread_mutex_unlock(&m->unit_lock);
  return result;
}

void unit_prepare(struct module *m, int device) {
  if (!m->function_cell_count) return;
  pthread_mutex_lock(&m->unit_lock);
  bool loaded = m->units[device].module;
  pthread_mutex_unlock(&m->unit_lock);
  for (uint32_t i = 0; !loaded && i < m->kernel_count; i++)
    loaded = m->kernels[i]->unit && !kernel_load(m->kernels[i], device, false);
}

uint64_t unit_function(struct module *m, int device, uint64_t index) {
  const struct unit *u = &m->units[device];
  return index < u->function_count ? u->functions[index] : 0;
}

void unit_drop(struct unit *u) {
  if (u->module) hip.ModuleUnload(u->module);
  free(u->functions);
  *u = (struct unit){0};
}
