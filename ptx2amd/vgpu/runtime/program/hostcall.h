/* Calls from kernels to the host, in the protocol of the compiler's device libraries (hostcall.c). */
#ifndef PTX2AMD_VGPU_HOSTCALL_H
#define PTX2AMD_VGPU_HOSTCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

/* The buffer for requests, created at first use; 0: out of memory. */
uint64_t hostcall_buffer(void);
/* The state of malloc in kernels, initially zero; 0: out of memory. */
uint64_t device_heap(struct device *d);

/* A request has a slot of eight words for each work-item; the answer is in the first two. */
void hostcall_message(uint64_t slot[8]);   /* hostcall_printf.c */
void hostcall_memory(uint64_t slot[8]);    /* device_heap.c */
#endif
