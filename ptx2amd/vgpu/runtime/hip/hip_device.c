/* Initialisation, and devices as a whole. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hip_state.h"
#include "settings.h"
#include "tools.h"

struct device hip_devices[MAX_DEVICES];
int hip_device_count;

enum { NOT_STARTED = 0, STARTED = 1, FAILED = 2, FORKED = 3 };
_Atomic int hip_started;
static hipError_t start_error;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static char *selected;

static void in_child(void) {
  if (atomic_load(&hip_started) == STARTED) atomic_store(&hip_started, FORKED);
}

/* The machine's memory, or the control group's limit if that is lower. */
uint64_t host_memory(void) {
  uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (int k = 0; k < 2; k++) {
    FILE *f = fopen(limits[k], "re");
    if (!f) continue;
    unsigned long long limit = 0;
    if (fscanf(f, "%llu", &limit) == 1 && limit > 0 && limit < total) total = limit;
    fclose(f);
  }
  return total;
}

static bool device_init(struct device *d, int ordinal, const char *name) {
  char arch[32];
  size_t n = strcspn(name, ":");
  if (n >= sizeof arch) n = sizeof arch - 1;
  memcpy(arch, name, n);
  arch[n] = 0;
  d->chip = chip_find(arch);
  d->arch = arch_find(arch);
  if (!d->chip || !d->arch) {
    complain("there is no software GPU '%s' (PTX2AMD_DEVICE); known are %s", name, ptx2amd_vgpu_archs());
    return false;
  }
  d->ordinal = ordinal;
  d->total_memory = host_memory();
  memcpy(d->uuid.bytes, "GPU-p2a-", 8);
  snprintf(d->uuid.bytes + 8, 8, "%-6.6s", arch + 3);
  d->uuid.bytes[14] = 0;
  d->uuid.bytes[15] = (char)ordinal;
  d->limits[hipLimitStackSize] = 1024;
  d->limits[hipLimitPrintfFifoSize] = 1 << 20;
  d->limits[hipLimitMallocHeapSize] = 8 << 20;
  pthread_mutex_init(&d->lock, NULL);
  d->primary = handle_new(&context_class);
  if (!d->primary) return false;
  d->primary->device = d;
  d->null_stream = stream_new(d, 0, 0);
  return d->null_stream && pool_init(d);
}

/* "vgpu", "vgpu:gfx942", "vgpu:gfx942,gfx1100"; NULL, "" and "hip" (this library replaces it): the default. */
static hipError_t choose_devices(void) {
  settings_check(SETTING_READER_GPU, SETTING_READER_DRIVER, false, complain);
  const char *wish = selected ? selected : setting_text(SETTING_DEVICE);
  if (!*wish || !strcmp(wish, "hip")) wish = "gfx942";
  if (!strncmp(wish, "vgpu", 4) && (wish[4] == ':' || !wish[4])) wish += wish[4] ? 5 : 4;
  if (!*wish) wish = "gfx942";
  double wanted = setting_number(SETTING_VGPU_COUNT);
  if (wanted > MAX_DEVICES) {
    complain("PTX2AMD_VGPU_COUNT=%s: 0 to %d devices are possible", setting_text(SETTING_VGPU_COUNT), MAX_DEVICES);
    return hipErrorNoDevice;
  }
  if (wanted == 0) return hipSuccess;
  char *names[MAX_DEVICES];
  int n = 0;
  char *copy = strdup(wish), *state = NULL;
  if (!copy) return hipErrorOutOfMemory;
  for (char *name = strtok_r(copy, ",", &state); name && n < MAX_DEVICES; name = strtok_r(NULL, ",", &state))
    names[n++] = name;
  int total = n > wanted ? n : (int)wanted;
  hipError_t error = n ? hipSuccess : hipErrorNoDevice;
  for (int k = 0; error == hipSuccess && k < total; k++) {
    hip_device_count = k + 1;
    if (!device_init(&hip_devices[k], k, names[k % n])) error = hipErrorNoDevice;
  }
  if (error != hipSuccess) hip_device_count = 0;
  free(copy);
  return error;
}

hipError_t hip_start(void) {
  if (atomic_load(&hip_started) == FORKED) {
    static atomic_flag said;
    if (!atomic_flag_test_and_set(&said))
      complain("the GPU was initialised before fork(): it cannot be used in the child process "
               "(initialise after the fork, or spawn the child)");
    return done(hipErrorNotInitialized);
  }
  pthread_mutex_lock(&start_lock);
  if (atomic_load(&hip_started) == NOT_STARTED) {
    start_error = choose_devices();
    if (start_error == hipSuccess) pthread_atfork(NULL, NULL, in_child);
    if (hip_device_count) program_start();
    atomic_store_explicit(&hip_started, start_error == hipSuccess ? STARTED : FAILED, memory_order_release);
  }
  pthread_mutex_unlock(&start_lock);
  return done(start_error);
}

int ptx2amd_vgpu_select(const char *devices) {
  if (!devices) return hipErrorInvalidValue;
  int error = hipErrorIllegalState;
  pthread_mutex_lock(&start_lock);
  if (atomic_load(&hip_started) == NOT_STARTED) {
    free(selected);
    selected = strdup(devices);
    error = selected ? hipSuccess : hipErrorOutOfMemory;
  }
  pthread_mutex_unlock(&start_lock);
  return error;
}

hipError_t hipInit(unsigned flags) {
  ENTER();
  if (flags) return done(hipErrorInvalidValue);
  return done(hip_device_count ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipDriverGetVersion(int *version) {
  if (!version) return done(hipErrorInvalidValue);
  /* 5.7, 6.4, 7.0: the version whose structures and numbers this library has */
  static const int versions[] = {[5] = 50731921, [6] = 60443484, [7] = 70051831};
  *version = versions[hip_major()];
  return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }

hipError_t hipGetDeviceCount(int *count) {
  if (!count) return done(hipErrorInvalidValue);
  *count = 0;
  ENTER();
  *count = hip_device_count;
  return done(hip_device_count ? hipSuccess : hipErrorNoDevice);
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
  ENTER();
  if (!device) return done(hipErrorInvalidValue);
  if (!device_at(ordinal)) return done(hipErrorInvalidDevice);
  *device = ordinal;
  return hipSuccess;
}

hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  if (!name || len <= 0) return done(hipErrorInvalidValue);
  snprintf(name, (size_t)len, "%s", d->chip->name);
  return hipSuccess;
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  if (!uuid) return done(hipErrorInvalidValue);
  *uuid = d->uuid;
  return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  if (!bytes) return done(hipErrorInvalidValue);
  *bytes = d->total_memory;
  return hipSuccess;
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device) {
  ENTER();
  struct device *d = device_at(device);
  if (!d) return done(hipErrorInvalidDevice);
  if (!major || !minor) return done(hipErrorInvalidValue);
  *major = d->chip->major;
  *minor = d->chip->minor;
  return hipSuccess;
}

/* Bus 1 + ordinal, device 0 in domain 0x7a2a: a place that no other device of the machine is likely to use. */
#define PCI_DOMAIN 0x7a2a

hipError_t hipDeviceGetPCIBusId(char *id, int len, int device) {
  ENTER();
  if (!device_at(device)) return done(hipErrorInvalidDevice);
  if (!id || len <= 0) return done(hipErrorInvalidValue);
  snprintf(id, (size_t)len, "%04x:%02x:%02x.0", PCI_DOMAIN, 1 + device, 0);
  return hipSuccess;
}

hipError_t hipDeviceGetByPCIBusId(int *device, const char *id) {
  ENTER();
  unsigned domain = 0, bus = 0, slot = 0;
  if (!device || !id) return done(hipErrorInvalidValue);
  if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) return done(hipErrorInvalidValue);
  if (domain != PCI_DOMAIN || slot || !device_at((int)bus - 1)) return done(hipErrorInvalidDevice);
  *device = (int)bus - 1;
  return hipSuccess;
}

hipError_t device_synchronize(struct device *d) {
  /* Streams are not destroyed meanwhile: a finished one in a reused slot only makes the wait a little longer. */
  pthread_mutex_lock(&d->lock);
  size_t n = 0, room = 64;
  struct { stream *s; uint64_t seq; } small[64], *all = small;
  for (stream *s = d->streams; s; s = s->next) {
    if (stream_idle(s)) continue;
    if (n == room) {
      void *more = malloc(2 * room * sizeof *all);
      if (!more) break;
      memcpy(more, all, n * sizeof *all);
      if (all != small) free(all);
      all = more;
      room *= 2;
    }
    all[n].s = s;
    all[n++].seq = atomic_load(&s->submitted);
  }
  pthread_mutex_unlock(&d->lock);
  for (size_t k = 0; k < n; k++) stream_wait(all[k].s, all[k].seq);
  if (all != small) free(all);
  return device_error(d);
}

hipError_t hipDeviceSynchronize(void) {
  ENTER();
  MAY_WAIT();
  hipError_t error = capture_waits(device_current());
  return done(error != hipSuccess ? error : device_synchronize(device_current()));
}

struct blocks { struct mem_block **list; size_t count, room; };

static void collect(struct mem_block *block, void *data) {
  struct blocks *b = data;
  enum mem_kind kind = MEM_KIND(block->flags);
  bool own = kind == MEM_DEVICE || kind == MEM_HOST || kind == MEM_MANAGED || kind == MEM_REGISTERED;
  if (!own || block->internal) return;
  if (b->count == b->room) {
    size_t room = b->room ? 2 * b->room : 256;
    void *more = realloc(b->list, room * sizeof *b->list);
    if (!more) return;
    b->list = more;
    b->room = room;
  }
  b->list[b->count++] = block;
}

/* The program's memory on the device, without the run time's own and without modules. */
static void release_all(struct device *d) {
  struct blocks b = {0};
  mem_each(d->ordinal, collect, &b);
  for (size_t k = 0; k < b.count; k++) {
    if (b.list[k]->owner) pool_give_back(b.list[k]);
    else mem_release(b.list[k]);
  }
  free(b.list);
  hipMemPoolTrimTo(d->default_pool, 0);
}

hipError_t hipDeviceReset(void) {
  ENTER();
  MAY_WAIT();
  struct device *d = device_current();
  device_synchronize(d);
  atomic_store(&d->sticky, 0);
  if (!tools()->memcheck) release_all(d);   /* already initialised: leaks are reported at the end */
  return hipSuccess;
}

hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t limit) {
  ENTER();
  if (!value) return done(hipErrorInvalidValue);
  if (limit > hipLimitMallocHeapSize) return done(hipErrorUnsupportedLimit);
  *value = device_current()->limits[limit];
  return hipSuccess;
}

hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  ENTER();
  if (limit > hipLimitMallocHeapSize) return done(hipErrorUnsupportedLimit);
  if (limit == hipLimitStackSize && value > 131072) return done(hipErrorInvalidValue);
  device_current()->limits[limit] = value;
  return hipSuccess;
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ENTER();
  if (least) *least = 1;
  if (greatest) *greatest = -1;
  return hipSuccess;
}

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
  ENTER();
  if (!can) return done(hipErrorInvalidValue);
  if (!device_at(device) || !device_at(peer)) return done(hipErrorInvalidDevice);
  *can = device != peer;
  return hipSuccess;
}

hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr attribute, int source, int destination) {
  ENTER();
  if (!value) return done(hipErrorInvalidValue);
  if (!device_at(source) || !device_at(destination) || source == destination) return done(hipErrorInvalidDevice);
  if (attribute > hipDevP2PAttrHipArrayAccessSupported) return done(hipErrorInvalidValue);
  *value = attribute == hipDevP2PAttrAccessSupported || attribute == hipDevP2PAttrNativeAtomicSupported;
  return hipSuccess;
}

/* All devices can access all memory; enabling is recorded only for the documented errors. */
static bool peers[MAX_DEVICES][MAX_DEVICES];

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  ENTER();
  struct device *d = device_current();
  if (flags) return done(hipErrorInvalidValue);
  if (!device_at(peer) || peer == d->ordinal) return done(hipErrorInvalidDevice);
  if (peers[d->ordinal][peer]) return done(hipErrorPeerAccessAlreadyEnabled);
  peers[d->ordinal][peer] = true;
  return hipSuccess;
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  ENTER();
  struct device *d = device_current();
  if (!device_at(peer)) return done(hipErrorInvalidDevice);
  if (!peers[d->ordinal][peer]) return done(hipErrorPeerAccessNotEnabled);
  peers[d->ordinal][peer] = false;
  return hipSuccess;
}

hipError_t hipProfilerStart(void) { return hipSuccess; }
hipError_t hipProfilerStop(void) { return hipSuccess; }
