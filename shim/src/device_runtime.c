/* What NVIDIA's device runtime library, which is machine code, has for the threads of a whole grid: programs link it
 * for cudaCGSynchronize (numba). In its place there is this PTX. Blocks count themselves in the launch's workspace,
 * whose second word turns its highest bit when all are there; without a cooperative launch there is none. */
#define _GNU_SOURCE
#include <string.h>

#include "linked.h"

static const char text[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;\n"
    "  ld.param.b32 %r1, [scope]; mov.b32 %r2, %envreg1; mov.b32 %r3, %envreg2; mov.b64 %rd1, {%r3, %r2};\n"
    "  setp.eq.u32 %p, %r1, 1; selp.b64 %rd1, %rd1, 0, %p; st.param.b64 [handle], %rd1; ret;\n}\n" /* 1: the grid */
    ".weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {\n"
    "  .reg .b32 %r<16>; .reg .b64 %rd<2>; .reg .pred %p<3>;\n"
    "  ld.param.b64 %rd1, [handle]; setp.ne.b64 %p1, %rd1, 0; @%p1 bra THERE; trap;\n"
    "THERE: bar.sync 0; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
    "  or.b32 %r4, %r1, %r2; or.b32 %r4, %r4, %r3; setp.ne.u32 %p1, %r4, 0; @%p1 bra MET;\n"
    "  mov.u32 %r5, %nctaid.x; mov.u32 %r6, %nctaid.y; mov.u32 %r7, %nctaid.z;\n"
    "  mul.lo.u32 %r5, %r5, %r6; mul.lo.u32 %r5, %r5, %r7; sub.u32 %r5, -2147483647, %r5;\n" /* 2^31 - (blocks - 1) */
    "  mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ctaid.y; mov.u32 %r10, %ctaid.z;\n"
    "  or.b32 %r8, %r8, %r9; or.b32 %r8, %r8, %r10; setp.eq.u32 %p2, %r8, 0; selp.b32 %r11, %r5, 1, %p2;\n"
    "  membar.gl; atom.global.add.u32 %r12, [%rd1+4], %r11;\n"
    "SPIN: ld.volatile.global.u32 %r13, [%rd1+4]; xor.b32 %r14, %r13, %r12; setp.ge.s32 %p2, %r14, 0; @%p2 bra SPIN;\n"
    "  membar.gl;\n"
    "MET: bar.sync 0; mov.b32 %r15, 0; st.param.b32 [error], %r15; ret;\n}\n";

bool device_runtime(const void *data, size_t size, struct image *image) {
  static const char archive[] = "!<arch>\n", member[] = "cuda_device_runtime.o/";
  if (size < sizeof archive - 1 || memcmp(data, archive, sizeof archive - 1)) return false;
  if (!memmem(data, size, member, sizeof member - 1)) return false;
  *image = (struct image){.data = text, .size = sizeof text - 1, .full_size = sizeof text - 1};
  return true;
}
