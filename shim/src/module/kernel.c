/* A kernel's code: from the cache, else from the service; loaded into HIP, its environment filled. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deferred.h"
#include "interface_environment.h"
#include "module.h"
#include "progress.h"
#include "service.h"

enum { OPTIONS_SIZE = 96 };

/* What the user asks of translations, and the launch: the service knows the options, and refuses others. */
static const char *options(unsigned variant, char text[OPTIONS_SIZE]) {
  const char *mapping = variant & PADDED ? "padded" : setting_text(SETTING_MAPPING);
  const char *matrix = setting_is_set(SETTING_MATRIX) ? setting_text(SETTING_MATRIX) : "";
  int n = 0;
  text[0] = 0;
  if (*mapping) n = snprintf(text, OPTIONS_SIZE, "mapping=%.20s", mapping);
  if (*matrix) n += snprintf(text + n, OPTIONS_SIZE - (size_t)n, "%smatrix=%.10s", n ? " " : "", matrix);
  if (variant & SPILLED) n += snprintf(text + n, OPTIONS_SIZE - (size_t)n, "%sshared=spilled", n ? " " : "");
  if (variant & WIDE) snprintf(text + n, OPTIONS_SIZE - (size_t)n, "%sgrid=any", n ? " " : "");
  return text;
}

static CUresult ask_service(const struct service_request *request, const char *key, struct cache_entry *entry,
                            char **problem, double *time_ms) {
  struct service_reply reply;
  progress_begin(request->kernel);
  CUresult result = service_ask(request, &reply);
  progress_end(!result && request->kernel);
  *problem = reply.error;
  *time_ms = reply.time_ms;
  if (result) return result;
  if (!reply.stored) cache_keep(key, reply.entry, reply.entry_size);
  if (cache_parse(reply.entry, reply.entry_size, entry)) return CUDA_SUCCESS;
  *problem = strdup("the translation came damaged");
  return CUDA_ERROR_OPERATING_SYSTEM;
}

/* Whether an index says that its module was checked. */
static bool is_checked(const struct cache_entry *entry) {
  static const char line[] = "checked 1\n";
  const char *found = strstr(entry->text, line);
  return found && (found == entry->text || found[-1] == '\n');
}

/* From the cache, else from the service. */
static CUresult obtain(const char *key, const struct service_request *r, struct cache_entry *entry, char **problem) {
  char quoted[512];
  double started = now_ms(), time_ms = 0;
  bool hit = cache_open(key, entry);
  if (hit && r->check && !is_checked(entry)) {
    cache_close(entry);
    hit = false;
  }
  CUresult result = hit ? CUDA_SUCCESS : ask_service(r, key, entry, problem, &time_ms);
  if (trace_on)
    trace("\"event\": \"translate\", \"module\": \"%s\", \"kernel\": %s, \"arch\": \"%s\", \"cache\": %s, "
          "\"time_ms\": %.3f, \"translation_ms\": %.3f, \"result\": %d", r->module_id,
          r->kernel ? json_string(r->kernel, quoted, sizeof quoted) : "null", r->arch ? r->arch : "",
          hit ? "true" : "false", now_ms() - started, time_ms, result);
  return result;
}

CUresult translate(struct module *m, const struct kernel *k, int device, unsigned variant,
                   struct cache_entry *entry, char **problem) {
  char key[65], text[OPTIONS_SIZE];
  struct service_request request = {.operation = "kernel", .module_id = m->id, .arch = devices[device].arch,
                                    .kernel = k->name, .options = options(variant, text), .name = m->name,
                                    .image = &m->image};
  cache_key(key, "kernel\n%s\n%s\n%s\n%s\n%s\n", m->id, build_id(), request.arch, request.options, k->name);
  return obtain(key, &request, entry, problem);
}

CUresult translate_index(struct module *m, const char *check, struct cache_entry *entry, char **problem) {
  char key[65];
  struct service_request request = {.operation = "index", .module_id = m->id, .check = check, .name = m->name,
                                    .image = &m->image};
  cache_key(key, "index\n%s\n%s\n", m->id, build_id());
  return obtain(key, &request, entry, problem);
}

CUresult check_text(const struct image *image, const char *name, char **problem) {
  char key[65], id[65];
  struct cache_entry entry = {0};
  image_id(image, id);
  struct service_request request = {.operation = "check", .module_id = id, .name = name, .image = image};
  cache_key(key, "check\n%s\n%s\n", id, build_id());
  CUresult result = obtain(key, &request, &entry, problem);
  cache_close(&entry);
  return result;
}

static void drop(struct kernel_code *code) {
  if (!code) return;
  if (code->module) hip.ModuleUnload(code->module);
  lines_drop(&kernel_properties_lines, &code->properties);
  free(code->text);
  free(code);
}

static CUresult wrong(char **problem, const char *what) {
  if (asprintf(problem, "its entry in the cache is not understood: %s" OTHER_VERSION, what) < 0)
    *problem = NULL;
  return CUDA_ERROR_INVALID_IMAGE;
}

/* What an entry says of a kernel. */
static CUresult read_properties(const struct kernel *k, const char *text, struct kernel_code *code, char **problem) {
  char why[160];
  struct kernel_properties *p = &code->properties;
  if (!(code->text = strdup(text))) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!lines_read(code->text, &kernel_properties_lines, p, why, sizeof why)) return wrong(problem, why);
  for (uint32_t i = 0; i < p->apart_count; i++)
    if ((uint64_t)p->apart[i].first + 8 > k->parameter_bytes || (uint64_t)p->apart[i].second + 8 > k->parameter_bytes)
      return wrong(problem, "\"apart\" names what is no parameter");
  code->spread = p->mapping == MAPPING_PADDED ? 2 : 1;
  for (uint32_t i = 0; i < p->warning_count; i++) say("kernel %s: %s", k->name, p->warnings[i]);
  if (hazard_of(code) && p->mapping == MAPPING_PAIRED)
    say("kernel %s runs paired, as PTX2AMD_MAPPING asks, and may hang: PTX %s", k->name, hazard_of(code));
  return CUDA_SUCCESS;
}

static bool reads_cell(const struct kernel_code *code, unsigned cell) { return code->properties.cells >> cell & 1; }

/* Fills the code object's environment. */
static CUresult fill_environment(struct kernel *k, int device, const struct kernel_code *code) {
  struct environment environment = {0};
  hipDeviceptr_t address = NULL;
  size_t size = 0;
  CUresult result = module_segment(k->module, device, &environment.data);
  if (!result) result = printf_prepare(device);
  if (!result && reads_cell(code, CELL_HEAP)) result = heap_prepare(device);
  if (!result && reads_cell(code, CELL_ARENA)) result = arena_prepare(device, &environment.arena);
  if (result) return result;
  environment.output = devices[device].device_printf;
  if (reads_cell(code, CELL_HEAP)) environment.heap = devices[device].heap;
  int error = hip.ModuleGetGlobal(&address, &size, code->module, "__ptx2amd_env");
  if (!error && size < sizeof environment) return CUDA_ERROR_INVALID_IMAGE;
  if (!error) error = upload(device, (uint64_t)address, &environment, sizeof environment);
  return from_hip(error);
}

static CUresult load_code(struct kernel *k, int device, const void *object, struct kernel_code *code) {
  CUresult result = from_hip(hip.ModuleLoadData(&code->module, object));
  if (result) return result;
  result = from_hip(hip.ModuleGetFunction(&code->function, code->module, k->name));
  if (!result && code->properties.cells) result = fill_environment(k, device, code);
  stack_prepare(device);
  return result;
}

static CUresult load(struct kernel *k, int device, unsigned variant, char **problem) {
  struct cache_entry entry = {0};
  CUresult result = translate(k->module, k, device, variant, &entry, problem);
  if (result) return result;
  struct kernel_code *code = calloc(1, sizeof *code);
  result = code ? read_properties(k, entry.text, code, problem) : CUDA_ERROR_OUT_OF_MEMORY;
  if (!result) result = load_code(k, device, entry.payload, code);
  cache_close(&entry);
  if (result) drop(code);
  else __atomic_store_n(&k->code[variant][device], code, __ATOMIC_RELEASE);
  return result;
}

/* One thread loads a kernel, others that want it wait; different kernels are translated at the same time. */
static pthread_mutex_t loading_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t loading_done = PTHREAD_COND_INITIALIZER;

/* Whether a kernel has left this error on its device, for all calls until a reset. */
static bool left_by_kernel(CUresult result) {
  return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT ||
         (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

static void explain(const struct kernel *k, int device, CUresult result, const char *problem) {
  static _Atomic bool reported[MAX_DEVICES]; /* the error that a kernel has left: once, not for each further kernel */
  const char *name = NULL;
  cuGetErrorName(result, &name);
  if (!result) reported[device] = false;
  else if (problem) say("kernel %s cannot run: %s", k->name, problem);
  else if (!left_by_kernel(result)) say("kernel %s cannot run: its code object does not load (%s)", k->name, name);
  else if (!atomic_exchange(&reported[device], true))
    say("kernel %s and others cannot run on device %d: an earlier kernel failed there (%s)", k->name, device, name);
}

/* lasting: whether a further attempt would fail too, whatever happens to the device. */
static CUresult load_or_explain(struct kernel *k, int device, unsigned variant, bool *lasting) {
  char *problem = NULL;
  hipStreamCaptureMode mode = capture_relax();
  CUresult result = k->index.refused ? CUDA_ERROR_NOT_SUPPORTED : load(k, device, variant, &problem);
  capture_return(mode);
  explain(k, device, result, k->index.refused ? k->index.refused : problem);
  *lasting = result && !left_by_kernel(result) && result != CUDA_ERROR_OUT_OF_MEMORY;
  free(problem);
  return result;
}

CUresult kernel_load(struct kernel *k, int device, unsigned variant) {
  struct kernel_code **code = &k->code[variant][device];
  CUresult *failed = &k->failed[variant][device];
  pthread_mutex_lock(&loading_lock);
  while (k->loading) pthread_cond_wait(&loading_done, &loading_lock);
  CUresult result = *code ? CUDA_SUCCESS : *failed;
  if (!*code && !*failed) {
    k->loading = true;
    pthread_mutex_unlock(&loading_lock);
    bool lasting;
    result = load_or_explain(k, device, variant, &lasting);
    pthread_mutex_lock(&loading_lock);
    k->loading = false;
    if (lasting) *failed = result;
    pthread_cond_broadcast(&loading_done);
  }
  pthread_mutex_unlock(&loading_lock);
  return result;
}

void kernel_drop_code(struct kernel *k) {
  for (int i = 0; i < VARIANTS * MAX_DEVICES; i++) drop(k->code[i / MAX_DEVICES][i % MAX_DEVICES]);
  free(k->legacy);
}
