/* Memcheck's checks of one lane's access. Memory outside of allocations is a fault with or without it; memcheck adds
 * exact bounds, alignment, and bytes that were never written. */
#include "tools.h"
#include "wave_events.h"

/* A dword (or a smaller element) counts as unwritten if none of its bytes was written: copies of structures include
 * padding. */
static bool any_unwritten(uint64_t address, unsigned bytes) {
  for (unsigned k = 0; k < bytes; k += 4)
    if (shadow_unwritten(address + k, bytes - k < 4 ? bytes - k : 4)) return true;
  return false;
}

static bool local_unwritten(const uint8_t *shadow, unsigned bytes) {
  for (unsigned k = 0; k < bytes; k += 4) {
    bool all = true;
    for (unsigned b = k; b < bytes && b < k + 4; b++) all &= shadow[b];
    if (all) return true;
  }
  return false;
}

/* PTX requires accesses aligned to their size; an access that LLVM merged from several may be less aligned. */
static bool misaligned(const struct wave *w, const struct inst *i, uint64_t address, unsigned bytes) {
  return (address & ((bytes & -bytes) - 1)) && tools_apart(w, i);
}

static bool global(struct wave *w, const struct inst *i, unsigned lane, uint64_t address, unsigned bytes, unsigned how) {
  uint64_t lo, hi;
  uint32_t flags;
  char near[160];
  bool inside = mem_range(address, &lo, &hi, &flags) && address + bytes <= hi - MEM_SLACK(flags);
  if (!inside) {
    wave_memory_fault(w, i, (int)lane, address, bytes, how & ACCESS_WRITES);
    return false;
  }
  if (misaligned(w, i, address, bytes))
    tools_report(w, i, (int)lane, "memcheck", "misaligned access", "%u bytes at 0x%llx", bytes, (unsigned long long)address);
  if ((how & ACCESS_READS) && any_unwritten(address, bytes) && !tools_helper(w, i))
    tools_report(w, i, (int)lane, "memcheck", "read of uninitialised memory", "%u bytes at 0x%llx, %s", bytes,
                 (unsigned long long)address, mem_describe(address, near, sizeof near));
  if (how & ACCESS_WRITES) shadow_mark(address, bytes, false);
  return true;
}

bool memcheck_access(struct wave *w, const struct inst *i, unsigned lane, enum access_space space, uint64_t address,
                     unsigned bytes, unsigned how) {
  struct group_shadow *s = w->wg->shadow;
  if (space == SPACE_GLOBAL) return global(w, i, lane, address, bytes, how);
  uint8_t *shadow;
  const char *name = space == SPACE_LDS ? "shared memory" : "local memory";
  if (space == SPACE_LDS) {
    if (address + bytes > s->lds_size) return true;   /* the handler raises the fault */
    shadow = s->lds + address;
  } else {
    uint64_t size = w->scratch_size;
    if (address + bytes > size) return true;
    shadow = s->scratch + ((uint64_t)w->index * w->wg->lanes + lane) * size + address;
  }
  if (misaligned(w, i, address, bytes))
    tools_report(w, i, (int)lane, "memcheck", "misaligned access", "%u bytes at offset 0x%llx of %s", bytes,
                 (unsigned long long)address, name);
  if ((how & ACCESS_READS) && local_unwritten(shadow, bytes) && !tools_helper(w, i))
    tools_report(w, i, (int)lane, "memcheck", "read of uninitialised memory", "%u bytes at offset 0x%llx of %s",
                 bytes, (unsigned long long)address, name);
  if (how & ACCESS_WRITES)
    for (unsigned k = 0; k < bytes; k++) shadow[k] = 0;
  return true;
}

/* Scalar loads are merged and widened by compilers: only a first dword without any written byte is reported. */
void memcheck_scalar(struct wave *w, const struct inst *i, uint64_t address, unsigned bytes) {
  char near[160];
  if (shadow_unwritten(address, 4) && !tools_helper(w, i))
    tools_report(w, i, -1, "memcheck", "read of uninitialised memory", "%u bytes at 0x%llx, %s", bytes,
                 (unsigned long long)address, mem_describe(address, near, sizeof near));
}
