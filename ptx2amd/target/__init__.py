"""Targets: AMDGPU architectures and warp mappings."""

from ptx2amd.interface.kernel import MAPPINGS
from ptx2amd.target.arch import ARCHS, Arch, UnknownArch, arch
from ptx2amd.target.target import MATRIX, PADDED_BLOCK, Target, target

__all__ = ["ARCHS", "MAPPINGS", "MATRIX", "PADDED_BLOCK", "Arch", "Target", "UnknownArch", "arch", "target"]
