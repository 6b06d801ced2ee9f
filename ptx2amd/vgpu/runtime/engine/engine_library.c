/* The table of the engine's functions. */
#include "engine_library.h"

#include "hip_state.h"
#include "tools.h"

extern const struct engine_library ptx2amd_vgpu_engine;
__attribute__((visibility("default"))) const struct engine_library ptx2amd_vgpu_engine = {
    .arch_find = arch_find,
    .chip_find = chip_find,
    .archs = ptx2amd_vgpu_archs,
    .code_create = code_create,
    .code_destroy = code_destroy,
    .code_may_stray = code_may_stray,
    .run = engine_run,
    .adopt = mem_adopt,
    .release = mem_release,
    .host_memory = host_memory,
    .count_fault = tools_fault,
};
