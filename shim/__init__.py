"""The libcuda shim: the CUDA driver API over HIP (see docs/architecture.md)."""
