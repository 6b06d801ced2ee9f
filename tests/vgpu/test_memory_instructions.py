"""Memory instructions in every address space against a byte-wise reference in Python.

Protects: sizes, sign extension, D16 halves, offsets, scalar bases, the values and returns of all atomics, inactive
lanes, LDS and scratch layout, flat apertures; whole waves and partial ones, regular and random addresses.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from ptx2amd.vgpu.isa.flat import FLOAT_ATOMICS, INTEGER_ATOMICS, LOADS, STORES, atomic_rows
from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text

ARCHES = ["gfx942", "gfx1100"]
LANES = {"gfx942": 64, "gfx1100": 32}
SRAM_ECC = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
SIZE = 4096  # bytes of memory under test
PRIVATE = 64  # bytes of scratch per lane
M32, M64 = (1 << 32) - 1, (1 << 64) - 1

BYTES = {"U8": 1, "I8": 1, "U16": 2, "I16": 2, "D16_U8": 1, "D16_I8": 1, "D16": 2, "D16_HI_U8": 1, "D16_HI_I8": 1,
         "D16_HI": 2, "B32": 4, "B64": 8, "B96": 12, "B128": 16,
         "B8": 1, "B16": 2, "D16_HI_B8": 1, "D16_HI_B16": 2}  # fmt: skip

#: Address space -> how an instruction names its address. The dynamic part of the address is v1, a 32-bit offset.
SPACES = {
    "global": ("global", "v1, {data}s[8:9] offset:{k}"),
    "flat": ("flat", "v[2:3]{sep}{data}"),
    "flat_lds": ("flat", "v[2:3]{sep}{data}"),
    "flat_private": ("flat", "v[2:3]{sep}{data}"),
    "ds": ("ds", "v1{sep}{data} offset:{k}"),
    "scratch": ("scratch", "v1, {data}off offset:{k}"),
    "buffer": ("buffer", "{data}v1, s[16:19], 0 offen offset:{k}"),
}
OFFSET = 12  # bytes, the instructions' own
#: LDS and scratch are filled from memory before, and written back after the instruction.


def _copy(space: str, arch: str, back: bool) -> str:
    """Moves the memory under test into the address space (or back)."""
    lanes = LANES[arch]
    wide = "dwordx4" if arch == "gfx942" else "b128"
    ds = {"gfx942": ("ds_write_b128", "ds_read_b128")}.get(arch, ("ds_store_b128", "ds_load_b128"))
    lines = []
    if space in ("ds", "flat_lds"):
        for at in range(0, SIZE, lanes * 16):
            lines.append(f"v_lshlrev_b32 v20, 4, v0\nv_add_u32 v21, {at:#x}, v20" if arch == "gfx942" else
                         f"v_lshlrev_b32 v20, 4, v0\nv_add_nc_u32 v21, {at:#x}, v20")  # fmt: skip
            if back:
                lines += [
                    f"{ds[1]} v[24:27], v21",
                    "s_waitcnt lgkmcnt(0)",
                    f"global_store_{wide} v21, v[24:27], s[8:9]",
                ]
            else:
                lines += [f"global_load_{wide} v[24:27], v21, s[8:9]", "s_waitcnt vmcnt(0)", f"{ds[0]} v21, v[24:27]"]
    if space in ("scratch", "flat_private"):
        lines.append(f"v_mul_u32_u24 v20, {PRIVATE}, v0")
        for at in range(0, PRIVATE, 16):
            if back:
                lines += [f"scratch_load_{wide} v[24:27], off, off offset:{at}", "s_waitcnt vmcnt(0)",
                          f"global_store_{wide} v20, v[24:27], s[8:9] offset:{at}"]  # fmt: skip
            else:
                lines += [f"global_load_{wide} v[24:27], v20, s[8:9] offset:{at}", "s_waitcnt vmcnt(0)",
                          f"scratch_store_{wide} off, v[24:27], off offset:{at}"]  # fmt: skip
    return "\n".join(lines)


def _kernel(name: str, space: str, arch: str, instruction: str) -> str:
    """Arguments: registers in and out (8 dwords a lane: offset, data x 4, -; result), memory, mask."""
    wide = ("dwordx4", "dwordx2", "dword") if arch == "gfx942" else ("b128", "b64", "b32")
    exec_set = "s_mov_b64 exec, s[12:13]" if arch == "gfx942" else "s_mov_b32 exec_lo, s12"
    exec_all = "s_mov_b64 exec, -1" if arch == "gfx942" else "s_mov_b32 exec_lo, -1"
    add = (
        "v_add_co_u32 v2, vcc, s{0}, v1\nv_mov_b32 v3, s{1}\nv_addc_co_u32 v3, vcc, 0, v3, vcc"
        if arch == "gfx942"
        else "v_add_co_u32 v2, vcc_lo, s{0}, v1\nv_mov_b32 v3, s{1}\nv_add_co_ci_u32 v3, vcc_lo, 0, v3, vcc_lo"
    )
    bases = {
        "flat_lds": "s_mov_b64 s[14:15], src_shared_base\n" + add.format(14, 15),
        "flat_private": "s_mov_b64 s[14:15], src_private_base\n" + add.format(14, 15),
    }
    body = f"""
    s_load_{wide[0]} s[4:7], s[0:1], 0x0
    s_load_{wide[0]} s[8:11], s[0:1], 0x10
    s_waitcnt lgkmcnt(0)
    s_mov_b64 s[12:13], s[10:11]
    s_mov_b32 s16, s8
    s_mov_b32 s17, s9
    s_mov_b32 s18, {SIZE}
    s_mov_b32 s19, {"0x00020000" if arch == "gfx942" else "0x31016000"}
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v20, 5, v0
    global_load_{wide[2]} v1, v20, s[4:5]
    global_load_{wide[0]} v[4:7], v20, s[4:5] offset:4
    global_load_{wide[0]} v[8:11], v20, s[6:7]
    s_waitcnt vmcnt(0)
    {bases.get(space, add.format(8, 9))}
    {_copy(space, arch, False)}
    s_waitcnt lgkmcnt(0)
    {exec_set}
    {instruction}
    s_waitcnt vmcnt(0) lgkmcnt(0)
    {exec_all}
    {_copy(space, arch, True)}
    v_lshlrev_b32 v20, 5, v0
    global_store_{wide[0]} v20, v[8:11], s[6:7]
    """
    lds = SIZE if space in ("ds", "flat_lds") else 0
    private = PRIVATE if space in ("scratch", "flat_private") else 0
    return kernel_text(body, arch, name=name, kernarg=40, lds=lds, private=private, vgprs=40, sgprs=32)


def _registers(first: int, bits: int) -> str:
    return f"v{first}" if bits <= 32 else f"v[{first}:{first + bits // 32 - 1}]"


class Case:
    """One instruction in one space: its text, and what it does to a lane's register and bytes of memory."""

    def __init__(self, space: str, arch: str, kind: str, name: str, apply: Callable[..., None], size: int) -> None:
        self.space, self.arch, self.kind, self.apply, self.size = space, arch, kind, apply, size
        self.atomic = kind.startswith("atomic")
        prefix, form = SPACES[space]
        text = f"{prefix}_{name}"
        result = _registers(8, max(size * 8, 32))
        data = ""
        if kind == "load" and space == "buffer":
            data = f"{result}, "
        elif kind == "load":
            text += f" {result},"
        elif kind == "store":
            data = _registers(4, max(size * 8, 32))
        else:
            two = "cmpswap" in name or "cmpst" in name
            data = _registers(4, size * 8 * (2 if two and space != "ds" else 1))
            if two and space == "ds":
                data += ", " + _registers(6, size * 8)
            if kind == "atomic_return" and space not in ("buffer",):
                text += f" {result},"
        if space == "buffer" and kind == "atomic_return":
            data = data.replace("v4", "v8").replace("v[4:", "v[8:")  # the register is both
            data = _registers(8, size * 8 * (2 if "cmpswap" in name else 1))
        sep = ", " if data else ""
        if space in ("global", "scratch", "buffer") and data and not data.endswith(", "):
            data += ", "
        text += " " + form.format(data=data, sep=sep, k=OFFSET)
        if kind == "atomic_return" and space != "ds":
            text += " sc0" if arch == "gfx942" else " glc"
        self.text = text
        self.in_place = space == "buffer" and kind == "atomic_return"
        self.offset = OFFSET if "offset" in form else 0


def _load(kind: str, arch: str) -> Callable[..., None]:
    low, high = (0, 0) if arch in SRAM_ECC else (0xFFFF, 0xFFFF0000)  # what loads of a half keep

    def f(registers: list[int], data: list[int], memory: bytearray, at: int) -> None:
        raw = memory[at : at + BYTES[kind]]
        value = int.from_bytes(raw, "little", signed=kind in ("I8", "I16", "D16_I8", "D16_HI_I8"))
        if "D16_HI" in kind:
            registers[0] = registers[0] & low | (value & 0xFFFF) << 16
        elif "D16" in kind:
            registers[0] = registers[0] & high | value & 0xFFFF
        else:
            for k in range(max(1, BYTES[kind] // 4)):
                registers[k] = value >> 32 * k & M32

    return f


def _store(kind: str) -> Callable[..., None]:
    def f(registers: list[int], data: list[int], memory: bytearray, at: int) -> None:
        n = BYTES[kind]
        value = sum(d << 32 * k for k, d in enumerate(data)) >> (16 if "HI" in kind else 0)
        memory[at : at + n] = (value & ((1 << 8 * n) - 1)).to_bytes(n, "little")

    return f


def _signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def _f(x: int, bits: int) -> float:
    return struct.unpack("<f" if bits == 32 else "<d", x.to_bytes(bits // 8, "little"))[0]


def _b(x: float, bits: int) -> int:
    f = np.float32(x) if bits == 32 else np.float64(x)
    return int.from_bytes(f.tobytes(), "little")


def _half_add(a: int, b: int) -> int:
    with np.errstate(all="ignore"):
        return int((np.uint16(a).view(np.float16) + np.uint16(b).view(np.float16)).view(np.uint16))


def _bf16_add(a: int, b: int) -> int:
    x = _b(np.float32(_f(a << 16, 32)) + np.float32(_f(b << 16, 32)), 32)
    return x + 0x7FFF + (x >> 16 & 1) >> 16 & 0xFFFF


ATOMIC = {
    "SWAP": lambda o, s, t, n: s, "CMPSWAP": lambda o, s, t, n: s if o == t else o, "ADD": lambda o, s, t, n: o + s,
    "SUB": lambda o, s, t, n: o - s, "RSUB": lambda o, s, t, n: s - o, "CSUB": lambda o, s, t, n: max(o - s, 0),
    "MIN_I": lambda o, s, t, n: min(o, s, key=lambda x: _signed(x, n)),
    "MAX_I": lambda o, s, t, n: max(o, s, key=lambda x: _signed(x, n)), "MIN_U": lambda o, s, t, n: min(o, s),
    "MAX_U": lambda o, s, t, n: max(o, s), "AND": lambda o, s, t, n: o & s, "OR": lambda o, s, t, n: o | s,
    "XOR": lambda o, s, t, n: o ^ s, "INC": lambda o, s, t, n: 0 if o >= s else o + 1,
    "DEC": lambda o, s, t, n: s if o == 0 or o > s else o - 1, "MSKOR": lambda o, s, t, n: o & ~s | t,
    "WRAP": lambda o, s, t, n: o - s if o >= s else o + t,
    "CMPSWAP_F": lambda o, s, t, n: s if _f(o, n) == _f(t, n) else o,
    "ADD_F": lambda o, s, t, n: _b(np.float64(_f(o, n)) + np.float64(_f(s, n)), n),
    "MIN_F": lambda o, s, t, n: _b(min(_f(o, n), _f(s, n)), n),
    "MAX_F": lambda o, s, t, n: _b(max(_f(o, n), _f(s, n)), n),
    "PK_ADD_F16": lambda o, s, t, n: _half_add(o & 0xFFFF, s & 0xFFFF) | _half_add(o >> 16, s >> 16) << 16,
    "PK_ADD_BF16": lambda o, s, t, n: _bf16_add(o & 0xFFFF, s & 0xFFFF) | _bf16_add(o >> 16, s >> 16) << 16,
}  # fmt: skip


def _atomic(op: str, bits: int, returns: bool, second: str) -> Callable[..., None]:
    """second: where the comparand is: "next" register after the data, "other" operand, "first": before it."""
    f = ATOMIC[op]

    def run(registers: list[int], data: list[int], memory: bytearray, at: int) -> None:
        n = bits // 8
        words = bits // 32
        take = lambda k: sum(data[k + j] << 32 * j for j in range(words) if k + j < len(data))  # noqa: E731
        s, t = take(0), take(words if second == "next" else 2)
        if second == "first":
            s, t = t, s
        old = int.from_bytes(memory[at : at + n], "little")
        memory[at : at + n] = (f(old, s, t, bits) & ((1 << bits) - 1)).to_bytes(n, "little")
        if returns:
            for j in range(words):
                registers[j] = old >> 32 * j & M32

    return run


#: Space -> instructions' prefix and format.
FORMATS = {"global": ("global", "GLOBAL"), "buffer": ("buffer", "MUBUF"), "flat": ("flat", "FLAT"),
           "flat_lds": ("flat", "FLAT"), "flat_private": ("flat", "FLAT")}  # fmt: skip


def _cases(space: str, arch: str) -> list[Case]:
    gfx9 = arch == "gfx942"
    cases = []
    if space == "ds":
        return _ds_cases(arch)
    for new, old, kind, _ in LOADS:
        cases.append(Case(space, arch, "load", old if gfx9 else new, _load(kind[5:], arch), BYTES[kind[5:]]))
    for new, old, kind, _ in STORES:
        cases.append(Case(space, arch, "store", old if gfx9 else new, _store(kind[6:]), BYTES[kind[6:]]))
    if space == "scratch":
        return cases
    atomics = []
    for new, old, op in INTEGER_ATOMICS:
        for bits in (32, 64):
            atomics.append(
                (f"atomic_{old}{'_x2' if bits == 64 else ''}" if gfx9 else f"atomic_{new}{bits}", op[7:], bits)
            )
    prefix, fmt = FORMATS[space]
    names = {op.name for op in atomic_rows(prefix, fmt) if op.opcode(arch) is not None}
    for name, op, bits in FLOAT_ATOMICS:
        if f"{prefix}_atomic_{name}" in names and name not in ("csub_u32", "cond_sub_u32"):
            atomics.append((f"atomic_{name}", op[7:], bits))
    for name, op, bits in atomics:
        for returns in (False, True):
            kind = "atomic_return" if returns else "atomic"
            cases.append(Case(space, arch, kind, name, _atomic(op, bits, returns, "next"), bits // 8))
    return cases


def _ds_cases(arch: str) -> list[Case]:
    from ptx2amd.vgpu.isa import ds

    generation = "gfx9" if arch == "gfx942" else "gfx11"
    cases = []
    for op in ds.ops():
        if op.opcode(generation) is None:
            continue
        name = op.mnemonic(generation)[3:]
        if not op.call:
            continue
        call, arguments = op.call.function, op.call.arguments
        if call == "ds_load":
            cases.append(Case("ds", arch, "load", name, _load(arguments[0][5:], arch), BYTES[arguments[0][5:]]))
        elif call == "ds_store":
            cases.append(Case("ds", arch, "store", name, _store(arguments[0][6:]), BYTES[arguments[0][6:]]))
        elif call == "ds_atomic":
            kind, bits, returns = arguments[0][7:], int(arguments[1]), arguments[2] == "true"
            second = "first" if generation == "gfx9" and kind.startswith("CMPSWAP") else "other"
            case = Case("ds", arch, "atomic_return" if returns else "atomic", name,
                        _atomic(kind, bits, returns, second), bits // 8)  # fmt: skip
            if "mskor" in name or "wrap" in name:
                case.text = case.text.replace(
                    _registers(4, bits) + " ", f"{_registers(4, bits)}, {_registers(6, bits)} "
                )
            cases.append(case)
    return cases


@cache
def _code(space: str, arch: str) -> CodeObject:
    head = f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"\n'
    kernels = [_kernel(f"k{n}", space, arch, c.text).split("\n", 1)[1] for n, c in enumerate(_cases(space, arch))]
    return CodeObject(assemble_code_object(head + "".join(kernels), arch), arch)


def _offsets(rng: random.Random, case: Case, lanes: int, pattern: str, limit: int) -> list[int]:
    align = case.size if case.atomic else 1
    top = (limit - OFFSET - case.size) // align
    if pattern == "row":
        return [(k * case.size) % (top * align // case.size * case.size + case.size) for k in range(lanes)]
    if pattern == "same":
        return [rng.randrange(top + 1) * align] * lanes
    return [rng.randrange(top + 1) * align for _ in range(lanes)]


def _floats(rng: random.Random, bits: int, op: str) -> int:
    if "pk_add_f16" in op:
        return rng.randrange(0x3000, 0x4400) | rng.randrange(0x3000, 0x4400) << 16
    if "pk_add_bf16" in op:
        return rng.randrange(0x3E00, 0x4100) | rng.randrange(0x3E00, 0x4100) << 16
    return _b(rng.randrange(-8000, 8000) / 8, bits)


@pytest.mark.parametrize("arch", ARCHES)
@pytest.mark.parametrize("space", SPACES)
def test_memory(space: str, arch: str) -> None:
    rng = random.Random(f"{space} {arch}")
    code, lanes, wrong = _code(space, arch), LANES[arch], []
    private = space in ("scratch", "flat_private")
    for number, case in enumerate(_cases(space, arch)):
        for pattern, full in (("random", False), ("row", True), ("same", True), ("random", True)):
            mask = (1 << lanes) - 1 if full else rng.getrandbits(lanes) | 2
            offsets = _offsets(rng, case, lanes, pattern, PRIVATE if private else SIZE)
            memory = np.frombuffer(rng.randbytes(SIZE), np.uint8).copy()
            registers = np.frombuffer(rng.randbytes(lanes * 32), np.uint32).reshape(lanes, 8).copy()
            out = np.frombuffer(rng.randbytes(lanes * 32), np.uint32).reshape(lanes, 8).copy()
            registers[:, 0] = offsets
            if "_f32" in case.text or "_f64" in case.text or "pk_add" in case.text:
                bits = case.size * 8
                values = [_floats(rng, bits, case.text) for _ in range(SIZE // case.size)]
                shift = OFFSET if case.offset else 0
                body = b"".join(v.to_bytes(case.size, "little") for v in values)
                memory[shift:] = np.frombuffer(body, np.uint8)[: SIZE - shift]
                if shift % case.size:
                    memory[:] = np.frombuffer(body, np.uint8)
                for lane in range(lanes):
                    for k in range(0, 4, bits // 32):
                        v = _floats(rng, bits, case.text)
                        registers[lane, 1 + k] = v & M32
                        if bits == 64:
                            registers[lane, 2 + k] = v >> 32
            if case.atomic and case.offset % case.size:
                offsets = [o + case.size - case.offset % case.size for o in offsets]
                offsets = [min(o, (PRIVATE if private else SIZE) - 2 * case.size) for o in offsets]
                offsets = [(o + case.offset) // case.size * case.size - case.offset for o in offsets]
                registers[:, 0] = offsets
            if case.in_place:
                out[:, :4] = registers[:, 1:5]
            expected, expected_out = bytearray(memory.tobytes()), out.copy()
            for lane in range(lanes):
                if not mask >> lane & 1:
                    continue
                at = offsets[lane] + case.offset + (lane * PRIVATE if private else 0)
                r = [int(x) for x in out[lane, :4]]
                case.apply(r, [int(x) for x in registers[lane, 1:5]], expected, at)
                expected_out[lane, :4] = r
            code.run(f"k{number}", [1], [lanes], [registers, out, memory, np.uint64(mask)])
            if memory.tobytes() != bytes(expected) or not np.array_equal(out, expected_out):
                lane = next((k for k in range(lanes) if not np.array_equal(out[k], expected_out[k])), -1)
                at = next((k for k in range(SIZE) if memory[k] != expected[k]), -1)
                wrong.append(
                    f"{case.text} {pattern} full={full}: lane {lane} {out[lane]} "
                    f"expected {expected_out[lane]}; byte {at}"
                )
                break
    assert not wrong, "\n".join(wrong)
