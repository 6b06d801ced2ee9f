"""What CUDA's device code finds around it: special registers, printf, malloc, launches from kernels."""
