/* Modules: from image to index, the data segment, and the module half of the API. */
#define _GNU_SOURCE
#include "deferred.h"
#include "linked.h"
#include "module.h"
#include "readers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct module *module_checked(const void *handle) {
  return handle_ok(HANDLE_MODULE, handle) ? (struct module *)handle : NULL;
}

void image_id(const struct image *image, char id[65]) {
  unsigned char digest[32];
  struct blake2b b;
  blake2b_start(&b);
  blake2b_add(&b, image->data, image->size);
  blake2b_end(&b, digest);
  hex32(digest, id);
}

static CUresult fill(struct module *m, bool preserved, struct jit *jit) {
  char problem[1024], *text = NULL;
  image_id(&m->image, m->id);
  snprintf(m->name, sizeof m->name, "module-%.12s", m->id);
  const char *check = m->image.text ? "text" : jit && jit->linking ? "link" : NULL;
  CUresult result = translate_index(m, check, &m->entry, &text);
  if (result) {
    jit_error(jit, text ? text : "the translation failed");
    free(text);
    return result;
  }
  result = index_parse(m, problem, sizeof problem);
  size_t memory = devices[thread_state.current ? thread_state.current->device : 0].memory;
  if (!result && m->index.segment_size > memory) {
    snprintf(problem, sizeof problem, "%s: its variables need %llu bytes, the device has %zu", m->name,
             (unsigned long long)m->index.segment_size, memory);
    result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (result) {
    jit_error(jit, problem);
    return result;
  }
  if (!preserved && m->kernel_count && !m->owned_image) {
    m->owned_image = malloc(m->image.size + 1);
    if (!m->owned_image) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(m->owned_image, m->image.data, m->image.size);
    m->image.data = m->owned_image;
  }
  return CUDA_SUCCESS;
}

/* The image with a limit of registers in it: another module, as what is translated of it differs. */
static bool limit_registers(struct image *image, unsigned registers) {
  struct linked l = {0};
  if (!linked_add(&l, image) || !linked_limit(&l, registers)) {
    linked_free(&l);
    return false;
  }
  bool text = image->text;
  free(image->owned);
  *image = linked_image(&l);
  image->owned = l.data;
  image->text = text;
  return true;
}

CUresult module_load(const void *data, size_t size, bool library, bool preserved, struct jit *jit,
                     struct module **out) {
  char problem[1024];
  struct image image;
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = image_find(data, size, &image, problem, sizeof problem);
  bool no_image = result == CUDA_ERROR_NO_BINARY_FOR_GPU && library;
  if (result) jit_error(jit, problem);
  if (no_image) image = (struct image){0};
  else if (result) return result;
  bool limited = no_image || !jit || !jit->registers || limit_registers(&image, jit->registers);
  struct module *m = limited ? handle_new(HANDLE_MODULE) : NULL;
  if (!m) {
    free(image.owned);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  pthread_mutex_init(&m->lock, NULL);
  m->library = library;
  m->no_image = no_image;
  m->image = image;
  m->owned_image = image.owned;
  result = no_image ? CUDA_SUCCESS : fill(m, preserved, jit);
  if (result) {
    module_drop(m);
    return result;
  }
  m->context = library ? NULL : context_current(); /* from here on it goes with its context */
  if (!no_image) trace_module(m);
  *out = m;
  return CUDA_SUCCESS;
}

/* Bytes in front of a segment, so that no variable has an address that a program could free. */
static uint64_t segment_room(const struct module *m) {
  enum { ALIGNED = 256 }; /* as all allocations */
  return m->index.segment_align > ALIGNED ? m->index.segment_align : ALIGNED;
}

void module_drop(struct module *m) {
  if (!handle_claim(m)) return;
  for (uint32_t i = 0; i < m->kernel_count; i++) handle_claim(m->kernels[i]);
  readers_wait();
  index_drop(m);
  for (int i = 0; i < MAX_DEVICES; i++)
    if (m->segment[i]) hip.Free((void *)(m->segment[i] - segment_room(m)));
  free(m->owned_image);
  pthread_mutex_destroy(&m->lock);
  handle_free(HANDLE_MODULE, m);
}

void modules_drop(struct context *c) {
  for (struct module *m = handle_next(HANDLE_MODULE, NULL); m; m = handle_next(HANDLE_MODULE, m))
    if (m->context == c) module_drop(m);
}

struct kernel *module_kernel(struct module *m, const char *name) {
  uint32_t low = 0, high = m->kernel_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    int order = strcmp(m->kernels[middle]->name, name);
    if (!order) return m->kernels[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return NULL;
}

struct index_variable *module_variable(struct module *m, const char *name) {
  for (uint32_t i = 0; i < m->index.variable_count; i++)
    if (!strcmp(m->index.variables[i].name, name)) return &m->index.variables[i];
  return NULL;
}

/* ---- the data segment ---- */

static bool has_managed(const struct module *m) {
  for (uint32_t i = 0; i < m->index.variable_count; i++)
    if (m->index.variables[i].space == SPACE_MANAGED) return true;
  return false;
}

/* Copies a part, with the segment's addresses in it, to the segment. */
static int upload_part(const struct module *m, const struct module_index_part *part, int device, uint64_t segment) {
  char *host = malloc(part->size + 1);
  if (!host) return HIP_OUT_OF_MEMORY;
  memcpy(host, (const char *)m->entry.payload + part->start, part->size);
  for (uint32_t i = 0; i < m->index.reloc_count; i++) {
    uint64_t value = segment + m->index.relocs[i].target, offset = m->index.relocs[i].at - part->at;
    if (m->index.relocs[i].at >= part->at && offset < part->size && part->size - offset >= sizeof value)
      memcpy(host + offset, &value, sizeof value);
  }
  int error = upload(device, segment + part->at, host, part->size);
  free(host);
  return error;
}

/* Initial values. A HIP error. */
static int fill_segment(const struct module *m, int device, uint64_t segment) {
  int error = upload_zeros(device, segment, m->index.segment_size);
  for (uint32_t i = 0; !error && i < m->index.part_count; i++) error = upload_part(m, &m->index.parts[i], device, segment);
  return error;
}

static CUresult make_segment(struct module *m, int device, uint64_t *address) {
  void *memory = NULL;
  uint64_t size = m->index.segment_size + segment_room(m);
  int error = has_managed(m) ? hip.MallocManaged(&memory, size, 1) : hip.Malloc(&memory, size);
  if (error) return from_hip(error);
  hip_internal(memory);
  uint64_t segment = (uint64_t)(uintptr_t)memory + segment_room(m);
  error = fill_segment(m, device, segment);
  if (error) hip.Free(memory);
  else *address = segment;
  return from_hip(error);
}

void libraries_reset(int device) {
  for (struct module *m = handle_next(HANDLE_MODULE, NULL); m; m = handle_next(HANDLE_MODULE, m)) {
    pthread_mutex_lock(&m->lock);
    if (m->library && m->segment[device] && fill_segment(m, device, m->segment[device]))
      say("the variables of %s keep their values: no memory to reset them", m->name);
    pthread_mutex_unlock(&m->lock);
  }
}

CUresult module_segment(struct module *m, int device, uint64_t *address) {
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&m->lock);
  if (!m->segment[device] && m->index.segment_size) {
    hipStreamCaptureMode mode = capture_relax();
    result = make_segment(m, device, &m->segment[device]);
    capture_return(mode);
  }
  *address = m->segment[device];
  pthread_mutex_unlock(&m->lock);
  return result;
}

const char *segment_initial(uint64_t address, size_t *size) {
  for (struct module *m = handle_next(HANDLE_MODULE, NULL); m; m = handle_next(HANDLE_MODULE, m))
    for (int i = 0; i < MAX_DEVICES; i++) {
      if (!m->segment[i] || address < m->segment[i]) continue;
      for (uint32_t p = 0; p < m->index.part_count; p++) {
        const struct module_index_part *part = &m->index.parts[p];
        uint64_t offset = address - m->segment[i] - part->at;
        if (address - m->segment[i] < part->at || offset >= part->size) continue;
        *size = part->size - offset;
        return (const char *)m->entry.payload + part->start + offset;
      }
    }
  return NULL;
}

/* ---- API ---- */

CUresult read_file(const char *path, void **data, size_t *size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0) return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult result = CUDA_ERROR_INVALID_IMAGE;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && (*data = malloc((size_t)st.st_size + 1))) {
    ssize_t n = read(fd, *data, (size_t)st.st_size);
    ((char *)*data)[n > 0 ? n : 0] = 0;
    *size = n > 0 ? (size_t)n : 0;
    result = n == st.st_size ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
    if (result) free(*data);
  }
  close(fd);
  return result;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                            void **optionValues) {
  if (!module || !image || (numOptions && (!options || !optionValues))) return CUDA_ERROR_INVALID_VALUE;
  struct jit jit;
  struct module *m = NULL;
  jit_read(&jit, numOptions, options, optionValues);
  CUresult result = module_load(image, 0, false, false, &jit, &m);
  jit_done(&jit);
  if (!result) *module = (CUmodule)m;
  return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
  return cuModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname) {
  if (!module || !fname || !*fname) return CUDA_ERROR_INVALID_VALUE;
  void *data = NULL;
  size_t size = 0;
  struct module *m = NULL;
  CUresult result = read_file(fname, &data, &size);
  if (result) return result;
  result = module_load(data, size, false, false, NULL, &m);
  free(data);
  if (!result) *module = (CUmodule)m;
  return result;
}

CUresult module_owner(CUmodule hmod, struct context **owner) {
  struct module *m = module_checked(hmod);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (m->library) return context_missing();
  *owner = m->context;
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule hmod) {
  struct module *m = module_checked(hmod);
  if (!m || m->library) return CUDA_ERROR_INVALID_HANDLE;
  hipStreamCaptureMode mode = capture_relax();
  hip.DeviceSynchronize(); /* its kernels may be running */
  capture_return(mode);
  printf_drain(thread_state.current->device);
  module_drop(m);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
  struct module *m = module_checked(hmod);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!hfunc || !name || !*name) return CUDA_ERROR_INVALID_VALUE;
  struct kernel *k = module_kernel(m, name);
  if (!k) return CUDA_ERROR_NOT_FOUND;
  *hfunc = (CUfunction)k;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
  struct module *m = module_checked(hmod);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!name || !*name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  struct index_variable *v = module_variable(m, name);
  if (!v) return CUDA_ERROR_NOT_FOUND;
  uint64_t segment;
  CUresult result = module_segment(m, thread_state.current->device, &segment);
  if (result) return result;
  if (dptr) *dptr = segment + v->offset;
  if (bytes) *bytes = v->size;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
  struct module *m = module_checked(mod);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = m->kernel_count;
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod) {
  struct module *m = module_checked(mod);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!functions) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < m->kernel_count && i < numFunctions; i++) functions[i] = (CUfunction)m->kernels[i];
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = 2; /* lazy */
  return CUDA_SUCCESS;
}
