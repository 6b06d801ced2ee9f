"""Occupancy: how many waves of a kernel a SIMD of a chip holds at a time, and what limits it. chip_blocks of the
software GPU (vgpu/runtime/hip/hip_chip.c) computes the same for launches."""

from __future__ import annotations

from ptx2amd.records import dataclass
from ptx2amd.target import chips


@dataclass(frozen=True, slots=True)
class Occupancy:
    """waves: resident on a SIMD, of `most`; limit: what allows no more: "waves", "registers" or "LDS"; blocks: on a
    multiprocessor, of `threads` CUDA threads."""

    waves: float
    most: int
    limit: str
    blocks: int
    threads: int


def occupancy(chip: str, wave: int, vgprs: int, lds: int, threads: int, mapping: str) -> Occupancy:
    """Of a kernel with so many vector registers and bytes of LDS, in blocks of so many CUDA threads. mapping: how warps
    lie in waves."""
    table = chips.chips()[chip]
    parts = wave // table["waves"][0]  # a wave of 64 lanes on a chip of 32 takes the place of two
    lanes = threads * (2 if mapping == "padded" else 1)
    waves = max(-(-lanes // wave), 1)  # of a block
    granule, lds_granule = table["vgpr_granule"][wave == 64], table["lds_granule"]
    most = table["waves_per_simd"] // parts
    registers = table["vgprs_per_simd"] // parts // (max(-(-vgprs // granule), 1) * granule)
    blocks = {"waves": most * table["simds"] // waves, "registers": registers * table["simds"] // waves}
    if lds:
        blocks["LDS"] = table["lds_per_processor"] // (-(-lds // lds_granule) * lds_granule)
    limit = min(blocks, key=lambda name: blocks[name])
    resident = min(blocks[limit] * waves / table["simds"], most)
    return Occupancy(resident, most, limit, blocks[limit], threads)
