"""Generates the software GPU's tables of chips from ptx2amd/target/chips.toml: properties that affect execution
(engine/arch.c), those reported to programs (hip/hip_chip.c), the names of code objects (loader/loader.c), and the
driver's topology (kfd/gpus.c)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ptx2amd.target import chips
from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.op import GENERATIONS, generation_of

_NOTE = "/* Generated from ptx2amd/target/chips.toml. */\n"


def _struct(fields: dict[str, object]) -> str:
    return "    {" + ", ".join(f".{name} = {value}" for name, value in fields.items()) + "},\n"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _pair(values: list[int]) -> str:
    return f"{{{values[0]}, {values[1]}}}"


def arch_row(name: str, chip: dict[str, Any]) -> str:
    """One struct arch."""
    return _struct(
        {
            "name": f'"{name}"',
            "generation": GENERATIONS.index(generation_of(name)),
            "decode": f"decode_{chip['decoder']}",
            "wave_sizes": sum(lanes // 32 for lanes in chip["waves"]),
            "default_wave": chip["waves"][0],
            "packed_tid": _bool(chip["packed_tid"]),
            "architected_flat_scratch": _bool(chip["flat_scratch"]),
            "own_accumulators": _bool(chip["accumulators"] == "own"),
            "unified_vgprs": _bool(chip["accumulators"] == "unified"),
            "sram_ecc": _bool(chip["sram_ecc"]),
            "images": _bool(chip["images"]),
            "vgpr_granule": _pair(chip["vgpr_encoding"]),
            "ttmp_ids": _bool(chip["ttmp_ids"]),
            "lds_bytes": chip["lds"],
            "compute_units": chip["compute_units"],
        }
    )


def chip_row(name: str, chip: dict[str, Any]) -> str:
    """One struct chip."""
    machs = [chip["mach"]] + ([chips.chips()[chip["generic"]]["mach"]] if chip["generic"] else [])
    major, minor = chip["version"]
    return _struct(
        {
            "arch": f'"{name}"',
            "name": f'"{chip["product"]} (ptx2amd software GPU)"',
            "target": f'"{":".join([name, *chip["features"]])}"',
            "elf_mach": "{" + ", ".join(map(hex, machs)) + "}",
            "major": major,
            "minor": minor,
            "clock_khz": chip["clock"] * 1000,
            "memory_clock_khz": chip["memory_clock"] * 1000,
            "memory_bus_bits": chip["memory_bus"],
            "l2_bytes": chip["l2"] << 10,
            "simds": chip["simds"],
            "waves_per_simd": chip["waves_per_simd"],
            "vgprs_per_simd": chip["vgprs_per_simd"],
            "vgpr_granule_w32": chip["vgpr_granule"][0],
            "vgpr_granule_w64": chip["vgpr_granule"][1],
            "lds_per_processor": chip["lds_per_processor"],
            "lds_granule": chip["lds_granule"],
            "pci_device_id": hex(chip["pci_id"]),
        }
    )


def layout_row(name: str, chip: dict[str, Any]) -> str:
    """One struct layout."""
    return _struct(
        {
            "arch": f'"{name}"',
            "family": chip["family_id"],
            "arrays": chip["shader_arrays"],
            "arrays_per_engine": chip["arrays_per_engine"],
            "units_per_array": chip["units_per_array"],
            "sdma_engines": chip["sdma_engines"],
        }
    )


def header() -> str:
    """The text of chip_tables.h: a macro for the rows of each table."""

    def macro(name: str, rows: str) -> str:
        return f"#define {name} \\\n" + rows.rstrip("\n").replace("\n", " \\\n") + "\n"

    devices = chips.devices().items()
    parts = [
        _NOTE,
        macro("ARCH_ROWS", "".join(arch_row(name, chip) for name, chip in devices)),
        macro("CHIP_ROWS", "".join(chip_row(name, chip) for name, chip in devices)),
        macro("LAYOUT_ROWS", "".join(layout_row(name, chip) for name, chip in devices)),
        macro(
            "MACH_ROWS", "".join(f'    {{{chip["mach"]:#05x}, "{name}"}},\n' for name, chip in chips.chips().items())
        ),
        f'#define DEVICE_NAMES "{",".join(chips.devices())}"\n',
    ]
    return "".join(parts)


def write(outdir: Path) -> None:
    """Writes chip_tables.h and decoders.h into outdir, where their text has changed."""
    names = ", ".join(f"decode_{name}" for name in DECODERS)
    texts = {"chip_tables.h": header(), "decoders.h": f"{_NOTE}decode_fn {names};\n"}
    for path, text in ((outdir / name, text) for name, text in texts.items()):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
