/* Calls that handlers make when a wave stops, jumps, or asks for hardware state. */
#ifndef PTX2AMD_VGPU_WAVE_EVENTS_H
#define PTX2AMD_VGPU_WAVE_EVENTS_H

#include "wave.h"

const struct inst *wave_end(struct wave *w, const struct inst *i);
const struct inst *wave_at_barrier(struct wave *w, const struct inst *i);
/* The workgroup's split barrier: the wave's signal (true: the first of the phase), whether its phase is still open,
 * and S_GET_BARRIER_STATE's answer. Barrier -1 is the workgroup's; others end the launch with a fault. */
bool wave_signal(struct wave *w);
bool wave_signal_pending(const struct wave *w);
uint32_t wave_barrier_state(const struct wave *w);
const struct inst *wave_wait(struct wave *w, const struct inst *i);
const struct inst *wave_other_barrier(struct wave *w, const struct inst *i, int32_t barrier);
const struct inst *wave_yield(struct wave *w, const struct inst *i);
const struct inst *wave_halt(struct wave *w, const struct inst *i);
const struct inst *wave_trap(struct wave *w, const struct inst *i);
const struct inst *wave_jump(struct wave *w, const struct inst *i, uint64_t address);

/* The barrier that counts waves of all workgroups: the wave goes on when so many have come. */
const struct inst *wave_grid_barrier(struct wave *w, const struct inst *i, uint32_t waves);
/* S_SENDMSG: an interrupt goes to whom engine_on_interrupt named. */
void wave_message(unsigned message);
/* S_SENDMSG_RTN's answer; S_GETREG's value of a field (id, offset, size - 1 as SIMM16 packs them). */
uint64_t message_reply(struct wave *w, unsigned message);
uint32_t hwreg_read(struct wave *w, const struct inst *i, unsigned field);

/* Writes the bits of mask in MODE (and what follows from it: rounding, denormals). */
const struct inst *set_mode(struct wave *w, const struct inst *i, uint32_t mask, uint32_t value);
/* S_SETREG. Registers that user code cannot change keep their value. */
const struct inst *hwreg_write(struct wave *w, const struct inst *i, unsigned field, uint32_t value);

uint64_t code_address(const struct wave *w, const struct inst *i);
uint64_t clock_nanoseconds(void);

/* Whether accesses of LDS out of range are dropped; else they are faults. */
bool wave_may_stray(const struct wave *w);
/* The allocation around address; false: none. */
bool memory_window(struct wave *w, uint64_t address, struct mem_window *out);
const struct inst *wave_memory_fault(struct wave *w, const struct inst *i, int lane, uint64_t address, unsigned size,
                                     bool write);
#endif
