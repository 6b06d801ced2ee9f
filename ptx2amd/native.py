"""Build the native half: the libcuda shim and the software AMD GPU, into ptx2amd/_native/.

`python -m ptx2amd.native [vgpu|shim]`. Objects are rebuilt when their sources, or the flags, changed.
"""
