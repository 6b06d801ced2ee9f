/* Functions for the filter libraries (vgpu/dropin): libamdhip64.so.5, .so.6, .so.7. */
#include "hip_state.h"

enum { NEWEST = 7 };
static _Atomic int stood_for;     /* the first of them that was loaded: the one the program uses */

void ptx2amd_vgpu_stand_for(int major) {
  int none = 0;
  atomic_compare_exchange_strong(&stood_for, &none, major);
}

int hip_major(void) {
  int major = atomic_load_explicit(&stood_for, memory_order_relaxed);
  return major ? major : NEWEST;
}

int ptx2amd_vgpu_not_supported(const char *function, bool *said) {
  if (!__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
    complain("%s is not supported by the software GPU", function);
  return done(hipErrorNotSupported);
}
