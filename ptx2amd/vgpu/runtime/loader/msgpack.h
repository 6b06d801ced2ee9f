/* A reader for the subset of MessagePack in code object metadata. Every function is safe on any input: after an error
 * `bad` is set and everything reads as zero. */
#ifndef PTX2AMD_VGPU_MSGPACK_H
#define PTX2AMD_VGPU_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msgpack {
  const uint8_t *at, *end;
  bool bad;
};

uint32_t msgpack_map(struct msgpack *m);       /* number of key-value pairs that follow */
uint32_t msgpack_array(struct msgpack *m);     /* number of elements that follow */
const char *msgpack_string(struct msgpack *m, size_t *length);   /* not NUL-terminated; "" on errors */
uint64_t msgpack_uint(struct msgpack *m);
bool msgpack_bool(struct msgpack *m);
void msgpack_skip(struct msgpack *m);          /* one value of any kind */
/* If the next value is a string equal to text, consumes it and returns true; otherwise consumes nothing. */
bool msgpack_is(struct msgpack *m, const char *text);
#endif
