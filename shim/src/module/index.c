/* The module index: lines about kernels, variables and relocations, made by the translator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* How many lines start with `key`. */
static uint32_t count_lines(const char *text, const char *key) {
  size_t length = strlen(key);
  uint32_t n = 0;
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
    n += !strncmp(line, key, length);
  return n;
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(struct kernel *const *)a)->name, (*(struct kernel *const *)b)->name);
}

static int variable_by_name(const void *a, const void *b) {
  return strcmp(((const struct variable *)a)->name, ((const struct variable *)b)->name);
}

/* Takes the next word of a line. */
static char *word(char **rest) {
  char *start = *rest, *end = start + strcspn(start, " ");
  *rest = *end ? end + 1 : end;
  *end = 0;
  return start;
}

static bool kernel_line(struct kernel *k, const char *key, char *rest, struct parameter **next) {
  if (!strcmp(key, "param")) {
    struct parameter *p = (*next)++;
    if (sscanf(rest, "%u %u %u", &p->offset, &p->size, &p->align) != 3) return false;
    if (p->offset > PARAMETER_BYTES_MAX || p->size > PARAMETER_BYTES_MAX - p->offset) return false;
    k->parameter_count++;
    if (p->offset + p->size > k->parameter_bytes) k->parameter_bytes = p->offset + p->size;
    return true;
  }
  if (!strcmp(key, "maxthreads")) return sscanf(rest, "%d", &k->max_threads) == 1;
  if (!strcmp(key, "reqntid"))
    return sscanf(rest, "%d %d %d", &k->required[0], &k->required[1], &k->required[2]) == 3;
  if (!strcmp(key, "static_shared")) return sscanf(rest, "%d", &k->static_shared) == 1;
  if (!strcmp(key, "local")) return sscanf(rest, "%d", &k->local) == 1;
  if (!strcmp(key, "facts")) return sscanf(rest, "%" SCNu64, &k->facts) == 1;
  if (!strcmp(key, "compiled_for")) return sscanf(rest, "sm_%d", &k->target) == 1;
  return true;
}

static bool module_line(struct module *m, const char *key, char *rest) {
  unsigned long long a, b;
  if (!strcmp(key, "ptx")) return sscanf(rest, "%d %d", &m->ptx_major, &m->ptx_minor) == 2;
  if (!strcmp(key, "target")) return sscanf(rest, "sm_%d", &m->target) == 1;
  if (!strcmp(key, "segment")) {
    if (sscanf(rest, "%llu %llu", &a, &b) != 2) return false;
    m->segment_size = a, m->segment_align = b;
    return true;
  }
  if (!strcmp(key, "global")) {
    struct variable *v = &m->variables[m->variable_count++];
    v->name = word(&rest);
    char space[16] = "";
    if (sscanf(rest, "%llu %llu %15s", &a, &b, space) != 3) return false;
    v->offset = a, v->size = b, v->managed = !strcmp(space, "managed");
    v->constant = !strcmp(space, "const");
    return a <= m->segment_size && b <= m->segment_size - a;
  }
  if (!strcmp(key, "reloc")) {
    if (sscanf(rest, "%llu %llu", &a, &b) != 2) return false;
    m->relocations[m->relocation_count++] = (struct relocation){a, b};
    return m->segment_size >= 8 && a <= m->segment_size - 8 && b <= m->segment_size;
  }
  if (!strcmp(key, "data")) {
    if (sscanf(rest, "%llu %llu", &a, &b) != 2) return false;
    const struct part *last = m->part_count ? &m->parts[m->part_count - 1] : NULL;
    const char *bytes = last ? last->bytes + last->size : (const char *)m->index.payload;
    size_t left = m->index.payload_size - (size_t)(bytes - (const char *)m->index.payload);
    m->parts[m->part_count++] = (struct part){a, b, bytes};
    return b <= left && a <= m->segment_size && b <= m->segment_size - a;
  }
  return true; /* a kernel's line, or a key of later versions */
}

static bool parse(struct module *m, struct parameter *parameters) {
  struct kernel *k = NULL;
  char *save = NULL;
  for (char *line = strtok_r(m->index.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char *rest = line, *key = word(&rest);
    if (!strcmp(key, "kernel")) {
      k = handle_new(HANDLE_KERNEL);
      if (!k) return false;
      k->module = m;
      k->target = m->target;
      k->facts = NO_FACTS;
      k->name = word(&rest);
      k->parameters = parameters;
      m->kernels[m->kernel_count++] = k;
    } else if (!strcmp(key, "refused")) {
      const char *name = word(&rest);
      for (uint32_t i = 0; i < m->kernel_count; i++)
        if (!strcmp(m->kernels[i]->name, name)) m->kernels[i]->refused = *rest ? rest : "not supported";
    } else if (k && !kernel_line(k, key, rest, &parameters)) {
      return false;
    } else if (!module_line(m, key, rest)) {
      return false;
    }
  }
  return true;
}

CUresult index_parse(struct module *m, char *problem, size_t size) {
  const char *text = m->index.text;
  uint32_t kernels = count_lines(text, "kernel "), parameters = count_lines(text, "param ");
  m->kernels = calloc(kernels + 1, sizeof *m->kernels);
  m->variables = calloc(count_lines(text, "global ") + 1, sizeof *m->variables);
  m->relocations = calloc(count_lines(text, "reloc ") + 1, sizeof *m->relocations);
  m->parts = calloc(count_lines(text, "data ") + 1, sizeof *m->parts);
  struct parameter *all = calloc(parameters + 1, sizeof *all);
  bool good = m->kernels && m->variables && m->relocations && m->parts && all && parse(m, all);
  if (!m->kernel_count) free(all); /* else freed with the first kernel */
  if (!good) {
    snprintf(problem, size, "the module's index in the cache is not understood; is the cache of another version?");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  qsort(m->kernels, m->kernel_count, sizeof *m->kernels, by_name);
  qsort(m->variables, m->variable_count, sizeof *m->variables, variable_by_name);
  return CUDA_SUCCESS;
}

void index_drop(struct module *m) {
  struct parameter *all = NULL;
  for (uint32_t i = 0; i < m->kernel_count; i++) {
    struct kernel *k = m->kernels[i];
    if (!all || k->parameters < all) all = k->parameters;
    kernel_drop_code(k);
    handle_free(HANDLE_KERNEL, k);
  }
  free(all);
  free(m->kernels);
  free(m->variables);
  free(m->relocations);
  free(m->parts);
  cache_close(&m->index);
}
