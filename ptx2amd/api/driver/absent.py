"""Optional features that no device here has: the device attribute that reports them, and the hardware that offers them.

A function of such a feature (`Row.absent` names it) checks its arguments and returns the error that NVIDIA's manual
specifies for a device without it. It prints nothing, because programs probe for these features.
"""

#: Feature -> (the device attribute that reads 0, with its number; without one, 0), and what it is.
FEATURES = {
    "multicast": (132, "MULTICAST_SUPPORTED: memory of several devices written at once, by a switch of NVLink"),
    "sparse arrays": (112, "SPARSE_CUDA_ARRAY_SUPPORTED: arrays with memory for a part of them"),
    "decompression": (136, "MEM_DECOMPRESS_ALGORITHM_MASK: units that decompress memory, of Blackwell"),
    "fabric": (128, "HANDLE_TYPE_FABRIC_SUPPORTED: memory of other nodes, over NVLink"),
    "logical endpoints": (153, "LOGICAL_ENDPOINT_UNICAST_SUPPORTED: windows into memory, over NVLink"),
    "compute in graphics": (138, "VULKAN_CIG_SUPPORTED: CUDA's work in a queue of Vulkan or Direct3D 12"),
    "custom storage": (0, "device memory of a process that is checkpointed, mapped into the one that saves it"),
    "NvSciSync": (0, "a library of NVIDIA's systems on a chip"),
    "WGL": (0, "OpenGL of Windows"),
}
