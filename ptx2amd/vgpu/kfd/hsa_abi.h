/* Structures in memory shared by the ROCm runtime and a GPU: signals, queues and packets (HSA 1.2 and AMD's
 * extensions). */
#ifndef PTX2AMD_KFD_HSA_ABI_H
#define PTX2AMD_KFD_HSA_ABI_H
#include <stdatomic.h>
#include <stdint.h>

/* amd_signal_t */
struct signal {
  int64_t kind;
  _Atomic int64_t value;
  uint64_t mailbox;              /* address to which event_id is written; 0: no event */
  uint32_t event_id, reserved;
  uint64_t start, end;           /* ticks */
};

/* amd_queue_t: its address is the queue pointer of kernels. */
enum {
  QUEUE_WRITE_INDEX = 0x38,
  QUEUE_READ_INDEX = 0x80,
  QUEUE_INACTIVE_SIGNAL = 0xc0,
};
/* Codes that the packet processor stores in the queue's inactive signal when it stops. */
#define QUEUE_INVALID_DIMENSION 0x2
#define QUEUE_INVALID_LDS 0x4
#define QUEUE_INVALID_CODE 0x8
#define QUEUE_INVALID_PACKET 0x20
#define QUEUE_APERTURE_VIOLATION 0x20000000
#define QUEUE_ILLEGAL_INSTRUCTION 0x40000000
#define QUEUE_EXCEPTION 0x80000000

enum { AQL_BYTES = 64 };
enum aql_type { AQL_VENDOR, AQL_INVALID, AQL_DISPATCH, AQL_BARRIER_AND, AQL_AGENT_DISPATCH, AQL_BARRIER_OR };
#define AQL_TYPE(header) ((enum aql_type)((header) & 0xff))
enum { VENDOR_PM4_IB = 1, VENDOR_BARRIER_VALUE = 2 };   /* third byte of vendor packets */

struct aql_dispatch {
  uint16_t header, setup, workgroup[3], reserved0;
  uint32_t grid[3];              /* work-items */
  uint32_t private_bytes, group_bytes;
  uint64_t kernel_object, kernarg, reserved1, completion;
};
struct aql_barrier {
  uint16_t header, reserved0;
  uint32_t reserved1;
  uint64_t signals[5], reserved2, completion;
};
struct aql_barrier_value {
  uint16_t header;
  uint8_t format, reserved0;
  uint32_t reserved1;
  uint64_t signal;
  int64_t value, mask;
  uint32_t condition, reserved2;
  uint64_t reserved3, reserved4, completion;
};
union aql_packet {
  _Atomic uint16_t header;
  struct { uint16_t header_; uint8_t format; } vendor;
  struct aql_dispatch dispatch;
  struct aql_barrier barrier;
  struct aql_barrier_value value;
  struct { uint64_t other[7], completion; } any;
};
_Static_assert(sizeof(union aql_packet) == AQL_BYTES, "a packet of an architected queue");
#endif
