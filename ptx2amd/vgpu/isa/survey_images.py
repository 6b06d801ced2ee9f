"""Image and typed buffer instructions of each architecture: `python -m ptx2amd.vgpu.isa.survey_images >> opcodes.tsv`.

Their operands depend on the operation, so this works in the opposite direction of survey.py: every name generated from
a table of suffixes is assembled with some choices of operands (LLVM 22, the wheel ziglang), and the number is read from
the machine code.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from ptx2amd.vgpu.isa import encoding

_PLAIN = ("load", "load_mip", "load_pck", "load_pck_sgn", "load_mip_pck", "load_mip_pck_sgn", "store", "store_mip",
          "store_pck", "store_mip_pck", "get_resinfo", "msaa_load")  # fmt: skip
_BVH = ("bvh_intersect_ray", "bvh64_intersect_ray", "bvh_dual_intersect_ray", "bvh8_intersect_ray")
_ATOMICS = (
    "swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec", "fcmpswap",
    "fmin", "fmax", "add_uint", "sub_uint", "min_int", "min_uint", "max_int", "max_uint", "inc_uint", "dec_uint",
    "add_flt", "min_num_flt", "max_num_flt", "min_flt", "max_flt", "pk_add_f16", "pk_add_bf16",
)  # fmt: skip


def _suffixes(lods: tuple[str, ...], last: tuple[str, ...]) -> list[str]:
    return [c + lod + cl + o + g for c in ("", "_c") for lod in lods for cl in ("", "_cl") for o in ("", "_o")
            for g in last]  # fmt: skip


SAMPLES = [
    *(f"sample{s}" for s in _suffixes(("", "_d", "_cd", "_l", "_b", "_lz"), ("", "_g16"))),
    *(f"gather4{s}" for s in _suffixes(("", "_l", "_b", "_lz"), ("",))), "gather4h", "get_lod",
]  # fmt: skip
NAMES = [*_PLAIN, *_BVH, *(f"atomic_{a}" for a in _ATOMICS), *SAMPLES]
TYPED = [
    f"tbuffer_{k}_{d}format_{x}" for k in ("load", "store") for d in ("", "d16_") for x in ("x", "xy", "xyz", "xyzw")
]
TYPED += [name.replace("d16_format", "format_d16") for name in TYPED if "d16" in name]


def _rows(first: int, n: int) -> str:
    return f"v{first}" if n == 1 else f"v[{first}:{first + n - 1}]"


def _addresses(arch: str, n: int, separate: int) -> str:
    """n rows: consecutive, or on GFX12 separate except those after the first few."""
    if not arch.startswith("gfx12"):
        return _rows(8, n)
    alone = min(n, separate - 1)
    rest = [_rows(20, n - alone)] if n > alone else []
    return "[" + ", ".join([*(f"v{8 + 2 * k}" for k in range(alone)), *rest]) + "]"


def _tries(arch: str, name: str) -> list[str]:
    if name.startswith("tbuffer"):
        fmt = " dfmt:4, nfmt:4," if arch.startswith("gfx9") else ""
        return [f"{name} {_rows(4, n)}, v8, s[12:15],{fmt} s3 idxen" for n in (1, 2, 3, 4)]
    if name in _BVH:
        address = "[v10, v[12:14], v[16:18], v[20:22], v24]" if "64" in name else "[v10, v[12:14], v[16:18], v[20:22]]"
        flat = [f"image_{name} v[4:7], v[8:{7 + n}], s[12:15]" for n in (8, 9, 11, 12)]
        wide = f"image_{name} v[40:49], [v[10:11], v[12:13], v[16:18], v[20:22], v[24:25]], s[12:15]"
        return [*flat, wide, f"image_{name} v[4:7], {address}, s[12:15]"]
    sampled = name in SAMPLES
    dim = "" if arch.startswith("gfx9") else f" dim:SQ_RSRC_IMG_2D{'_MSAA' if 'msaa' in name else ''}"
    sampler = ", s[20:23]" if sampled else ""
    separate = 4 if sampled else 5
    return [
        f"image_{name} {_rows(4, n)}, {_addresses(arch, a, separate)}, s[12:19]{sampler} dmask:{mask:#x}{dim}"
        for mask, n in ((1, 1), (3, 2), (15, 4), (1, 4), (1, 2)) for a in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    ]  # fmt: skip


def _assemble(arch: str, lines: list[str]) -> dict[str, int]:
    """The first two dwords of each line that the assembler accepts."""
    taken = list(lines)
    while True:
        text = "\n".join([*(f"L{k}: {line}" for k, line in enumerate(taken)), f"L{len(taken)}:"])
        sizes = ".section .sizes\n" + "\n".join(f".long L{k}" for k in range(len(taken)))
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "x.s"), Path(folder, "x.bin")
            source.write_text(f"{text}\n{sizes}\n")
            command = [sys.executable, "-m", "ziglang", "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c"]
            done = subprocess.run([*command, str(source), "-o", str(target)], capture_output=True, text=True)
            if not done.returncode:
                code = _sections(target.read_bytes())[".text"]
                words = struct.unpack(f"<{len(code) // 4}I", code)
                break
        bad = {int(n) - 1 for n in re.findall(r"x\.s:(\d+):\d+: error", done.stderr)}
        taken = [line for k, line in enumerate(taken) if k not in bad]
    found, at = {}, 0
    sizes12 = {0x34: 3, 0x39: 3, 0x31: 3}
    for line in taken:
        found[line] = words[at] | words[at + 1] << 32
        top = words[at] >> 26
        if arch.startswith("gfx12"):
            at += sizes12[top]
        elif top == 0x3C and not arch.startswith("gfx9"):
            at += 2 + (words[at] >> 1 & 3 if arch.startswith("gfx10") else words[at] & 1)
        else:
            at += 2
    return found


def _sections(elf: bytes) -> dict[str, bytes]:
    (offset,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, offset + k * size) for k in range(count)]
    strings = heads[names][4]
    return {
        elf[strings + name : elf.index(b"\0", strings + name)].decode(): elf[at : at + n]
        for name, _, _, _, at, n in heads
    }


def survey(arch: str, generation: str) -> dict[tuple[str, str], int]:
    """(format, mnemonic) -> opcode of one architecture."""
    names = [(name, f"image_{name}") for name in NAMES] + [(name, name) for name in TYPED]
    tries = {full: _tries(arch, name) for name, full in names}
    words = _assemble(arch, [line for lines in tries.values() for line in lines])
    layouts = [x for x in encoding.layouts(generation) if x.name in ("MIMG", "VSAMPLE", "MTBUF", "MUBUF")]
    found: dict[tuple[str, str], int] = {}
    for full, lines in tries.items():
        word = next((words[line] for line in lines if line in words), None)
        if word is None:
            continue
        layout = next(x for x in layouts if word & 0xFFFFFFFF & x.mask == x.match)
        opcode = at = 0
        for part in ("op", "opm"):
            lo, n = layout.fields.get(part, (0, 0))
            opcode |= (word >> lo & ((1 << n) - 1)) << at
            at += n
        if (layout.name, opcode) not in [(fmt, taken) for (fmt, _), taken in found.items()]:  # else: an older name
            found[layout.name, full] = opcode
    return found


def main() -> None:
    tables = {arch: survey(arch, g) for arch, g in encoding.DECODERS.items() if g != "gfx125"}
    for key in dict.fromkeys(key for table in tables.values() for key in table):
        if key[0] != "MUBUF":  # GFX12's typed buffers: survey.py has them
            print("\t".join([*key, *(str(tables.get(arch, {}).get(key, "")) for arch in encoding.DECODERS)]))


if __name__ == "__main__":
    main()
