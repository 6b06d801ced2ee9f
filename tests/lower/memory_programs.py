"""PTX programs that load and store through every row of the memory family, and the bytes they must leave."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ptx2amd.isa import memory
from ptx2amd.isa.form import Form
from ptx2amd.isa.syntax import fields

HEAD = ".version 8.8\n.target sm_100\n.address_size 64\n"
THREADS = 40  # a warp and a part of one
SLICE = 64  # bytes of each thread in each space, and of each result
CONST = bytes(random.Random("const").randrange(256) for _ in range(SLICE))
COUNT = {"": 1, "v2": 2, "v4": 4, "v8": 8}

# How a program gets at a space: (register or symbol, its bytes for thread t)
BASES = {
    "global": "%data",
    "shared": "%sh",
    "local": "%lo",
    "const": "co",
    "param": "pa",
    "generic global": "%data",
    "generic shared": "%gsh",
    "generic local": "%glo",
    "generic const": "%gco",
}


@dataclass(frozen=True)
class Access:
    """One load or store: the opcode, its space (a key of BASES), PTX type, elements, byte offset in the
    slice, register widths in bits, and whether it has a cache policy."""

    opcode: str
    space: str
    type: str
    count: int
    offset: int
    width: int
    policy: bool

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return int(re.findall(r"\d+", self.type)[0]) // 8


def accesses(mnemonic: str) -> Iterator[Access]:
    """Every row of a mnemonic with every type, other modifiers drawn at random."""
    for form in memory.FORMS:
        if form.mnemonic == mnemonic and form.lower == mnemonic.removesuffix("u"):
            yield from _of(form)


def _of(form: Form) -> Iterator[Access]:
    seed = random.Random(form.syntax)
    row = fields(form.syntax)
    types = next(field for field in row if field.name == "t").choices
    for (ptype,) in types:
        words, mods = [form.mnemonic], {}
        for field in row:
            options = [*field.choices, ()] if field.optional else list(field.choices)
            choice = (ptype,) if field.name == "t" else seed.choice(options)
            words += choice
            if field.name:
                mods[field.name] = ".".join(choice)
        bits = int(ptype[1:])
        count = COUNT[mods.get("vec", "")]
        space = mods.get("space", "").split("::")[0] or _generic(form, mods, bits * count, seed)
        offset = seed.randrange(0, SLICE - count * bits // 8 + 1, count * bits // 8)
        widths = [w for w in (16, 32, 64) if w >= bits] if ptype[0] != "f" and bits < 128 else [bits]
        yield Access(".".join(words), space, ptype, count, offset, seed.choice(widths), bool(mods.get("policy")))


def _generic(form: Form, mods: dict[str, str], bits: int, seed: random.Random) -> str:
    """Where a generic address points: 256-bit accesses need global memory, atomic ones anything but local."""
    spaces = ["global"]
    if bits <= 128 and form.mnemonic != "ldu":
        spaces.append("shared")
        if mods.get("sem") in ("", "weak"):
            spaces += ["local", "const"] if form.mnemonic == "ld" else ["local"]
    return f"generic {seed.choice(spaces)}"


def register(access: Access) -> str:
    return access.type if access.type[0] == "f" else f"b{access.width}"


def prologue(name: str) -> list[str]:
    """Fills each thread's slice of shared and local memory with its slice of the data."""
    return [
        f".visible .entry {name}(.param .u64 data, .param .u64 out, .param .align 32 .b8 pa[{SLICE}])",
        "{",
        f".shared .align 32 .b8 sh[{SLICE * THREADS}]; .local .align 32 .b8 lo[{SLICE}];",
        ".reg .b32 %t; .reg .b64 %data, %out, %sh, %lo, %gsh, %glo, %gco, %at, %w, %policy;",
        "mov.u32 %t, %tid.x; createpolicy.fractional.L2::evict_last.b64 %policy, 0f3F800000;",
        "ld.param.u64 %data, [data]; ld.param.u64 %out, [out];",
        f"mul.wide.u32 %at, %t, {SLICE}; add.u64 %data, %data, %at; add.u64 %out, %out, %at;",
        "mov.u64 %sh, sh; add.u64 %sh, %sh, %at; cvta.shared.u64 %gsh, %sh;",
        "mov.u64 %lo, lo; cvta.local.u64 %glo, %lo; mov.u64 %gco, co; cvta.const.u64 %gco, %gco;",
        *(
            f"ld.global.u64 %w, [%data+{i}]; st.{space}.u64 [%{space[:2]}+{i}], %w;"
            for i in range(0, SLICE, 8)
            for space in ("shared", "local")
        ),
    ]


def load_kernel(name: str, batch: list[Access]) -> str:
    """`name(data, out, pa)`: the registers of load i of thread t go to out + SLICE (t + THREADS i)."""
    lines = prologue(name)
    for i, access in enumerate(batch):
        registers = [f"%d{i}_{k}" for k in range(access.count)]
        lines.append(f".reg .{register(access)} {', '.join(registers)};")
        target = "{" + ", ".join(registers) + "}" if access.count > 1 else registers[0]
        policy = ", %policy" if access.policy else ""
        lines.append(f"{access.opcode} {target}, [{BASES[access.space]}+{access.offset}]{policy};")
        step = SLICE * THREADS * i
        for k, each in enumerate(registers):
            lines.append(f"st.global.{register(access)} [%out+{step + k * access.width // 8}], {each};")
    return "\n".join([*lines, "ret;", "}", ""])


def extended(access: Access, data: bytes) -> bytes:
    """What the registers hold after the load, one after the other."""
    result = b""
    for k in range(access.count):
        at = access.offset + k * access.size
        value = int.from_bytes(data[at : at + access.size], "little", signed=access.type[0] == "s")
        result += (value & ((1 << access.width) - 1)).to_bytes(access.width // 8, "little")
    return result


def source(access: Access, data: bytes, parameter: bytes) -> bytes:
    """The slice a load reads from."""
    if "const" in access.space:
        return CONST
    return parameter if access.space == "param" else data


def taken(k: int) -> int:
    """Where in the thread's data element k of a store comes from."""
    return 16 * (k % 4)


def store_kernel(name: str, batch: list[Access]) -> str:
    """`name(data, out, pa)`: store i of thread t goes to a slice of its space that holds the thread's data,
    and the slice to out + SLICE (t + THREADS i). Element k is what lies at `taken(k)` of the data."""
    lines = prologue(name)
    for i, access in enumerate(batch):
        registers = [f"%d{i}_{k}" for k in range(access.count)]
        lines.append(f".reg .{register(access)} {', '.join(registers)};")
        for k, each in enumerate(registers):
            lines.append(f"ld.global.{register(access)} {each}, [%data+{taken(k)}];")
        value = "{" + ", ".join(registers) + "}" if access.count > 1 else registers[0]
        slot = SLICE * THREADS * i
        inner = access.space.removeprefix("generic ")
        base = {"global": "%out", "shared": BASES[access.space], "local": BASES[access.space]}[inner]
        lines.append(f"add.u64 %at, {base}, {slot if inner == 'global' else 0};")
        own = "%at" if inner == "global" else f"%{inner[:2]}"
        lines += [f"ld.global.u64 %w, [%data+{k}]; st.{inner}.u64 [{own}+{k}], %w;" for k in range(0, SLICE, 8)]
        lines.append(f"{access.opcode} [%at+{access.offset}], {value}{', %policy' if access.policy else ''};")
        if inner != "global":
            lines += [
                f"ld.{inner}.u64 %w, [%{inner[:2]}+{k}]; st.global.u64 [%out+{slot + k}], %w;"
                for k in range(0, SLICE, 8)
            ]
    return "\n".join([*lines, "ret;", "}", ""])


def stored(access: Access, data: bytes) -> bytes:
    """The slice after a store."""
    result = bytearray(data)
    for k in range(access.count):
        at = access.offset + k * access.size
        result[at : at + access.size] = data[taken(k) : taken(k) + access.size]
    return bytes(result)


def module(kernels: list[str]) -> str:
    const = f".const .align 32 .b8 co[{SLICE}] = {{{', '.join(map(str, CONST))}}};\n"
    return HEAD + const + "".join(kernels)
