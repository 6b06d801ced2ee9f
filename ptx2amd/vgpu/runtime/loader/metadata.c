/* Kernels as described in a code object's metadata note (MessagePack, AMDGPU note type 32). */
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "msgpack.h"

static const struct { const char *name; enum arg_kind kind; } hidden[] = {
    {"hidden_block_count_x", ARG_BLOCK_COUNT_X}, {"hidden_block_count_y", ARG_BLOCK_COUNT_Y},
    {"hidden_block_count_z", ARG_BLOCK_COUNT_Z}, {"hidden_group_size_x", ARG_GROUP_SIZE_X},
    {"hidden_group_size_y", ARG_GROUP_SIZE_Y},   {"hidden_group_size_z", ARG_GROUP_SIZE_Z},
    {"hidden_remainder_x", ARG_REMAINDER_X},     {"hidden_remainder_y", ARG_REMAINDER_Y},
    {"hidden_remainder_z", ARG_REMAINDER_Z},     {"hidden_grid_dims", ARG_GRID_DIMS},
    {"hidden_dynamic_lds_size", ARG_DYNAMIC_LDS_SIZE},
    {"hidden_private_base", ARG_PRIVATE_BASE},   {"hidden_shared_base", ARG_SHARED_BASE},
    {"hidden_hostcall_buffer", ARG_HOSTCALL_BUFFER}, {"hidden_heap_v1", ARG_HEAP},
    {"hidden_multigrid_sync_arg", ARG_GRID_SYNC},
};

static enum arg_kind arg_kind_of(struct msgpack *m) {
  for (size_t k = 0; k < sizeof hidden / sizeof *hidden; k++)
    if (msgpack_is(m, hidden[k].name)) return hidden[k].kind;
  size_t n;
  const char *s = msgpack_string(m, &n);
  return n >= 7 && !memcmp(s, "hidden_", 7) ? ARG_HIDDEN_NONE : ARG_VALUE;
}

static struct kernel_arg read_arg(struct msgpack *m) {
  struct kernel_arg arg = {0};
  for (uint32_t left = msgpack_map(m); left > 0 && !m->bad; left--) {
    if (msgpack_is(m, ".offset")) arg.offset = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".size")) arg.size = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".value_kind")) arg.kind = arg_kind_of(m);
    else {
      msgpack_skip(m);
      msgpack_skip(m);
    }
  }
  return arg;
}

/* Explicit arguments first, in order; arguments outside of the segment are malformed. */
static void read_args(struct msgpack *m, struct kernel_info *k) {
  uint32_t n = msgpack_array(m);
  if (m->bad || n > (size_t)(m->end - m->at)) {   /* an argument has at least one byte */
    m->bad = true;
    return;
  }
  struct kernel_arg *all = calloc(n + 1u, sizeof *all), *sorted = calloc(n + 1u, sizeof *all);
  if (!all || !sorted) m->bad = true;
  for (uint32_t i = 0; i < n && !m->bad; i++) all[i] = read_arg(m);
  if (!m->bad) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++)
      if (all[i].kind == ARG_VALUE) sorted[at++] = all[i];
    k->explicit_count = at;
    for (uint32_t i = 0; i < n; i++)
      if (all[i].kind != ARG_VALUE) sorted[at++] = all[i];
    k->arg_count = n;
    k->has_args = true;
    free(k->args);
    k->args = sorted;
    sorted = NULL;
  }
  free(all);
  free(sorted);
}

static char *read_name(struct msgpack *m) {
  size_t n;
  const char *s = msgpack_string(m, &n);
  char *name = malloc(n + 1);
  if (!name) return NULL;
  memcpy(name, s, n);
  name[n] = 0;
  return name;
}

static void read_kernel(struct msgpack *m, struct kernel_info *k) {
  k->max_flat = 1024;
  for (uint32_t left = msgpack_map(m); left > 0 && !m->bad; left--) {
    if (msgpack_is(m, ".symbol")) {
      /* The function's name is the descriptor's without ".kd"; .name is the name in the source. */
      free(k->name);
      k->name = read_name(m);
      size_t n = k->name ? strlen(k->name) : 0;
      if (n > 3 && !strcmp(k->name + n - 3, ".kd")) k->name[n - 3] = 0;
    } else if (msgpack_is(m, ".kernarg_segment_size")) k->kernarg_size = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".group_segment_fixed_size")) k->group_size = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".private_segment_fixed_size")) k->private_size = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".wavefront_size")) k->wavefront = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".max_flat_workgroup_size")) k->max_flat = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".sgpr_count")) k->sgprs = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".vgpr_count")) k->vgprs = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".agpr_count")) k->agprs = (uint32_t)msgpack_uint(m);
    else if (msgpack_is(m, ".uses_dynamic_stack")) k->dynamic_stack = msgpack_bool(m);
    else if (msgpack_is(m, ".args")) read_args(m, k);
    else if (msgpack_is(m, ".reqd_workgroup_size")) {
      uint32_t n = msgpack_array(m);
      for (uint32_t i = 0; i < n && !m->bad; i++) {
        uint32_t v = (uint32_t)msgpack_uint(m);
        if (i < 3) k->required_block[i] = v;
      }
    } else {
      msgpack_skip(m);
      msgpack_skip(m);
    }
  }
  for (uint32_t i = 0; i < k->arg_count && !m->bad; i++) {
    uint64_t end = (uint64_t)k->args[i].offset + k->args[i].size;
    if (end > k->kernarg_size) m->bad = true;
    if (i < k->explicit_count && end > k->explicit_size) k->explicit_size = (uint32_t)end;
  }
  if (!k->has_args) k->explicit_size = k->kernarg_size;
  if (!k->name || k->kernarg_size > 1u << 24) m->bad = true;
}

bool metadata_read(const uint8_t *note, size_t size, struct kernel_info **kernels, size_t *count) {
  struct msgpack m = {note, note + size, false};
  bool read = false;
  for (uint32_t left = msgpack_map(&m); left > 0 && !m.bad; left--) {
    if (read || !msgpack_is(&m, "amdhsa.kernels")) {
      msgpack_skip(&m);
      msgpack_skip(&m);
      continue;
    }
    uint32_t n = msgpack_array(&m);
    if (m.bad || n > (size_t)(m.end - m.at)) return false;
    struct kernel_info *all = realloc(*kernels, (*count + n + 1) * sizeof *all);
    if (!all) return false;
    *kernels = all;
    struct kernel_info *more = all + *count;
    memset(more, 0, (n + 1) * sizeof *more);
    *count += n;
    for (uint32_t k = 0; k < n && !m.bad; k++) read_kernel(&m, &more[k]);
    read = true;
  }
  return !m.bad;
}

void metadata_free(struct kernel_info *kernels, size_t count) {
  for (size_t k = 0; kernels && k < count; k++) {
    free(kernels[k].name);
    free(kernels[k].args);
  }
  free(kernels);
}
