"""ptx2amd: unmodified CUDA programs on AMD GPUs, real or software."""

__version__ = "0.1.0"
