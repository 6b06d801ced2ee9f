/* A bit for every byte of the address space: set for device memory that was allocated and not written since. The map is
 * reserved, and uses memory only where bits have been set. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "tools.h"

#define SPACE_BITS 47

static uint8_t *map;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void reserve(void) {
  if (!tools()->memcheck) return;
  void *p = mmap(NULL, (size_t)1 << (SPACE_BITS - 3), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (p == MAP_FAILED) return;   /* no address space: memcheck runs without this check */
  map = p;
  madvise(p, (size_t)1 << (SPACE_BITS - 3), MADV_NOHUGEPAGE);
}

static bool ready(uint64_t address, uint64_t size) {
  pthread_once(&once, reserve);
  return map && address + size <= (uint64_t)1 << SPACE_BITS;
}

static void set_bits(uint64_t at, uint8_t bits, bool value) {
  if (value) __atomic_fetch_or(&map[at], bits, __ATOMIC_RELAXED);
  else if (__atomic_load_n(&map[at], __ATOMIC_RELAXED) & bits) __atomic_fetch_and(&map[at], (uint8_t)~bits, __ATOMIC_RELAXED);
}

void shadow_mark(uint64_t address, uint64_t size, bool unwritten) {
  if (!tools()->memcheck || !size || !ready(address, size)) return;
  uint64_t first = address / 8, last = (address + size) / 8;
  uint8_t head = (uint8_t)(0xff << address % 8), tail = (uint8_t)((1 << (address + size) % 8) - 1);
  if (first == last) {
    set_bits(first, head & tail, unwritten);
    return;
  }
  set_bits(first, head, unwritten);
  if (tail) set_bits(last, tail, unwritten);
  for (uint64_t k = first + 1; k < last; k++)
    if (map[k] != (unwritten ? 0xff : 0)) map[k] = unwritten ? 0xff : 0;
}

bool shadow_unwritten(uint64_t address, unsigned size) {
  if (!ready(address, size)) return false;
  for (unsigned k = 0; k < size; k++)
    if (!(__atomic_load_n(&map[(address + k) / 8], __ATOMIC_RELAXED) >> (address + k) % 8 & 1)) return false;
  return true;
}

void shadow_copy(uint64_t to, uint64_t from, uint64_t size) {
  if (!tools()->memcheck || !ready(to, size) || !ready(from, size)) return;
  if (to % 8 == from % 8)   /* runs of written bytes are the common case */
    for (; size >= 8 && from % 8 == 0; to += 8, from += 8, size -= 8)
      if (map[to / 8] != map[from / 8]) map[to / 8] = map[from / 8];
  for (uint64_t k = 0; k < size; k++) shadow_mark(to + k, 1, shadow_unwritten(from + k, 1));
}
