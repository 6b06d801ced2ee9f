/* BLAKE2b-256 (RFC 7693), unkeyed: names and checks cache entries. */
#ifndef SHIM_BLAKE2B_H
#define SHIM_BLAKE2B_H
#include <stddef.h>
#include <stdint.h>

struct blake2b { uint64_t h[8], count; unsigned char block[128]; size_t used; };

void blake2b_start(struct blake2b *b);
void blake2b_add(struct blake2b *b, const void *data, size_t size);
void blake2b_end(struct blake2b *b, unsigned char digest[32]);
void hex32(const unsigned char digest[32], char text[65]);
#endif
