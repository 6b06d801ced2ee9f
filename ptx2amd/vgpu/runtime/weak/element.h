/* Elements of memory that handlers access one at a time, as the weak-memory mode has them (weak_element.c). */
#ifndef PTX2AMD_VGPU_ELEMENT_H
#define PTX2AMD_VGPU_ELEMENT_H
#include "wave.h"

/* Where the element of a load is read, that of a store written: up to 16 bytes, before the next call. */
void *weak_element(struct wave *w, uint64_t address, unsigned bytes, bool store);
/* Whether the handler runs for the elements' addresses alone. */
bool weak_asks(const struct wave *w);

static inline void *element(struct wave *w, uint64_t address, unsigned bytes, bool store) {
  return __builtin_expect(w->weak != NULL, 0) ? weak_element(w, address, bytes, store) : (void *)(uintptr_t)address;
}
#endif
