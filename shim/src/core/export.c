/* The undocumented tables that cuGetExportTable returns to runtime libraries: arrays of function pointers, most
 * with their size in bytes as word 0. docs/internals/driver.md and the comments here describe what is known. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "handshake.h"
#include "module.h"

#define SIZE_WORD(words) ((void *)(uintptr_t)(8 * (words)))

/* ---- the interface of the runtime library ---- */

static CUresult module_from_fatbin(CUmodule *module, const void *wrapper) {
  return cuModuleLoadData(module, wrapper);
}

/* The primary context's handle, neither retained nor made current. */
static CUresult primary_handle(CUcontext *context, CUdevice device) {
  if (!context || !device_ok(device)) return CUDA_ERROR_INVALID_VALUE;
  *context = (CUcontext)primary_context(device);
  return *context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult module_from_fatbin_3(CUmodule *module, const void *wrapper, void *a, void *b, unsigned c) {
  return a || b || c ? CUDA_ERROR_NOT_SUPPORTED : cuModuleLoadData(module, wrapper);
}

static CUresult module_from_fatbin_4(const void *fatbin, CUmodule *module, void *a, void *b, unsigned c) {
  return a || b || c ? CUDA_ERROR_NOT_SUPPORTED : cuModuleLoadData(module, fatbin);
}

static void ignore_size(size_t size) { (void)size; }
static CUresult compilers_loaded(void) { return CUDA_SUCCESS; }

static void *const runtime_table[13] = {
    [0] = SIZE_WORD(13), [1] = (void *)module_from_fatbin, [2] = (void *)primary_handle,
    [6] = (void *)module_from_fatbin_3, [7] = (void *)ignore_size, [8] = (void *)module_from_fatbin_4,
    [12] = (void *)compilers_loaded,
};

/* ---- hooks for tools: buffers that the runtime writes ---- */

static void hook_buffer_large(void **buffer, size_t *size) {
  static uint32_t words[1024];
  *buffer = words;
  *size = sizeof words / sizeof *words;
}

static void hook_buffer_small(void **buffer, size_t *size) {
  static uint32_t words[14];
  *buffer = words;
  *size = sizeof words / sizeof *words;
}

static void *const hooks_table[7] = {
    [0] = SIZE_WORD(7), [2] = (void *)hook_buffer_large, [6] = (void *)hook_buffer_small};

static CUresult nothing_to_do(void) { return CUDA_SUCCESS; }
static void *const tools_table[4] = {[0] = SIZE_WORD(4), [2] = (void *)nothing_to_do};

/* ---- checks of contexts ---- */

static CUresult context_fine(CUcontext context, uint32_t *flags, const void **detail) {
  (void)context;
  *flags = 0;
  *detail = NULL;
  return CUDA_SUCCESS;
}

static uint32_t no_check(void) { return 0; }
static void *const checks_table[4] = {[0] = SIZE_WORD(4), [2] = (void *)context_fine, [3] = (void *)no_check};

/* ---- the handshake ---- */

static void *const integrity_table[3];

static CUresult integrity(uint32_t version, uint64_t seconds, uint64_t result[2]) {
  struct handshake_device known[MAX_DEVICES];
  int driver = 0;
  cuDriverGetVersion(&driver);
  for (int i = 0; i < device_count; i++) {
    memcpy(known[i].uuid, devices[i].uuid.bytes, sizeof known[i].uuid);
    known[i].domain = devices[i].pci_domain;
    known[i].bus = devices[i].pci_bus;
    known[i].device = devices[i].pci_device;
  }
  struct handshake about = {.driver_version = (uint32_t)driver, .version = version, .process = (uint32_t)getpid(),
                            .thread = (uint32_t)(uintptr_t)pthread_self(),
                            .runtime_table = (uintptr_t)runtime_table, .check_table = (uintptr_t)integrity_table,
                            .check_function = (uintptr_t)integrity, .seconds = seconds};
  return handshake(&about, known, device_count, result) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

static void *const integrity_table[3] = {[0] = SIZE_WORD(3), [1] = (void *)integrity};

/* Tables of unknown purpose: newer libraries call their functions and only need them to return success. */
enum { UNNAMED = 128 };
static void *const unnamed_table[UNNAMED] = {
    [0] = SIZE_WORD(UNNAMED), [1 ... UNNAMED - 1] = (void *)nothing_to_do};

/* Streams, for tools: the channel of a stream, and a channel's number. cuBLAS gives each channel number its own part of
 * its workspace. Here every stream has its own channel. NULL is the current context. */
static CUresult channel_of(CUcontext context, CUstream stream, unsigned long long *channel) {
  (void)context;
  return cuStreamGetId(stream, channel);
}

static CUresult number_of(CUcontext context, unsigned long long channel, uint32_t *number) {
  (void)context;
  if (!number) return CUDA_ERROR_INVALID_VALUE;
  *number = (uint32_t)channel;
  return CUDA_SUCCESS;
}

static void *const streams_table[UNNAMED] = {
    [0] = SIZE_WORD(UNNAMED), [1 ... 38] = (void *)nothing_to_do, [39] = (void *)number_of,
    [40 ... 50] = (void *)nothing_to_do, [51] = (void *)channel_of, [52 ... UNNAMED - 1] = (void *)nothing_to_do};

/* Modules, for tools; cuFFT finds its kernels this way. Calls `each` for every function of a module and returns their
 * number. */
typedef void (*each_function)(void *data, CUfunction function, CUmodule module);
static uint64_t functions_of(CUcontext context, CUmodule module, each_function each, void *data) {
  (void)context;
  struct module *m = module_checked(module);
  if (!m) return 0;
  for (uint32_t i = 0; each && i < m->kernel_count; i++) each(data, (CUfunction)m->kernels[i], module);
  return m->kernel_count;
}

static void *const modules_table[UNNAMED] = {
    [0] = SIZE_WORD(UNNAMED), [1 ... 6] = (void *)nothing_to_do, [7] = (void *)functions_of,
    [8 ... UNNAMED - 1] = (void *)nothing_to_do};

static const struct export {
  unsigned char id[16];
  const void *table;
} exports[] = {
    {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9", runtime_table},
    {"\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66", hooks_table},
    {"\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc", tools_table},
    {"\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93", storage_table},
    {"\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e", checks_table},
    {"\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2", integrity_table},
    {"\xf8\xcf\xf9\x51\x21\x46\x8b\x4e\xb9\xe2\xfb\x46\x9e\x7c\x0d\xd9", unnamed_table},
    {"\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e", modules_table},
    {"\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2", streams_table},
};

CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId) {
  if (!ppExportTable || !pExportTableId) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
    if (!memcmp(exports[i].id, pExportTableId->bytes, 16)) {
      *ppExportTable = exports[i].table;
      return CUDA_SUCCESS;
    }
  *ppExportTable = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}
