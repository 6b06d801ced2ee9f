"""Target: the chip and mapping for which one kernel is compiled."""

from __future__ import annotations

from ptx2amd.errors import Ptx2amdError
from ptx2amd.interface.kernel import MAPPINGS
from ptx2amd.records import dataclass
from ptx2amd.target.arch import Arch, arch

MATRIX = ("chip", "fast", "software")
PADDED_BLOCK = 512  # threads: twice as many lanes make up a workgroup of 1024


class WrongMapping(Ptx2amdError, ValueError):
    """An unknown warp mapping, or one that needs a wave width that the chip lacks."""


@dataclass(frozen=True, slots=True)
class Target:
    """An architecture and how warps of 32 threads lie on its waves.

    mapping "native": a wave is a warp (wave32); "paired": a wave holds two warps (wave64); "padded": a wave holds one
    warp in its lower half, the other lanes are off (wave64). matrix: "chip": matrix products use the chip's
    instructions where they are exact; "fast": also where they flush subnormal numbers; "software"."""

    arch: Arch
    mapping: str
    matrix: str = "chip"

    @property
    def wave_size(self) -> int:
        """Lanes of a wave: 32 or 64."""
        return 32 if self.mapping == "native" else 64

    @property
    def paired(self) -> bool:
        return self.mapping == "paired"

    @property
    def padded(self) -> bool:
        return self.mapping == "padded"

    @property
    def max_block(self) -> int:
        """The maximum number of threads in a block."""
        return PADDED_BLOCK if self.padded else 1024


def target(name: str, mapping: str = "", matrix: str = "") -> Target:
    """The target for an architecture name, by default in the mapping of its default wave size.

    Raises UnknownArch; WrongMapping."""
    found = arch(name)
    chosen = mapping or ("native" if 32 in found.waves else "paired")
    if chosen not in MAPPINGS:
        raise WrongMapping(f"unknown warp mapping {chosen!r}; known: {', '.join(MAPPINGS)}")
    result = Target(found, chosen, matrix or "chip")
    if result.wave_size not in found.waves:
        raise WrongMapping(f"{name} has no waves of {result.wave_size} lanes, which mapping {chosen!r} needs")
    return result
