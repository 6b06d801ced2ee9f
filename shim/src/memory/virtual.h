/* Virtual memory that the program reserved and mapped. */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include <stdbool.h>

#include "cuda_api.h"

bool handle_type_wrong(int types);
bool virtual_is_empty(CUdeviceptr at, size_t size); /* it begins in a reservation and is not all mapped */
#endif
