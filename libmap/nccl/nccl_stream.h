/* What the functions of libnccl share (nccl.c). */
#ifndef NCCL_STREAM_H
#define NCCL_STREAM_H
#include "nccl_api.h"
#include "nccl_table.h"

/* HIP's stream; false: it is none, or there is no RCCL. */
bool nccl_stream(cudaStream_t stream, hipStream_t *found);
/* RCCL's communicator, which is the same; false: there is none. */
static inline bool nccl_comm(ncclComm_t comm, ncclComm_t *found) { return (*found = comm) != NULL; }
/* Whether a communicator's GPU computes with numbers of the type as NVIDIA's do; else it was said. */
bool nccl_computes(ncclDataType_t type, ncclComm_t comm);
#endif
