/* The software GPU's interface for tools. Written so that cffi can read it. */
#ifndef PTX2AMD_VGPU_API_H
#define PTX2AMD_VGPU_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#pragma GCC visibility push(default)

/* Copies the text of the last fault into buf ("" if there was none); returns the length of the text without the NUL. */
size_t ptx2amd_vgpu_last_fault(char *buf, size_t size);
/* Totals since the start: instructions executed, waves, workgroups, dispatches. */
void ptx2amd_vgpu_counters(uint64_t counters[4]);
/* Selects the devices instead of PTX2AMD_DEVICE: "gfx942,gfx1100". Only before initialisation; returns 0, or a
 * hipError_t. */
int ptx2amd_vgpu_select(const char *devices);
/* The architectures that can be selected: "gfx942,gfx1100". */
const char *ptx2amd_vgpu_archs(void);

/* Called by the filter library with that major version's soname (vgpu/dropin). */
void ptx2amd_vgpu_stand_for(int major);
/* Prints once that a function is not supported; returns hipErrorNotSupported. */
int ptx2amd_vgpu_not_supported(const char *function, bool *said);

#pragma GCC visibility pop
#endif
