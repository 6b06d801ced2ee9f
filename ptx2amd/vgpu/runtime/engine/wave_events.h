/* Functions that handlers call when a wave stops, jumps, or reads hardware state. */
#ifndef PTX2AMD_VGPU_WAVE_EVENTS_H
#define PTX2AMD_VGPU_WAVE_EVENTS_H

#include "wave.h"

const struct inst *wave_end(struct wave *w, const struct inst *i);
const struct inst *wave_at_barrier(struct wave *w, const struct inst *i);
/* The workgroup's split barrier: the wave's signal (true: the first of the phase), whether its phase is still open, and
 * the result of S_GET_BARRIER_STATE. Barrier -1 is the workgroup's; others end the launch with a fault. */
bool wave_signal(struct wave *w);
bool wave_signal_pending(const struct wave *w);
uint32_t wave_barrier_state(const struct wave *w);
const struct inst *wave_wait(struct wave *w, const struct inst *i);
const struct inst *wave_other_barrier(struct wave *w, const struct inst *i, int32_t barrier);
const struct inst *wave_yield(struct wave *w, const struct inst *i);
/* The same, and comes back to the instruction. */
const struct inst *wave_stay(struct wave *w, const struct inst *i);
const struct inst *wave_halt(struct wave *w, const struct inst *i);
const struct inst *wave_trap(struct wave *w, const struct inst *i);
const struct inst *wave_jump(struct wave *w, const struct inst *i, uint64_t address);

/* The barrier that counts waves of all workgroups: the wave continues when this many have arrived. */
const struct inst *wave_grid_barrier(struct wave *w, const struct inst *i, uint32_t waves);
/* S_SENDMSG: an interrupt calls the function registered with engine_on_interrupt. */
void wave_message(unsigned message);
/* The result of S_SENDMSG_RTN; the field that S_GETREG reads (id, offset, size - 1 as packed in SIMM16). */
uint64_t message_reply(struct wave *w, unsigned message);
uint32_t hwreg_read(struct wave *w, const struct inst *i, unsigned field);

/* Writes the bits of mask in MODE and applies them (rounding, denormals). */
const struct inst *set_mode(struct wave *w, const struct inst *i, uint32_t mask, uint32_t value);
/* S_SETREG. Registers that user code cannot change keep their value. */
const struct inst *hwreg_write(struct wave *w, const struct inst *i, unsigned field, uint32_t value);

uint64_t code_address(const struct wave *w, const struct inst *i);
uint64_t clock_nanoseconds(void);

/* Whether out-of-range LDS accesses are dropped; otherwise they are faults. */
bool wave_may_stray(const struct wave *w);
/* The allocation around address; false: none. */
bool memory_window(struct wave *w, uint64_t address, struct mem_window *out);
const struct inst *wave_memory_fault(struct wave *w, const struct inst *i, int lane, uint64_t address, unsigned size,
                                     bool write);
#endif
