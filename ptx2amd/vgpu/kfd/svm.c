/* Ranges of shared virtual memory: the program's own memory, made accessible at its address. Every GPU can access all
 * of it; the attributes are stored for queries only. */
#include <errno.h>
#include <stdlib.h>

#include "kfd.h"

struct range {
  struct range *next;
  uint64_t start, end;
  uint32_t preferred, prefetch, flags, granularity;
};
static const struct range unset = {.preferred = KFD_SVM_UNDEFINED, .prefetch = KFD_SVM_UNDEFINED, .granularity = 9};
static struct range *ranges;     /* the most recently set range comes first */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct range *range_at(uint64_t address) {
  struct range *r = ranges;
  while (r && (address < r->start || address >= r->end)) r = r->next;
  return r;
}

/* Under the lock: removes ranges that the new one covers. */
static struct range *range_make(uint64_t start, uint64_t end) {
  struct range *r = range_at(start);
  if (r && r->start == start && r->end == end) return r;
  struct range *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  *made = r ? *r : unset;
  for (struct range **p = &ranges; *p;) {
    struct range *old = *p;
    if (old->start < start || old->end > end) {
      p = &old->next;
      continue;
    }
    *p = old->next;
    free(old);
  }
  made->start = start;
  made->end = end;
  made->next = ranges;
  return ranges = made;
}

static int set(const struct kfd_svm *a) {
  struct range *r = range_make(a->start, a->start + a->size);
  if (!r) return -ENOMEM;
  for (uint32_t k = 0; k < a->count; k++) {
    uint32_t value = a->attributes[k].value;
    switch (a->attributes[k].type) {
      case KFD_SVM_PREFERRED_LOCATION: r->preferred = value; break;
      case KFD_SVM_PREFETCH_LOCATION: r->prefetch = value; break;
      case KFD_SVM_SET_FLAGS: r->flags |= value; break;
      case KFD_SVM_CLEAR_FLAGS: r->flags &= ~value; break;
      case KFD_SVM_GRANULARITY: r->granularity = value; break;
      case KFD_SVM_ACCESS:
      case KFD_SVM_ACCESS_IN_PLACE:
      case KFD_SVM_NO_ACCESS: break;
      default: return -EINVAL;
    }
  }
  return memory_adopt(a->start, a->size) ? 0 : -ENOMEM;
}

static int get(struct kfd_svm *a) {
  const struct range *r = range_at(a->start);
  if (!r) r = &unset;
  for (uint32_t k = 0; k < a->count; k++) {
    uint32_t *type = &a->attributes[k].type, *value = &a->attributes[k].value;
    switch (*type) {
      case KFD_SVM_PREFERRED_LOCATION: *value = r->preferred; break;
      case KFD_SVM_PREFETCH_LOCATION: *value = r->prefetch; break;
      case KFD_SVM_SET_FLAGS: *value = r->flags; break;
      case KFD_SVM_CLEAR_FLAGS: *value = ~r->flags; break;
      case KFD_SVM_GRANULARITY: *value = r->granularity; break;
      case KFD_SVM_ACCESS:   /* attribute of the GPU that `value` names */
      case KFD_SVM_ACCESS_IN_PLACE:
      case KFD_SVM_NO_ACCESS: *type = KFD_SVM_ACCESS_IN_PLACE; break;
      default: return -EINVAL;
    }
  }
  return 0;
}

int svm_request(struct kfd_svm *a) {
  if (!a->size || a->op > KFD_SVM_GET) return -EINVAL;
  pthread_mutex_lock(&lock);
  int error = a->op == KFD_SVM_SET ? set(a) : get(a);
  pthread_mutex_unlock(&lock);
  return error;
}
