/* Events that end or interrupt a wave: its end, barriers, yields, traps, faults; and hardware state registers. */
#include "wave.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xmmintrin.h>

#include "lines.h"
#include "memory.h"
#include "state.h"
#include "tools.h"
#include "wave_events.h"

uint64_t clock_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const struct inst *stop(struct wave *w, const struct inst *pc, enum wave_stop why) {
  w->pc = pc;
  w->stop = why;
  return NULL;
}

const struct inst *wave_end(struct wave *w, const struct inst *i) { return stop(w, i, WAVE_ENDED); }
const struct inst *wave_at_barrier(struct wave *w, const struct inst *i) { return stop(w, NEXT(i), WAVE_AT_BARRIER); }
const struct inst *wave_wait(struct wave *w, const struct inst *i) {
  if (i->imm != -1) return wave_other_barrier(w, i, i->imm);
  return wave_signal_pending(w) ? stop(w, NEXT(i), WAVE_AT_BARRIER) : NEXT(i);
}
const struct inst *wave_other_barrier(struct wave *w, const struct inst *i, int32_t barrier) {
  return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "barrier %d: only the workgroup's, -1, is implemented", barrier);
}
const struct inst *wave_yield(struct wave *w, const struct inst *i) { return stop(w, NEXT(i), WAVE_YIELDED); }

const struct inst *wave_stay(struct wave *w, const struct inst *i) { return stop(w, i, WAVE_YIELDED); }

const struct inst *wave_grid_barrier(struct wave *w, const struct inst *i, uint32_t waves) {
  _Atomic uint64_t *barrier = &w->wg->run->grid_barrier;
  if (!w->at_grid_barrier) {
    uint64_t now = atomic_load(barrier), next;
    do next = (uint32_t)now + 1 < waves ? now + 1 : ((now >> 32) + 1) << 32;
    while (!atomic_compare_exchange_weak(barrier, &now, next));
    w->changes++;
    if (!(uint32_t)next) return NEXT(i);   /* the last one */
    w->grid_phase = (uint32_t)(now >> 32);
    w->at_grid_barrier = true;
  } else if ((uint32_t)(atomic_load(barrier) >> 32) != w->grid_phase) {
    w->changes++;
    w->at_grid_barrier = false;
    return NEXT(i);
  }
  return wave_stay(w, i);
}

const struct inst *wave_halt(struct wave *w, const struct inst *i) {
  return wave_fault(w, i, FAULT_TRAP, -1, 0, "the wave halted itself");
}

const struct inst *wave_trap(struct wave *w, const struct inst *i) {
  enum { TRAP_ABORT = 2, TRAP_DEBUG = 3 };
  if ((i->imm & 0xff) == TRAP_DEBUG) return NEXT(i);   /* a breakpoint without a debugger */
  return wave_fault(w, i, FAULT_TRAP, -1, 0, "trap %d", i->imm & 0xff);
}

const struct inst *wave_jump(struct wave *w, const struct inst *i, uint64_t address) {
  const struct inst *target = code_at(w, address);
  if (!target) return wave_fault(w, i, FAULT_BAD_JUMP, -1, address, "jump to 0x%llx, outside the code", (unsigned long long)address);
  return target;
}

const struct inst *run_illegal(struct wave *w, const struct inst *i) {
  return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, -1, 0, "unknown instruction");
}

const struct inst *run_unimplemented(struct wave *w, const struct inst *i) {
  return wave_fault(w, i, FAULT_UNIMPLEMENTED, -1, 0, "instruction %s is not implemented", i->op ? i->op->name : "?");
}

const struct inst *run_bad_jump(struct wave *w, const struct inst *i) {
  return wave_fault(w, i, FAULT_BAD_JUMP, -1, 0, "execution leaves the code");
}

uint32_t special_operand(const struct wave *w, unsigned code) {
  uint64_t exec = w->s[S_EXEC], vcc = w->s[S_VCC];
  if (w->wg->lanes == 64) exec |= w->s[S_EXEC + 1], vcc |= w->s[S_VCC + 1];
  switch (code) {
  case 251: return vcc == 0;
  case 252: return exec == 0;
  default: return 0;
  }
}

static void (*_Atomic interrupt)(void);

void engine_on_interrupt(void (*handler)(void)) { atomic_store(&interrupt, handler); }

void wave_message(unsigned message) {
  enum { INTERRUPT = 1 };
  void (*handler)(void) = message == INTERRUPT ? atomic_load_explicit(&interrupt, memory_order_acquire) : NULL;
  if (!handler) return;
  unsigned csr = _mm_getcsr();   /* the handler must not use the wave's rounding and denormal modes */
  _mm_setcsr(_MM_MASK_MASK);
  handler();
  _mm_setcsr(csr);
}

uint64_t message_reply(struct wave *w, unsigned message) {
  enum { GET_REALTIME = 0x83 };
  (void)w;
  return message == GET_REALTIME ? clock_nanoseconds() / 10 : 0;
}

uint32_t hwreg_read(struct wave *w, const struct inst *i, unsigned field) {
  unsigned id = field & 63, offset = field >> 6 & 31, size = (field >> 11) + 1;
  bool gfx9 = i->op->generation == 0;
  uint32_t value = 0;
  const uint32_t *group = w->wg->id;
  switch (id) {
  case 1: value = w->mode; break;
  case 2: value = 1u << 16 | w->s[S_SCC]; break;                           /* STATUS: VALID, SCC */
  case 3: value = w->trapsts; break;
  case 4: case 23: value = w->index & 15; break;                           /* HW_ID, HW_ID1: wave slot */
  case 5: value = 0; break;
  case 6: value = (w->lds_size / 512) << 12; break;                        /* LDS_ALLOC */
  case 15: if (gfx9) value = 0x00010002; break;                            /* SH_MEM_BASES: shared, private */
  case 20: if (gfx9) value = group[0] & 7; break;                          /* XCC_ID */
  case 29: value = (uint32_t)clock_nanoseconds() & 0xfffff; break;         /* SHADER_CYCLES */
  default: break;
  }
  return (value >> offset) & (size == 32 ? UINT32_MAX : (1u << size) - 1);
}

const struct inst *set_mode(struct wave *w, const struct inst *i, uint32_t mask, uint32_t value) {
  w->mode = (w->mode & ~mask) | (value & mask);
  w->wg->run->build->start_wave(w);
  _mm_setcsr(w->mxcsr);
  return NEXT(i);
}

const struct inst *hwreg_write(struct wave *w, const struct inst *i, unsigned field, uint32_t value) {
  unsigned id = field & 63, offset = field >> 6 & 31, size = (field >> 11) + 1;
  uint32_t mask = (size == 32 ? UINT32_MAX : (1u << size) - 1) << offset;
  if (id == 1) return set_mode(w, i, mask, value << offset);
  if (id == 3) w->trapsts = (w->trapsts & ~mask) | (value << offset & mask);
  return NEXT(i);
}

const char *fault_kind_name(enum fault_kind kind) {
  static const char *const names[] = {
    [FAULT_NONE] = "no fault", [FAULT_ILLEGAL_INSTRUCTION] = "illegal instruction",
    [FAULT_UNIMPLEMENTED] = "unimplemented instruction", [FAULT_MEMORY] = "memory access fault",
    [FAULT_MISALIGNED] = "misaligned access", [FAULT_LDS] = "LDS address out of range",
    [FAULT_SCRATCH] = "scratch address out of range", [FAULT_TRAP] = "trap", [FAULT_DEADLOCK] = "deadlock",
    [FAULT_RUNAWAY] = "instruction limit reached", [FAULT_BAD_LAUNCH] = "bad launch", [FAULT_BAD_JUMP] = "bad jump",
    [FAULT_REGISTER] = "register out of range",
  };
  return names[kind];
}

void run_fault(struct run *run, enum fault_kind kind, const char *text) {
  pthread_mutex_lock(&run->fault_lock);
  if (run->fault->kind == FAULT_NONE) {
    struct fault *f = run->fault;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->lane = -1;
    snprintf(f->kernel, sizeof f->kernel, "%s", run->d->kernel ? run->d->kernel : "?");
    snprintf(f->text, sizeof f->text, "%s: kernel %.200s: %s", fault_kind_name(kind), f->kernel, text);
  }
  pthread_mutex_unlock(&run->fault_lock);
  atomic_store(&run->stop, 1);
}

/* The coordinates of a lane's thread. In the padded mapping the workgroup is twice the CUDA block in x, and each wave's
 * lower half holds a warp. */
static void work_item(const struct wave *w, int lane, uint32_t out[3]) {
  const struct workgroup *g = w->wg;
  uint32_t n = w->index * g->lanes + (lane < 0 ? 0 : (uint32_t)lane), x = g->size[0];
  if (g->run->d->padded) {
    n = (n >> 1 & ~31u) | (n & 31);
    x = x / 2 ? x / 2 : 1;
  }
  out[0] = n % x;
  out[1] = n / x % g->size[1];
  out[2] = n / x / g->size[1];
}

void wave_place(const struct wave *w, const struct inst *i, int lane, char *text, size_t size) {
  const struct run *run = w->wg->run;
  const uint32_t *id = w->wg->id;
  char place[320], who[64];
  uint32_t item[3];
  uint64_t at = (uint64_t)(i - run->entries), dwords = run->d->code->dwords;
  const uint32_t *words = (const uint32_t *)(uintptr_t)run->d->code->base;
  long long offset = (long long)(i - run->entry) * 4;
  work_item(w, lane, item);
  if (lane >= 0) snprintf(who, sizeof who, "thread (%u,%u,%u)", item[0], item[1], item[2]);
  else snprintf(who, sizeof who, "wave %u", w->index);
  lines_describe(run->d->code->lines, code_address(w, i), place, sizeof place);
  snprintf(text, size, "%s%sat %s0x%llx (%s%s%08x %08x), block (%u,%u,%u) %s", place, place[0] ? ", " : "",
           offset < 0 ? "-" : "+", offset < 0 ? -offset : offset, i->op ? i->op->name : "", i->op ? ", " : "",
           at < dwords ? words[at] : 0, at + 1 < dwords && i->len > 1 ? words[at + 1] : 0, id[0], id[1], id[2], who);
}

const struct inst *wave_fault(struct wave *w, const struct inst *i, enum fault_kind kind, int lane, uint64_t address,
                              const char *format, ...) {
  struct run *run = w->wg->run;
  pthread_mutex_lock(&run->fault_lock);
  struct fault *f = run->fault;
  if (f->kind == FAULT_NONE) {
    memset(f, 0, sizeof *f);
    f->kind = kind;
    snprintf(f->kernel, sizeof f->kernel, "%s", run->d->kernel ? run->d->kernel : "?");
    f->pc_offset = (uint64_t)((i - run->entry) * 4);
    memcpy(f->workgroup, w->wg->id, sizeof f->workgroup);
    f->wave = w->index;
    f->lane = lane;
    f->address = address;
    if (i->op) snprintf(f->mnemonic, sizeof f->mnemonic, "%s", i->op->name);
    uint64_t at = (uint64_t)(i - run->entries);
    const uint32_t *words = (const uint32_t *)(uintptr_t)run->d->code->base;
    for (unsigned k = 0; k < 5 && at + k < run->d->code->dwords && (k < i->len || k == 0); k++) f->words[k] = words[at + k];
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    char where[560];
    wave_place(w, i, lane, where, sizeof where);
    snprintf(f->text, sizeof f->text, "%s: kernel %.120s: %s, %s", fault_kind_name(kind), f->kernel, what, where);
  }
  pthread_mutex_unlock(&run->fault_lock);
  atomic_store(&run->stop, 1);
  return stop(w, i, WAVE_FAULTED);
}

bool wave_may_stray(const struct wave *w) { return w->wg->run->d->code->may_stray && !tools()->memcheck; }

bool memory_window(struct wave *w, uint64_t address, struct mem_window *out) {
  uint32_t flags;
  (void)w;
  if (!mem_range(address, &out->lo, &out->hi, &flags)) return false;
  out->writable = !(flags & MEM_READONLY);
  return true;
}

const struct inst *wave_memory_fault(struct wave *w, const struct inst *i, int lane, uint64_t address, unsigned size,
                                     bool write) {
  char near[160];
  return wave_fault(w, i, FAULT_MEMORY, lane, address, "%s of %u bytes at 0x%llx (%s)", write ? "write" : "read", size,
                    (unsigned long long)address, mem_describe(address, near, sizeof near));
}
