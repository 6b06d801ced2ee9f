/* Attributes of streams. They are hints for what no AMD chip has, kept for those who ask for them again; the priority is
 * the one that the stream was made with. */
#include <string.h>

#include "shim.h"

enum { ACCESS_POLICY_WINDOW = 1, SYNCHRONIZATION_POLICY = 3, PRIORITY = 8, DOMAIN_MAP = 9, DOMAIN = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Attributes that are kept, and what a stream begins with. */
static const struct kept { CUstreamAttrID attribute; unsigned char value[4]; } kept[] = {
    {ACCESS_POLICY_WINDOW, {0}}, {SYNCHRONIZATION_POLICY, {1 /* automatic */}}, {DOMAIN_MAP, {0, 1}}, {DOMAIN, {0}}};

/* -1: not kept. */
static int place_of(CUstreamAttrID attribute) {
  int i = (int)(sizeof kept / sizeof *kept) - 1;
  while (i >= 0 && kept[i].attribute != attribute) i--;
  return i;
}

static CUresult find(CUstream stream, CUstreamAttrID attribute, const void *value, struct stream_attributes **found, int *at) {
  *found = stream_attributes(stream);
  *at = place_of(attribute);
  if (!*found) return CUDA_ERROR_INVALID_HANDLE;
  return value && (*at >= 0 || attribute == PRIORITY) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value) {
  struct stream_attributes *a;
  int at, priority;
  CUresult result = find(hStream, attr, value, &a, &at);
  if (!result && at < 0) result = cuStreamGetPriority(hStream, &priority);
  if (result) return result;
  memset(value, 0, sizeof a->value[0]);
  if (at < 0) {
    memcpy(value, &priority, sizeof priority);
    return CUDA_SUCCESS;
  }
  pthread_mutex_lock(&lock);
  if (a->set[at]) memcpy(value, a->value[at], sizeof a->value[at]);
  else memcpy(value, kept[at].value, sizeof kept[at].value);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param) {
  struct stream_attributes *a;
  int at;
  CUresult result = find(hStream, attr, param, &a, &at);
  if (result || at < 0) return result;
  enum { AUTOMATIC = 1, BLOCKING = 4 };
  int policy;
  memcpy(&policy, param, sizeof policy);
  if (attr == SYNCHRONIZATION_POLICY && (policy < AUTOMATIC || policy > BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  memcpy(a->value[at], param, sizeof a->value[at]);
  a->set[at] = 1;
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream) {
  struct stream_attributes *to, *from;
  int at;
  CUresult result = find(dstStream, PRIORITY, &at, &to, &at);
  if (!result) result = find(srcStream, PRIORITY, &at, &from, &at);
  if (result || to == from) return result;
  pthread_mutex_lock(&lock);
  *to = *from;
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
