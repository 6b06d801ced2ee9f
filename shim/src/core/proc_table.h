/* All exported functions, sorted by name and version, for cuGetProcAddress. */
#ifndef SHIM_PROC_TABLE_H
#define SHIM_PROC_TABLE_H
struct proc {
  const char *name;
  int since;      /* CUDA version */
  int per_thread; /* 1: the variant with the per-thread default stream */
  void *function;
};
extern const struct proc proc_table[];
extern const int proc_count;
#endif
