"""Targets: AMDGPU architectures and warp mappings."""

from ptx2amd.target.arch import ARCHS, Arch, UnknownArch, arch
from ptx2amd.target.target import MAPPINGS, PADDED_BLOCK, Target, target

__all__ = ["ARCHS", "MAPPINGS", "PADDED_BLOCK", "Arch", "Target", "UnknownArch", "arch", "target"]
