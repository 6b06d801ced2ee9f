/* Calls from kernels to the host, as the compiler's device libraries make them (hostcall.c). */
#ifndef PTX2AMD_VGPU_HOSTCALL_H
#define PTX2AMD_VGPU_HOSTCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

/* The buffer for requests, made when first asked for; 0: out of memory. */
uint64_t hostcall_buffer(void);
/* What malloc in kernels keeps its books in, zeroed at first; 0: out of memory. */
uint64_t device_heap(struct device *d);

/* A slot of a request is one work-item's: eight words, of which the first two are the answer. */
void hostcall_message(uint64_t slot[8]);   /* hostcall_printf.c */
void hostcall_memory(uint64_t slot[8]);    /* device_heap.c */
#endif
