"""The row type of the AMDGPU instruction tables: one Op per instruction and format.

A row has no numbers: opcodes.tsv (survey.py makes it with LLVM's disassembler) says which number the row's name has in
its format's OP field on each architecture. None: the architecture has no such instruction.

VALU rows give the VOP1, VOP2, VOPC form only, with that form's opcode: the decoder derives the VOP3 form
(GFX9: VOPC + 0x000, VOP2 + 0x100, VOP1 + 0x140; GFX10-12: VOPC + 0x000, VOP2 + 0x100, VOP1 + 0x180), the SDWA,
DPP and VOPD forms. Rows with format "VOP3" exist in no other form.

operands: comma-separated `name:type`, in the assembler's order.
    d, e       destinations (e: carry-out mask, scale flag)
    a, b, c    sources
    type       u8 i8 b8 u16 i16 b16 f16 bf16 u24 i24 u32 i32 b32 f32 u64 i64 b64 f64
               f16x2 i16x2 u16x2 bf16x2 f32x2 u32x2 (packed; x2 32-bit: a register pair)
               b96 b128 b256 b512 ... (rows of dwords, for matrix and memory operands)
               mask (lane mask: an SGPR in wave32, a pair in wave64)
    d@vcc      an operand that is fixed and has no field in the short form: `e@vcc:mask`, `c@vcc:mask`;
               in the VOP3 form it is an ordinary operand
    d=         the destination is also read (v_fmac, v_writelane ...)
    a!s, a!v, a!a   only a scalar, a vector, an accumulation register
    k          a literal constant that is part of the format (v_fmamk, v_fmaak)
  Sources become inst.src[0], [1], ... in the order written; the name says the field they come from.

semantics: C statements over D, E, A, B, C (values of the operands' types), SCC, VCC, EXEC, M0, PC, SIMM16,
LANE; the generators of the handlers say what else they know. Or a value of meaning.py: a hand-written handler, a shape
of a matrix product ... "" : known but not implemented (a launch that reaches it ends with a fault that names it).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ptx2amd.records import dataclass, field
from ptx2amd.vgpu.isa.meaning import Access, Branch, Call, Meaning, Order
from ptx2amd.vgpu.isa.names import ASSEMBLY, aliases
from ptx2amd.vgpu.isa.native import Scalar, Sequence

GENERATIONS = ("gfx9", "gfx10", "gfx11", "gfx12")
#: The architecture that represents a generation.
REPRESENTATIVES = {"gfx9": "gfx942", "gfx10": "gfx1030", "gfx11": "gfx1100", "gfx12": "gfx1200"}


@cache
def opcodes() -> dict[tuple[str, str], dict[str, int]]:
    """(format, mnemonic) -> architecture -> opcode: opcodes.tsv."""
    with (Path(__file__).parent / "opcodes.tsv").open() as file:
        head, *rows = (line.rstrip("\n").split("\t") for line in file)
    return {
        (fmt, name): {arch: int(n) for arch, n in zip(head[2:], numbers, strict=True) if n}
        for fmt, name, *numbers in rows
    }


@cache
def generation_of(arch: str) -> str:
    """gfx942 -> gfx9, gfx1250 -> gfx12; gfx803 -> gfx9, which has the same instructions under other names."""
    generation = arch if arch in GENERATIONS else arch[: 4 if len(arch) == 6 else 5]
    return "gfx9" if generation == "gfx8" else generation


#: Operand type -> (bits, class). The class selects the value of inline constants and literals.
TYPES: dict[str, tuple[int, str]] = {
    **{f"{k}{n}": (n, "int") for k in "uib" for n in (8, 16, 32, 64)},
    "u24": (32, "int"), "i24": (32, "int"),
    "f16": (16, "f16"), "bf16": (16, "bf16"), "f32": (32, "f32"), "f64": (64, "f64"),
    "f16x2": (32, "f16"), "bf16x2": (32, "bf16"), "i16x2": (32, "int"), "u16x2": (32, "int"),
    "f32x2": (64, "pk_f32"), "u32x2": (64, "pk_f32"),
    **{f"b{n}": (n, "int") for n in (96, 128, 160, 192, 224, 256, 512, 1024)},
    "mask": (0, "mask"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a row: name, type, and its restrictions."""

    name: str
    type: str
    fixed: str = ""  # "vcc": no field in the short form
    read: bool = False  # a destination that is also read
    only: str = ""  # "s", "v" or "a"

    @property
    def bits(self) -> int:
        """Width in bits; 0 for lane masks (32 or 64, by wave width)."""
        return TYPES[self.type][0]

    @property
    def is_destination(self) -> bool:
        return self.name in ("d", "e")


_OPERAND = re.compile(r"(\w+)(=)?(?:@(\w+))?(?:!([sva]))?:(\w+)$")


#: Words that mark statements of scalar instructions with effects beyond computing D and SCC from A, B and K.
_EFFECTS = frozenset(
    ["w", "EXEC", "JUMP", "BRANCH", "PC_NEXT", "MESSAGE", "WRITE_D", "M0", "return", "clock_cycles", "clock_100mhz"]
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"(?<!\w)(\w+) (?:[-+&|^]|<<|>>)?= |&(\w+)")


@dataclass(frozen=True, slots=True)
class Op:
    """One instruction: mnemonic, format, operands, meaning, and the properties that generators and tools need."""

    name: str  # mnemonic; if generations differ, the newest among gfx9 and gfx11 with a row
    format: str  # "SOP2", "VOP1", "DS", ... (ptx2amd/vgpu/isa/encoding.py)
    operands: str = ""
    semantics: str | Meaning = ""
    names: dict[str, str] = field(default_factory=dict)  # generation or arch -> mnemonic if it is not `name`
    archs: tuple[str, ...] = ()  # empty: all architectures with the name; otherwise only these archs or generations
    access: Access | None = None  # its memory accesses, for tools and native code
    branch: Branch | None = None  # it sets the program counter
    order: Order | None = None  # it waits for memory operations, or controls caches
    pure: bool = False  # only computes D and SCC from A, B, K and SCC
    writes_exec: bool = False
    keeps_high_half: bool = False  # a 16-bit result leaves the register's high half unchanged on GFX9 too
    x86: str | Sequence = ""  # vector instructions: native code (native.py)
    scalar: Scalar | None = None  # scalar instructions: native code
    image: tuple[str, ...] = ()  # members of enum image_flag: an image's address operands besides coordinates

    def __post_init__(self) -> None:
        if self.pure and (effects := self.words() & _EFFECTS):
            raise ValueError(f"{self.name} is not pure: {', '.join(sorted(effects))}")

    def _found(self, arch: str) -> tuple[str, int | None]:
        """Mnemonic and opcode on an architecture or in a generation."""
        generation = generation_of(arch)
        arch = REPRESENTATIVES.get(arch, arch)
        own = self.names.get(arch) or self.names.get(generation)
        if not self.archs or arch in self.archs or generation in self.archs:
            fmt = "VOP3P" if self.format == "VOP3P_MAI" else self.format
            for name in filter(None, (own, self.name, *self.names.values(), *aliases().get(self.name, ()))):
                if (number := opcodes().get((fmt, name), {}).get(arch)) is not None:
                    return name, number
        return own or self.name, None

    def opcode(self, arch: str) -> int | None:
        """Number in the OP field on `arch` (or in a generation), None if the instruction does not exist."""
        return self._found(arch)[1]

    def mnemonic(self, arch: str) -> str:
        """The assembler's name on `arch` (or in a generation)."""
        return self._found(arch)[0]

    def assembly(self, arch: str) -> str:
        """LLVM's name on `arch`, if our tables use that name for another instruction."""
        name = self.mnemonic(arch)
        return ASSEMBLY.get(arch, {}).get(name, name)

    @property
    def nothing(self) -> bool:
        """Whether the instruction has no effect."""
        return self.semantics == ";"

    @property
    def sequence(self) -> Sequence | None:
        """Its native code as a vector instruction."""
        return self.x86 if isinstance(self.x86, Sequence) else Sequence(self.x86) if self.x86 else None

    @property
    def call(self) -> Call | None:
        """The hand-written handler, where it is one."""
        return self.semantics if isinstance(self.semantics, Call) else None

    def words(self) -> frozenset[str]:
        """The identifiers in the row's statements."""
        return frozenset(_WORD.findall(self.semantics)) if isinstance(self.semantics, str) else frozenset()

    def assigned(self) -> frozenset[str]:
        """The identifiers that the statements assign."""
        text = self.semantics if isinstance(self.semantics, str) else ""
        return frozenset(filter(None, (name for pair in _ASSIGNED.findall(text) for name in pair)))

    def parse_operands(self) -> list[Operand]:
        """Operands in order; ValueError for invalid notation."""
        found = []
        for text in filter(None, (part.strip() for part in self.operands.split(","))):
            m = _OPERAND.match(text)
            if not m or m[5] not in TYPES:
                raise ValueError(f"{self.name}: operand {text!r}")
            found.append(Operand(m[1], m[5], fixed=m[3] or "", read=bool(m[2]), only=m[4] or ""))
        return found
