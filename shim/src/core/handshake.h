/* The digest that NVIDIA's runtime library expects from the driver at start-up. */
#ifndef SHIM_HANDSHAKE_H
#define SHIM_HANDSHAKE_H
#include <stddef.h>
#include <stdint.h>

struct handshake {
  uint32_t driver_version, version, process, thread;
  uint64_t runtime_table, check_table, check_function, seconds;
};
struct handshake_device { unsigned char uuid[16]; int32_t domain, bus, device; };

/* result: two 64-bit words. Returns 0 on success. */
int handshake(const struct handshake *about, const struct handshake_device *devices, int count, uint64_t result[2]);
/* HMAC with MD2 (RFC 1319; block and key of 16 bytes). */
void hmac_md2(const unsigned char key[16], const void *message, size_t size, unsigned char digest[16]);
#endif
