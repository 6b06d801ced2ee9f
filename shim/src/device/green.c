/* Green contexts: a part of a device's multiprocessors. Streams made in one are given a mask of compute units where the
 * HIP library knows such (hipExtStreamCreateWithCUMask); elsewhere the part is a wish, as it is for the default stream. */
#include <string.h>

#include "shim.h"

enum { RESOURCE_SM = 1, GROUP = 2 /* multiprocessors: a work group processor of RDNA */, DEFAULT_STREAM = 1 };
enum { CUDA_ERROR_INVALID_RESOURCE_TYPE = 914, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915 };
#define MAGIC 0x67726e31u

/* In the padding of CUdevResource, and behind CUdevResourceDesc. */
struct part {
  struct handle h;
  struct multiprocessors sms;
  int device;
};
FITS(struct part, SLOT_PART);

static void describe(CUdevResource *r, int device, struct multiprocessors sms) {
  memset(r, 0, sizeof *r);
  r->type = RESOURCE_SM;
  r->padding[0] = MAGIC;
  r->padding[1] = (uint32_t)device;
  r->padding[2] = sms.first;
  r->sm.smCount = sms.count;
  r->sm.minSmPartitionSize = r->sm.smCoscheduledAlignment = GROUP;
}

static bool understand(const CUdevResource *r, int *device, struct multiprocessors *sms) {
  if (r->type != RESOURCE_SM || r->padding[0] != MAGIC || !device_ok((CUdevice)r->padding[1])) return false;
  *device = (int)r->padding[1];
  *sms = (struct multiprocessors){r->padding[2], r->sm.smCount};
  return sms->count && sms->first + sms->count <= (unsigned)devices[*device].multiprocessors;
}

static struct multiprocessors all_of(int device) {
  return (struct multiprocessors){0, (unsigned)devices[device].multiprocessors};
}

static CUresult resource_of(const struct context *c, CUdevResource *resource, CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  describe(resource, c->device, c->sms.count ? c->sms : all_of(c->device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDevResource(CUdevice dev, CUdevResource *resource, CUdevResourceType type) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  describe(resource, dev, all_of(dev));
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type) {
  struct context *c = context_checked(hCtx);
  return c ? resource_of(c, resource, type) : CUDA_ERROR_INVALID_CONTEXT;
}

/* A green context is a context: the two handles are the same. */
static struct context *green_checked(CUgreenCtx handle) {
  struct context *c = context_checked((CUcontext)handle);
  return c && c->sms.count ? c : NULL;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct context *c = green_checked(hCtx);
  return c ? resource_of(c, resource, type) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource *resource, CUdevResourceType type) {
  CUcontext context;
  CUresult result = cuStreamGetCtx(hStream, &context);
  return result ? result : resource_of((struct context *)context, resource, type);
}

static void remains(CUdevResource *r, int device, struct multiprocessors sms, unsigned taken) {
  if (taken < sms.count) describe(r, device, (struct multiprocessors){sms.first + taken, sms.count - taken});
  else memset(r, 0, sizeof *r);
}

/* As many groups of at least minCount as asked for and as there are; the rest remains. Without `result`, only their
 * number is returned. */
CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input,
                                     CUdevResource *remaining, unsigned int useFlags, unsigned int minCount) {
  int device;
  struct multiprocessors sms;
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!nbGroups || !input) return CUDA_ERROR_INVALID_VALUE;
  if (input->type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (useFlags & ~3u || !understand(input, &device, &sms)) return CUDA_ERROR_INVALID_VALUE;
  if (minCount > sms.count) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  unsigned size = minCount < GROUP ? GROUP : (minCount + GROUP - 1) / GROUP * GROUP, groups = sms.count / size;
  if (!groups) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  if (result) {
    if (groups > *nbGroups) groups = *nbGroups;
    for (unsigned i = 0; i < groups; i++)
      describe(&result[i], device, (struct multiprocessors){sms.first + i * size, size});
  }
  if (remaining) remains(remaining, device, sms, groups * size);
  *nbGroups = groups;
  return CUDA_SUCCESS;
}

/* How many multiprocessors a group gets of those that are left: what it asks for, or, where that is 0, all that fit. */
static CUresult group_size(CU_DEV_SM_RESOURCE_GROUP_PARAMS *p, unsigned all, unsigned left) {
  enum { BACKFILL = 1 };
  unsigned together = p->coscheduledSmCount ? p->coscheduledSmCount : GROUP;
  if (p->flags & ~(unsigned)BACKFILL || p->smCount > all || p->smCount % GROUP || together != GROUP) return CUDA_ERROR_INVALID_VALUE;
  if (p->preferredCoscheduledSmCount % GROUP) return CUDA_ERROR_INVALID_VALUE;
  if (!p->smCount) p->smCount = left / GROUP * GROUP;
  return p->smCount <= left ? CUDA_SUCCESS : CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
}

/* Groups one after the other, each as large as its parameters say; without `result` these are only filled in. */
CUresult cuDevSmResourceSplit(CUdevResource *result, unsigned int nbGroups, const CUdevResource *input,
                              CUdevResource *remainder, unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams) {
  int device;
  struct multiprocessors sms;
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!input || !groupParams || !nbGroups || flags) return CUDA_ERROR_INVALID_VALUE;
  if (input->type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (!understand(input, &device, &sms)) return CUDA_ERROR_INVALID_VALUE;
  unsigned taken = 0;
  for (unsigned i = 0; i < nbGroups; i++) {
    CUresult error = group_size(&groupParams[i], sms.count, sms.count - taken);
    if (error) return error;
    if (result && !groupParams[i].smCount) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    taken += groupParams[i].smCount;
  }
  for (unsigned i = 0, first = sms.first; result && i < nbGroups; first += groupParams[i++].smCount)
    describe(&result[i], device, (struct multiprocessors){first, groupParams[i].smCount});
  if (remainder) remains(remainder, device, sms, taken);
  return CUDA_SUCCESS;
}

/* Neighbouring parts of one device become one; descriptions live as long as the process, as there is no call that
 * ends them. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!phDesc || !resources || !nbResources) return CUDA_ERROR_INVALID_VALUE;
  struct part whole = {0};
  for (unsigned i = 0; i < nbResources; i++) {
    int device;
    struct multiprocessors sms;
    if (resources[i].type != RESOURCE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    if (!understand(&resources[i], &device, &sms)) return CUDA_ERROR_INVALID_VALUE;
    if (i && (device != whole.device || sms.first != whole.sms.first + whole.sms.count))
      return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (!i) whole.device = device, whole.sms.first = sms.first;
    whole.sms.count += sms.count;
  }
  struct part *p = handle_new(HANDLE_PART);
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  p->sms = whole.sms;
  p->device = whole.device;
  *phDesc = (CUdevResourceDesc)p;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!phCtx || flags != DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (!device_ok(dev)) return CUDA_ERROR_INVALID_DEVICE;
  struct part *p = handle_ok(HANDLE_PART, desc) ? (struct part *)desc : NULL;
  if (!p || p->device != dev) return CUDA_ERROR_INVALID_VALUE;
  struct context *c = context_new(dev);
  if (!c) return CUDA_ERROR_OUT_OF_MEMORY;
  c->sms = p->sms;
  *phCtx = (CUgreenCtx)c;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return green_checked(hCtx) ? cuCtxDestroy_v2((CUcontext)hCtx) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pContext) return CUDA_ERROR_INVALID_VALUE;
  if (!green_checked(hCtx)) return CUDA_ERROR_INVALID_CONTEXT;
  *pContext = (CUcontext)hCtx;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  struct context *c = green_checked(greenCtx);
  if (!c) return CUDA_ERROR_INVALID_CONTEXT;
  if (!greenCtxId) return CUDA_ERROR_INVALID_VALUE;
  *greenCtxId = c->id;
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return green_checked(hCtx) ? cuCtxRecordEvent((CUcontext)hCtx, hEvent) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  return green_checked(hCtx) ? cuCtxWaitEvent((CUcontext)hCtx, hEvent) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority) {
  enum { NON_BLOCKING = 1 };
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!green_checked(greenCtx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!phStream || flags != NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  CUcontext popped;
  CUresult result = cuCtxPushCurrent_v2((CUcontext)greenCtx);
  if (result) return result;
  result = cuStreamCreateWithPriority(phStream, flags, priority);
  cuCtxPopCurrent_v2(&popped);
  return result;
}
