/* The module index, which the translator makes: its records (ptx2amd/interface/module.py) become kernels and variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

static int by_name(const void *a, const void *b) {
  return strcmp((*(struct kernel *const *)a)->name, (*(struct kernel *const *)b)->name);
}

static int variable_by_name(const void *a, const void *b) {
  return strcmp(((const struct index_variable *)a)->name, ((const struct index_variable *)b)->name);
}

static bool inside(uint64_t at, uint64_t size, uint64_t whole) { return at <= whole && size <= whole - at; }

static bool parameters_fit(struct kernel *k) {
  for (uint32_t i = 0; i < k->index.param_count; i++) {
    const struct index_kernel_param *p = &k->index.params[i];
    if (!inside(p->offset, p->size, PARAMETER_BYTES_MAX)) return false;
    if (p->offset + p->size > k->parameter_bytes) k->parameter_bytes = p->offset + p->size;
  }
  return true;
}

/* Whether variables, parts and relocations lie in the segment, and the parts in the payload. */
static bool segment_fits(const struct module_index *index, uint64_t payload) {
  uint64_t segment = index->segment_size;
  for (uint32_t i = 0; i < index->variable_count; i++)
    if (!inside(index->variables[i].offset, index->variables[i].size, segment)) return false;
  for (uint32_t i = 0; i < index->reloc_count; i++)
    if (!inside(index->relocs[i].at, 8, segment) || index->relocs[i].target > segment) return false;
  for (uint32_t i = 0; i < index->part_count; i++)
    if (!inside(index->parts[i].at, index->parts[i].size, segment) ||
        !inside(index->parts[i].start, index->parts[i].size, payload))
      return false;
  return true;
}

static bool make_kernels(struct module *m) {
  m->kernels = calloc((size_t)m->index.kernel_count + 1, sizeof *m->kernels);
  for (uint32_t i = 0; m->kernels && i < m->index.kernel_count; i++) {
    struct kernel *k = handle_new(HANDLE_KERNEL);
    if (!k) return false;
    m->kernels[m->kernel_count++] = k;
    k->module = m;
    k->index = m->index.kernels[i];
    k->name = k->index.name;
    if (!k->index.target) k->index.target = m->index.target;
    if (!parameters_fit(k)) return false;
  }
  return m->kernels;
}

CUresult index_parse(struct module *m, char *problem, size_t size) {
  char why[160] = "sizes that do not fit";
  if (!lines_read(m->entry.text, &module_index_lines, &m->index, why, sizeof why) ||
      !segment_fits(&m->index, m->entry.payload_size) || !make_kernels(m)) {
    snprintf(problem, size, "the module's index in the cache is not understood: %s" OTHER_VERSION, why);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  qsort(m->kernels, m->kernel_count, sizeof *m->kernels, by_name);
  if (m->index.variable_count)
    qsort(m->index.variables, m->index.variable_count, sizeof *m->index.variables, variable_by_name);
  return CUDA_SUCCESS;
}

void index_drop(struct module *m) {
  for (uint32_t i = 0; i < m->kernel_count; i++) {
    kernel_drop_code(m->kernels[i]);
    handle_free(HANDLE_KERNEL, m->kernels[i]);
  }
  free(m->kernels);
  lines_drop(&module_index_lines, &m->index);
  cache_close(&m->entry);
}
