/* JIT options: the log buffers that a caller gave. */
#ifndef SHIM_JIT_H
#define SHIM_JIT_H
#include "shim.h"

struct jit {
  char *error_log, *info_log;
  size_t error_size, info_size;
  void **error_size_out, **info_size_out, **wall_time_out;
  double started;
  unsigned registers; /* the most that a thread may have; 0: no limit */
  bool linking;       /* a link ends: symbols that nothing defines are errors */
};

void jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values);
/* Into the error log, or to stderr when there is none. */
void jit_error(struct jit *jit, const char *text);
void jit_done(struct jit *jit); /* sizes and time */
#endif
