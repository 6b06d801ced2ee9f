/* Types and numbers of RCCL, which are NCCL's. */
#ifndef NCCL_TYPES_H
#define NCCL_TYPES_H
#include <stddef.h>

#include "hip_types.h"

typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow *ncclWindow_t;
typedef struct ncclConfig_t ncclConfig_t;
typedef struct ncclSimInfo_t ncclSimInfo_t;
typedef struct ncclUniqueId { char internal[128]; } ncclUniqueId;
typedef enum {
  ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument, ncclInvalidUsage,
  ncclRemoteError, ncclInProgress,
} ncclResult_t;
typedef int ncclDataType_t, ncclRedOp_t, ncclScalarResidence_t;
#endif
