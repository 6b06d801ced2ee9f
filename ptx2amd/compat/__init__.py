"""Compatibility testing: NVIDIA's compilers as tools, real CUDA programs as inputs."""
