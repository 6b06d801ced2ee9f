/* Macros for the generated filter libraries, which forward to libptx2amd_vgpu.so (generate.py). */
#include <stdbool.h>
#include <stddef.h>

/* In libptx2amd_vgpu.so. */
int ptx2amd_vgpu_not_supported(const char *function, bool *said);
void ptx2amd_vgpu_stand_for(int major);

__attribute__((constructor)) static void stand_for(void) { ptx2amd_vgpu_stand_for(MAJOR); }

/* Works for all parameter lists. The answer may be the error. */
#define NOT_SUPPORTED(name, type, answer)                           \
  __attribute__((visibility("default"))) type name(void) {          \
    static bool said;                                               \
    int error = ptx2amd_vgpu_not_supported(#name, &said);           \
    (void)error;                                                    \
    return answer;                                                  \
  }
