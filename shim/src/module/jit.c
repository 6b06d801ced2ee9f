#include "jit.h"

#include <stdio.h>
#include <string.h>

void jit_read(struct jit *jit, unsigned count, const CUjit_option *options, void **values) {
  memset(jit, 0, sizeof *jit);
  jit->started = now_ms();
  if (!options || !values) return;
  for (unsigned i = 0; i < count; i++)
    switch (options[i]) {
      case CU_JIT_MAX_REGISTERS: jit->registers = (unsigned)(uintptr_t)values[i]; break;
      case CU_JIT_WALL_TIME: jit->wall_time_out = &values[i]; break;
      case CU_JIT_INFO_LOG_BUFFER: jit->info_log = values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: jit->error_log = values[i]; break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        jit->info_size = (unsigned)(uintptr_t)values[i], jit->info_size_out = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        jit->error_size = (unsigned)(uintptr_t)values[i], jit->error_size_out = &values[i];
        break;
      default: break;
    }
  if (jit->error_log && jit->error_size) jit->error_log[0] = 0;
  if (jit->info_log && jit->info_size) jit->info_log[0] = 0;
}

void jit_error(struct jit *jit, const char *text) {
  if (jit && jit->error_log && jit->error_size) snprintf(jit->error_log, jit->error_size, "%s", text);
  else say("%s", text);
}

void jit_done(struct jit *jit) {
  if (jit->error_size_out)
    *jit->error_size_out = (void *)(jit->error_log && jit->error_log[0] ? strlen(jit->error_log) : 0);
  if (jit->info_size_out)
    *jit->info_size_out = (void *)(jit->info_log && jit->info_log[0] ? strlen(jit->info_log) : 0);
  if (jit->wall_time_out) {
    float ms = (float)(now_ms() - jit->started);
    memcpy(jit->wall_time_out, &ms, sizeof ms);
  }
}
