/* Launches from kernels (dynamic parallelism): ptx2amd/interface/launches.py has the layout of what kernels write. */
#ifndef SHIM_CHILDREN_H
#define SHIM_CHILDREN_H
#include "interface_launches.h"
#include "module.h"

/* The records of one launch, in host memory. */
struct records {
  struct records *next;
  int references;           /* the launch, and each record that is still to be carried out */
  int device;
  char *host;               /* begins with a struct launch_records */
  uint64_t seen;            /* the address for kernels */
  size_t size;              /* in bytes */
  uint64_t queue, pool;     /* offsets */
  uint64_t capacity, room;  /* records, and bytes of the pool */
};

/* ---- records.c ---- */
struct records *records_new(int device, unsigned depth); /* NULL: out of memory */
void records_drop(struct records *r);
uint64_t records_count(const struct records *r);
struct launch_record *records_at(const struct records *r, uint64_t number); /* NULL: what stands there is no record */
unsigned records_depth(const struct records *r);

/* ---- children.c ---- */
CUresult children_launch(const struct launch *launch); /* of a kernel that may launch, with records of its own */
CUresult children_refused(const struct kernel *k, const char *where);
#endif
