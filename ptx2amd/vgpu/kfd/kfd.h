/* The software KFD: what AMD's ROCm stack finds below it, with the software GPU instead of the kernel's amdgpu driver.
 *
 *   interpose.c   libc's functions for files: the driver's own are answered here
 *   files.c       the files and folders that do not exist
 *   gpus.c        which GPUs there are
 *   topology.c    their description in /sys
 *   drm.c         libdrm_amdgpu's functions; buffer.c memory without addresses; memfile.c its files
 *   ioctl.c       requests to /dev/kfd
 *   memory.c      allocations; svm.c ranges of the program's own memory; ipc.c memory of other processes
 *   events.c      what the runtime sleeps on
 *   queue.c       a thread for each queue; aql.c and sdma.c execute packets, dispatch.c kernels
 *   code.c        loaded code objects: what the engine has decoded of them, names of kernels
 *   faults.c      faults of kernels as the driver reports them
 *   model.c       ROCm 7's interface for models instead of /dev/kfd
 *
 * A GPU's address is the CPU's: all of it happens in the program's process. */
#ifndef PTX2AMD_KFD_H
#define PTX2AMD_KFD_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "abi.h"
#include "engine_library.h"

#define API __attribute__((visibility("default")))

/* --- gpus.c --- */

enum { MAX_GPUS = 16, RENDER_MINOR = 128 };
struct gpu {
  unsigned node;                 /* in the topology; the CPU is 0 */
  uint32_t id;                   /* as used in requests: node + 1, as models (model.c) have to have it */
  const struct arch *arch;
  const struct chip *chip;
  const struct layout *layout;
  _Atomic uint64_t in_use;       /* bytes of its memory */
};
extern struct gpu gpus[MAX_GPUS];
extern unsigned gpu_count;
extern const struct engine_library *engine;

/* Properties of a chip that only the topology needs: the arrangement of its compute units, and its engines. */
struct layout {
  const char *arch;
  unsigned family;               /* as the graphics driver counts them */
  unsigned arrays, arrays_per_engine, units_per_array;
  unsigned sdma_engines;
};

/* Whether this process has software GPUs behind /dev/kfd: PTX2AMD_DEVICE requests them and the engine is available. */
bool kfd_active(void);
struct gpu *gpu_by_id(uint32_t id);
bool gpu_is_ours(const void *device);   /* libdrm's device handle */
uint64_t gpu_memory(void);       /* bytes of each */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- topology.c, files.c --- */

void topology_make(void);
void file_add(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A file descriptor with the content; -1: no such file. */
int file_open(const char *path);
/* The index-th entry of the folder, NULL past the end; *found: whether the folder exists. */
const char *file_entry(const char *folder, unsigned index, bool *found);
/* Calls `write` for each file of the folder, with its path in another folder. False: it was false. */
bool files_copy(const char *folder, const char *target, bool (*write)(const char *path, const char *text));
bool topology_copy(const char *target, bool (*write)(const char *path, const char *text));

/* --- ioctl.c --- */

/* 0 or a negative errno. */
int kfd_request(unsigned request, void *argument);
/* The result of mmap() on the driver's or a render node's file. */
void *kfd_map(void *address, size_t size, int protection, off_t offset);

/* --- memory.c, svm.c --- */

/* flags: those of its allocation; 0: the program's own memory. */
struct allocation {
  uint64_t va, size, handle;
  uint32_t flags;
  struct gpu *gpu;
  struct mem_block *block;
  unsigned users;                /* other GPUs with the same mapping */
  bool seen;                     /* mapped by the CPU too: its pages remain when the GPU's mapping is removed */
  int fd;                        /* the memory file that its pages are of; -1: none, or another's */
};
int memory_alloc(struct kfd_alloc_memory *a);
int memory_free(uint64_t handle);
uint64_t memory_handle(uint64_t va);   /* of the allocation that begins there; 0: none */
/* The memory file of an allocation, which stays its own, and its size; or a negative errno: it has none. */
int memory_file(uint64_t handle, uint64_t *size);
/* A memory file as an allocation at the address. */
int memory_import(struct gpu *g, uint64_t va, uint64_t size, int fd, uint64_t *handle);
/* Makes a part of a memory file accessible at an address that the runtime has reserved, or removes it. */
int memory_map(struct gpu *g, uint64_t va, uint64_t size, int fd, uint64_t offset);
int memory_unmap(uint64_t va, uint64_t size);
/* The CPU's mapping of the same part; MAP_FAILED: see errno. */
void *memory_show(void *address, uint64_t size, int protection, int fd);
/* The allocation or range around the address. */
bool memory_find(uint64_t address, uint64_t *base, uint64_t *size);
/* Makes the program's own memory accessible. */
bool memory_adopt(uint64_t start, uint64_t size);
int svm_request(struct kfd_svm *a);

/* --- memfile.c --- */

/* struct amdgpu_bo_metadata */
struct buffer_metadata { uint64_t flags, tiling; uint32_t size, words[64]; };
/* A descriptor; -1: errno says why. */
int memfile_new(uint64_t size);
uint64_t memfile_size(int fd);   /* 0: it is not a memory file */
bool memfile_metadata(int fd, struct buffer_metadata *metadata);
bool memfile_set_metadata(int fd, const struct buffer_metadata *metadata);

/* --- buffer.c --- */

#define BUFFER_HANDLE (1ull << 48)   /* of memory without an address */
int buffer_alloc(struct gpu *g, struct kfd_alloc_memory *a);
int buffer_free(uint64_t handle);
int buffer_export(struct kfd_export_buffer *a);
int buffer_import(struct kfd_import_buffer *a);
int buffer_about(struct kfd_buffer_info *a);
/* The memory file behind an offset of the render node's file; -1: none. */
int buffer_file(uint64_t offset);

/* --- ipc.c --- */

int ipc_export(struct kfd_ipc_export *a);
int ipc_import(struct kfd_ipc_import *a);

/* --- events.c --- */

int event_create(struct kfd_create_event *a);
int event_destroy(uint32_t id);
int event_set(uint32_t id);
int event_reset(uint32_t id);
int event_wait(struct kfd_wait_events *a);
/* All events of the type receive the data. False: there are none. */
bool event_raise(uint32_t type, const struct kfd_event_data *data);

/* --- model.c --- */

/* Sets an event of libhsakmt, where it has this library as a model; else false. */
bool model_sets_event(uint32_t id);

/* --- queue.c --- */

struct queue {
  uint32_t id, type;
  struct gpu *gpu;
  uint64_t ring, size;           /* bytes */
  uint64_t read_pointer, write_pointer;
  uint64_t done;                 /* packets or bytes processed */
  bool cooperative;
  _Atomic bool stop, failed;
  pthread_t thread;
};
int queue_create(struct kfd_create_queue *a);
int queue_destroy(uint32_t id);
int queue_update(const struct kfd_update_queue *a);
int queue_cooperate(struct kfd_queue_gws *a);
/* Processes the available packets; returns whether there were any. */
bool aql_run(struct queue *q);
bool sdma_run(struct queue *q);

/* Waits for another thread, kernel or the program: spins, then sleeps for longer and longer times. For queue threads.
 * */
struct pause { unsigned rounds; };
void pause_a_while(struct pause *p);
uint64_t ticks(void);            /* of the GPU's clock */
uint64_t nanoseconds(void);
enum { TICKS_PER_SECOND = 100000000 };

/* --- dispatch.c, code.c, faults.c --- */

struct aql_dispatch;
void dispatch_run(struct queue *q, const struct aql_dispatch *packet, uint64_t index);
void signal_complete(uint64_t signal);

/* A kernel of a loaded code object, in use until kernel_release. */
struct kernel {
  struct code *code;
  char name[256];
  struct object *object;
};
bool kernel_find(const struct gpu *gpu, uint64_t descriptor, struct kernel *k);
void kernel_release(struct kernel *k);
/* Decoded instructions in the range, or everywhere, may be outdated. */
void code_forget(uint64_t base, uint64_t size);
void code_forget_all(void);

struct fault;
void fault_report(struct queue *q, const struct fault *fault);
#endif
