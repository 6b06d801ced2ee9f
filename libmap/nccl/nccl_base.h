/* What the declarations of libnccl stand on. */
#ifndef NCCL_BASE_H
#define NCCL_BASE_H
#include "libmap.h"
#include "nccl_types.h"
#endif
