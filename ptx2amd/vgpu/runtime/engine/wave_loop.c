/* The wave loop, and the width-dependent parts of a wave's start; compiled per width and level. */
#include <xmmintrin.h>

#include "state.h"
#include "wave.h"

/* Runs the wave for at most budget instructions. */
static void run_wave(struct wave *w, uint64_t budget) {
  enum { FLAGS = 0x3f };   /* MXCSR's sticky flags: the dispatch's thread keeps its own (engine.c) */
  unsigned host = w->wg->host_csr;   /* STMXCSR would take longer than some waves */
  uint64_t steps = 0, limit = w->executed + budget;   /* native code adds its instructions to w->executed */
  const struct inst *i = w->pc;
  w->stop = WAVE_RUNNING;
  if ((host ^ w->mxcsr) & ~FLAGS) _mm_setcsr(w->mxcsr);
  do {
    handler_fn run = __atomic_load_n(&i->run, __ATOMIC_ACQUIRE);
    if (__builtin_expect(budget == 1, 0)) run = native_original(w->wg->run, i) ?: run;
    if (__builtin_expect(!run, 0)) {
      _mm_setcsr(host);
      run = code_decode(w, i);
      _mm_setcsr(w->mxcsr);
    }
    i = run(w, i);
    steps++;
  } while (i && w->executed + steps < limit);
  if ((host ^ w->mxcsr) & ~FLAGS) _mm_setcsr(host);
  w->executed += steps;
  if (i) {
    w->pc = i;
    w->stop = WAVE_RUNNING;
  }
}

/* The build's vector registers: the compiler splits longer vectors into parts of 16 bytes. */
#if defined __AVX512F__
enum { PART = 64 };
#elif defined __AVX2__
enum { PART = 32 };
#else
enum { PART = 16 };
#endif
typedef uint32_t part __attribute__((vector_size(PART), may_alias));
enum { PARTS = W * 4 / PART };   /* of a row */

static inline void clear(part *row) {
#pragma GCC unroll PARTS
  for (unsigned k = 0; k < PARTS; k++) row[k] = (part){0};
}

/* Loops over vector registers: for these lengths, calling the C library takes longer than the copy. */
static void start_registers(struct wave *w, const uint32_t *s, const uint32_t *ids, unsigned n, unsigned rows,
                            unsigned accumulation) {
  part *scalar = (part *)__builtin_assume_aligned(w->s, 64);
  const part *first = (const part *)__builtin_assume_aligned(s, 64);
#pragma GCC unroll START_DWORDS
  for (unsigned k = 0; k < START_DWORDS * 4 / PART; k++) scalar[k] = first[k];
  part *to = (part *)__builtin_assume_aligned(w->v, 64);
  const part *from = (const part *)__builtin_assume_aligned(ids, 64);
  for (unsigned k = 0; k < n * PARTS; k++) to[k] = from[k];
  for (unsigned k = n; k < rows; k++) clear(to + k * PARTS);
  for (unsigned k = 256; k < 256 + accumulation; k++) clear(to + k * PARTS);
}

#include "handler_table.h"

void VG(weak_lanes)(struct wave *w, const struct inst *i, const uint64_t *p, uint64_t lanes, unsigned access, unsigned kind,
                    unsigned bits, bool returns);

const struct build VG(build) = {
  .level = LEVEL_NAME,
  .lanes = W,
  .handlers = VG(handlers),
  .vopd = VOPD_HANDLER,
  .run_wave = run_wave,
  .start_wave = VG(mode_changed),
  .start_registers = start_registers,
  .weak_lanes = VG(weak_lanes),
};
