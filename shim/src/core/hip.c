/* The HIP library: AMD's, or the software AMD GPU. Loaded by dlopen, never linked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

int hip_version = 700;
bool hip_is_software;

static int missing_function(void) { return HIP_NOT_SUPPORTED; }

const char *own_directory(void) {
  static char directory[PATH_LENGTH];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!directory[0]) {
    Dl_info info;
    char resolved[PATH_MAX];
    if (!dladdr((void *)own_directory, &info) || !realpath(info.dli_fname, resolved)) strcpy(resolved, "./x");
    *strrchr(resolved, '/') = 0;
    snprintf(directory, sizeof directory, "%s", resolved);
  }
  pthread_mutex_unlock(&lock);
  return directory;
}

static void (*mark_internal)(void *);
uint64_t (*hip_in_use)(int device);

void hip_internal(void *memory) {
  if (mark_internal && memory) mark_internal(memory);
}

int hip_mapped(size_t size, unsigned flags, void **host, uint64_t *seen) {
  enum { COHERENT_MAPPED = 0x40000002 };
  void *address = NULL;
  int error = hip.HostMalloc(host, size, flags | COHERENT_MAPPED);
  if (error) error = hip.HostMalloc(host, size, flags);
  if (error) return error;
  hip_internal(*host);
  if ((error = hip.HostGetDevicePointer(&address, *host, 0))) hip.HostFree(*host);
  *seen = (uint64_t)(uintptr_t)address;
  return error;
}

static void resolve(void *library) {
  int version = 0, (*ask)(int *) = (int (*)(int *))dlsym(library, "hipRuntimeGetVersion");
  if (ask && !ask(&version) && version >= 10000000) hip_version = version / 100000;
  void **slots = (void **)&hip;
  for (int i = 0; i < HIP_FUNCTIONS; i++) {
    slots[i] = hip_version >= hip_since[i] ? dlsym(library, hip_names[i]) : NULL;
    if (!slots[i]) slots[i] = (void *)missing_function;
  }
  *(void **)&mark_internal = dlsym(library, "ptx2amd_vgpu_internal");
  *(void **)&hip_in_use = dlsym(library, "ptx2amd_vgpu_in_use");
}

static char loader_error[300]; /* of the last library; "": it was loaded */

/* Loads the library `path` and counts its devices. */
static bool usable(const char *path, int *error, int *count) {
  *error = *count = 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  snprintf(loader_error, sizeof loader_error, "%s", library ? "" : dlerror());
  if (!library) return false;
  resolve(library);
  *error = hip.Init(0);
  if (!*error) *error = hip.GetDeviceCount(count);
  return !*error && *count > 0;
}

static void other_release(void) {
  enum { NEWEST_MAJOR = 7 };
  int major = hip_version / 100, minor = hip_version % 100;
  if (hip_version < 503)
    say("HIP %d.%d cannot load code objects of version 5, which ptx2amd generates; ROCm 5.7 or newer is needed", major,
        minor);
  if (major > NEWEST_MAJOR)
    say("HIP %d.%d is newer than all versions that ptx2amd knows (up to %d): it is used like HIP %d", major, minor,
        NEWEST_MAJOR, NEWEST_MAJOR);
}

/* HIP loads comgr when it starts, and has no devices without it. */
static bool comgr_missing(void) {
  static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (dlopen(names[i], RTLD_LAZY | RTLD_LOCAL)) return false;
  return true;
}

static void no_gpu(int error, bool kfd) {
  if (comgr_missing()) say("the HIP library finds no AMD GPU, as libamd_comgr is not on the library path");
  else if (!kfd) say("the HIP library finds no AMD GPU (HIP error %d): is the amdgpu driver loaded?", error);
  else if (dlsym(RTLD_DEFAULT, "get_hsakmt_model_functions")) say("the HIP library finds no GPU (HIP error %d)", error);
  else say("the HIP library finds no GPU (HIP error %d): libptx2amd_kfd.so is not preloaded, as `ptx2amd run --device "
           "kfd` does", error);
}

/* The loader found the library, but not all that it needs. */
static bool incomplete(const char *name) { return *loader_error && strncmp(loader_error, name, strlen(name)); }

static bool load_amd(bool required, bool kfd) {
  static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"};
  int error = 0, count = 0, first = 0;
  char broken[sizeof loader_error + 64] = "";
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (usable(names[i], &error, &count)) return other_release(), true;
    if (!first) first = error;
    if (!*broken && incomplete(names[i])) snprintf(broken, sizeof broken, "%s: %s", names[i], loader_error);
    found |= error || dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
  }
  if (required && found) no_gpu(first, kfd);
  else if (required && *broken) say("cannot load the HIP library %s", broken);
  else if (required) say("no HIP library: libamdhip64.so.7, .6 or .5 is not on the library path; install ROCm, "
                         "or set PTX2AMD_DEVICE=vgpu");
  return false;
}

static bool load_software(void) {
  char path[PATH_LENGTH + 32];
  int error, count;
  snprintf(path, sizeof path, "%s/libptx2amd_vgpu.so", own_directory());
  hip_is_software = true;
  if (usable(path, &error, &count)) return true;
  if (error) say("cannot start the software GPU (HIP error %d); PTX2AMD_DEVICE=%s", error,
                 setting_text(SETTING_DEVICE));
  else say("cannot load the software GPU: %s", loader_error);
  return false;
}

/* "KIND" or "KIND:ARCH". */
static bool is_kind(const char *device, const char *kind) {
  size_t n = strlen(kind);
  return !strncmp(device, kind, n) && (!device[n] || device[n] == ':');
}

bool hip_load(void) {
  const char *device = setting_text(SETTING_DEVICE), *library = setting_text(SETTING_HIP_LIBRARY);
  int error, count;
  for (int i = 0; i < HIP_FUNCTIONS; i++) ((void **)&hip)[i] = (void *)missing_function;
  if (*library) { /* for tests and for HIP libraries in unusual places */
    if (usable(library, &error, &count)) return other_release(), true;
    if (*loader_error) say("PTX2AMD_HIP_LIBRARY: %s", loader_error);
    else say("PTX2AMD_HIP_LIBRARY=%s: the library reports no device", library);
    return false;
  }
  if (!*device) return load_amd(false, false) || load_software();
  if (!strcmp(device, "hip") || is_kind(device, "kfd")) return load_amd(true, is_kind(device, "kfd"));
  if (is_kind(device, "vgpu")) return load_software();
  say("PTX2AMD_DEVICE=%s: expected hip, vgpu, vgpu:ARCH, kfd or kfd:ARCH", device);
  return false;
}

bool hip_forget(void) {
  (void)hip.GetLastError();
  return false;
}

/* Most HIP errors have CUDA's numbers. */
CUresult hip_error(int e) {
  hip_forget();
  switch (e) {
    /* configuration, pitch, device pointer, copy direction */
    case 9: case 12: case 17: case 21: return CUDA_ERROR_INVALID_VALUE;
    case 98: return CUDA_ERROR_INVALID_HANDLE;                  /* device function */
    case 1052: return CUDA_ERROR_OUT_OF_MEMORY;
    case 1053: case 1054: return CUDA_ERROR_UNKNOWN;
    case 35: case 46: return CUDA_ERROR_NO_DEVICE;
    case CUDA_ERROR_LAUNCH_FAILED: return printf_failure();
    default: return e > 0 && e < 1000 ? e : CUDA_ERROR_UNKNOWN;
  }
}
