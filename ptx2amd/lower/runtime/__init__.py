"""The run-time environment of device code: special registers, printf, malloc, launches from kernels."""
