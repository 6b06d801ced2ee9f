/* Runs straight-line machine code on a register state without a kernel: the tests' access to single instructions in
 * every wave width and x86 level. */
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "state.h"

extern const struct build *const all_builds[];

struct probe_context { struct decode_context c; void *blocks[64]; size_t used; };

static void *probe_alloc(struct decode_context *c, size_t size) {
  struct probe_context *p = (struct probe_context *)c;
  if (p->used == 64) abort();
  return p->blocks[p->used++] = calloc(1, size);
}

/* v: VGPR_ROWS * lanes dwords (including temporary rows), s: 128 scalar registers; both are read and written. 0: ran to
 * the end; 1: no such build or arch; 2: an instruction is unknown or not implemented; 3: fault. */
__attribute__((visibility("default")))
int ptx2amd_vgpu_execute(const char *arch, unsigned lanes, const char *level, const uint32_t *code,
                         size_t dwords, uint32_t *v, uint32_t *s, uint32_t mode) {
  const struct build *build = NULL;
  for (size_t k = 0; all_builds[k]; k++)
    if (all_builds[k]->lanes == lanes && !strcmp(all_builds[k]->level, level)) build = all_builds[k];
  const struct arch *chip = arch_find(arch);
  if (!build || !chip) return 1;

  size_t bytes = ((size_t)VGPR_ROWS * lanes * 4 + 63) & ~(size_t)63;
  struct wave *w = aligned_alloc(64, (sizeof *w + 63) & ~(size_t)63);
  memset(w, 0, sizeof *w);
  w->v = aligned_alloc(64, bytes);
  memcpy(w->v, v, bytes);
  write_constants(w->s);
  memcpy(w->s, s, 128 * 4);
  w->mode = mode;
  w->lanes = lanes;
  build->start_wave(w);

  int status = 0;
  unsigned host = _mm_getcsr();
  for (size_t at = 0; at < dwords && !status;) {
    struct probe_context p = {.c = {build->handlers, build->vopd, probe_alloc, at, dwords - at}};
    struct inst i;
    chip->decode(code + at, &i, &p.c);
    if (i.run == run_illegal || i.run == run_unimplemented || i.run == run_bad_jump) status = 2;
    _mm_setcsr(w->mxcsr);
    if (!status && !i.run(w, &i)) status = 3;
    _mm_setcsr(host);
    at += i.len;
    while (p.used) free(p.blocks[--p.used]);
  }
  memcpy(v, w->v, bytes);
  memcpy(s, w->s, 128 * 4);
  free(w->v);
  free(w);
  return status;
}
