/* The list of software GPUs: PTX2AMD_DEVICE=kfd, kfd:ARCH or kfd:ARCH,ARCH..., and PTX2AMD_VGPU_COUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "chip_tables.h"
#include "kfd.h"
#include "settings.h"

struct gpu gpus[MAX_GPUS];
unsigned gpu_count;
const struct engine_library *engine;

static const struct layout layouts[] = {LAYOUT_ROWS};

static const struct layout *layout_find(const char *arch) {
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
    if (!strcmp(layouts[k].arch, arch)) return &layouts[k];
  return NULL;
}

void complain(const char *format, ...) {
  char line[1400];
  va_list values;
  va_start(values, format);
  vsnprintf(line, sizeof line, format, values);
  va_end(values);
  fprintf(stderr, "ptx2amd kfd: %s\n", line);
}

static bool load_engine(void) {
  Dl_info info;
  char path[PATH_MAX + 32], *slash;
  if (!dladdr((void *)load_engine, &info)) return false;
  snprintf(path, PATH_MAX, "%s", info.dli_fname);
  if (!(slash = strrchr(path, '/'))) return false;
  strcpy(slash + 1, "libptx2amd_vgpu.so");
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) engine = dlsym(library, ENGINE_LIBRARY);
  if (!engine) complain("cannot load the software GPU: %s", library ? path : dlerror());
  return engine;
}

static bool add_gpu(const char *name) {
  char arch[32];
  snprintf(arch, sizeof arch, "%.*s", (int)strcspn(name, ":"), name);
  struct gpu *g = &gpus[gpu_count];
  *g = (struct gpu){.node = gpu_count + 1, .id = gpu_count + 2, .arch = engine->arch_find(arch),
                    .chip = engine->chip_find(arch), .layout = layout_find(arch)};
  if (!g->arch || !g->chip || !g->layout) {
    complain("there is no software GPU '%s' (PTX2AMD_DEVICE); known are %s", name, engine->archs());
    return false;
  }
  gpu_count++;
  return true;
}

static void make_gpus(char *names, double wanted) {
  char *each[MAX_GPUS], *state = NULL;
  unsigned n = 0;
  for (char *name = strtok_r(names, ",", &state); name && n < MAX_GPUS; name = strtok_r(NULL, ",", &state)) each[n++] = name;
  if (wanted > MAX_GPUS) complain("PTX2AMD_VGPU_COUNT: 0 to %d devices are possible", MAX_GPUS);
  else
    for (unsigned k = 0; n && (k < n || k < wanted) && wanted > 0; k++)
      if (!add_gpu(each[k % n])) return;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) {
  const char *wish = setting_text(SETTING_DEVICE);
  if (strncmp(wish, "kfd", 3) || (wish[3] && wish[3] != ':')) return;
  if (!load_engine()) return;
  char names[1024];
  snprintf(names, sizeof names, "%s", wish[3] && wish[4] ? wish + 4 : "gfx942");
  make_gpus(names, setting_number(SETTING_VGPU_COUNT));
  topology_make();
}

bool kfd_active(void) {
  static const char *wish;
  if (!wish) wish = setting_text(SETTING_DEVICE);
  if (strncmp(wish, "kfd", 3)) return false;
  pthread_once(&once, start);
  return engine;
}

struct gpu *gpu_by_id(uint32_t id) {
  for (unsigned k = 0; k < gpu_count; k++)
    if (gpus[k].id == id) return &gpus[k];
  return NULL;
}

uint64_t gpu_memory(void) { return engine->host_memory(); }
