"""PTX programs for wgmma: a warp group multiplies matrices that lie in shared memory in all layouts there are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptx2amd.isa import wgmma as table
from ptx2amd.isa.operands import length, slots
from tests.lower.matrix_programs import Matrices, matrices_of, product_of, spelled, width
from tests.lower.sparse_programs import kept_columns
from tests.reference import matrix, shared_matrix
from tests.reference.sparse import metadata

HEAD = ".version 8.4\n.target sm_90a\n.address_size 64\n"
PLACE = 16384  # bytes of shared memory that A and B have each
SHARED = 2 * PLACE
LANE = 1024  # bytes of a thread's registers: A, metadata at 16, D at 32
A_BYTES = 32  # a row of A, or of B when A is dense


@dataclass
class Case:
    """One opcode in one setting. mode: swizzling of both; across: whether rows of A, columns of B run along memory."""

    opcode: str
    mods: dict[str, str]
    operands: str
    mode: int
    across: tuple[bool, bool]
    negative: tuple[bool, bool]
    add: bool
    data: Matrices = field(init=False)
    kept: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        seed = random.Random(f"{self.opcode} {self.mode}")
        self.mods = {"op": "", **self.mods, "ct": self.mods["dt"]}
        self.data = matrices_of(self.opcode, self.mods, self.shape)
        m, _, k = self.shape
        if self.sparse:
            self.kept = {row: kept_columns(self.mods["at"], k, seed) for row in range(m)}
            self.data.a = {(r, c): v if c in self.kept[r] else 0 for (r, c), v in self.data.a.items()}

    @property
    def shape(self) -> tuple[int, int, int]:
        m, rest = self.mods["shape"][1:].split("n")
        n, k = rest.split("k")
        return int(m), int(n), int(k)

    @property
    def sparse(self) -> bool:
        return bool(self.mods.get("sparse"))

    @property
    def in_registers(self) -> bool:
        return "{a*4}" in self.operands

    def names(self) -> list[str]:
        return [slot.name for slot in slots(self.operands)]

    def strides(self, across: bool, lines: int, deep: int) -> tuple[int, int]:
        """Leading and stride offsets with which `lines` lines of `deep` bytes fill their place without overlap."""
        row = shared_matrix.SWIZZLES[self.mode]
        if self.mode == 0:
            if across:  # blocks of eight K, chunks of eight lines
                return 128 * (lines // 8), 128
            return 128 * (lines // 8), 128
        if across:
            atoms = -(-2 * lines // row)
            return 8 * row, 8 * row * atoms
        return 16, 8 * row

    def placed(self, cells: dict[tuple[int, int], int], ptype: str, across: bool, lines: int, deep: int) -> bytes:
        """A matrix, by (line, K), in shared memory."""
        bits = width(ptype)
        image = bytearray(PLACE)
        leading, stride = self.strides(across, lines, deep)
        for (line, k), value in cells.items():
            if bits >= 8:
                at = shared_matrix.place(self.mode, leading, stride, across, line, k, bits // 8)
                image[at : at + bits // 8] = value.to_bytes(bits // 8, "little")
            else:  # 1-bit elements
                image[shared_matrix.place(self.mode, leading, stride, across, line, k // 8, 1)] |= value << k % 8
        return bytes(image)

    def packed_a(self) -> dict[tuple[int, int], int]:
        if not self.sparse:
            return self.data.a
        return {(row, i): self.data.a[row, c] for row, columns in self.kept.items() for i, c in enumerate(columns)}

    def memory(self) -> bytes:
        m, n, _ = self.shape
        a = self.placed(self.packed_a(), self.mods["at"], self.across[0], m, 32)
        b = {(column, k): value for (k, column), value in self.data.b.items()}
        return a + self.placed(b, self.mods["bt"], self.across[1], n, 64 if self.sparse else 32)

    def descriptors(self) -> list[bytes]:
        m, n, _ = self.shape
        found = []
        for i, (lines, deep) in enumerate(((m, 32), (n, 64 if self.sparse else 32))):
            leading, stride = self.strides(self.across[i], lines, deep)
            word = shared_matrix.descriptor(PLACE * i, self.mode, leading, stride)
            found.append(word.to_bytes(8, "little"))
        return found

    def registers(self) -> bytes:
        """A's fragments, metadata and D of the 128 threads."""
        image = bytearray(128 * LANE)
        bits = width(self.mods["at"])
        k = self.shape[2] // (2 if self.sparse else 1)
        packed = self.packed_a()
        for warp in range(4):
            for lane, register, position, row, column in matrix.a_fragment(16, k, 32 // bits):
                at = LANE * (32 * warp + lane) + 4 * register
                word = int.from_bytes(image[at : at + 4], "little")
                word |= packed[16 * warp + row, column] << bits * position
                image[at : at + 4] = word.to_bytes(4, "little")
            if self.sparse:
                rows = {row: self.kept[16 * warp + row] for row in range(16)}
                for lane, word in enumerate(metadata(self.mods["at"], self.shape[2], rows, 0)):
                    at = LANE * (32 * warp + lane) + 16
                    image[at : at + 4] = word.to_bytes(4, "little")
        self.accumulators(image, self.data.c)
        return bytes(image)

    def accumulators(self, image: bytearray, cells: dict[tuple[int, int], int]) -> None:
        size = width(self.mods["dt"]) // 8
        for warp in range(4):
            for tile in range(self.shape[1] // 8):
                for lane, i, row, column in matrix.c_fragment(16, 8):
                    at = LANE * (32 * warp + lane) + 32 + size * (4 * tile + i)
                    image[at : at + size] = cells[16 * warp + row, 8 * tile + column].to_bytes(size, "little")

    def expected(self) -> bytes:
        mods, data = self.mods, self.data
        sign = {"f16": 15, "bf16": 15, "tf32": 31, "e4m3": 7, "e5m2": 7}.get(mods["at"], 0)
        flips = [1 << sign if negative else 0 for negative in self.negative]
        a = {at: v ^ flips[0] for at, v in data.a.items()}
        b = {at: v ^ flips[1] for at, v in data.b.items()}
        c = data.c if self.add else dict.fromkeys(data.c, 0)
        image = bytearray(self.registers())
        self.accumulators(image, product_of(mods, self.shape, Matrices(a, b, c)))
        return bytes(image)

    def kernel(self, name: str) -> str:
        """`name(memory, registers, descriptor of A, of B)`: D goes back to the registers' place."""
        d = next(slot for slot in slots(self.operands) if slot.name == "u")
        count = length(d, self.mods)
        results = [f"%d{i}" for i in range(count)]
        names = self.names()
        operands = ["{" + ", ".join(results) + "}", "{%a0, %a1, %a2, %a3}" if self.in_registers else "%da", "%db"]
        if self.sparse:
            operands += ["%m", "0"]
        operands.append("%p")
        operands += ["-1" if self.negative["xy".index(x)] else "1" for x in names if x in "xy"]
        operands += [str(int(self.across["zw".index(x)])) for x in names if x in "zw"]
        copies = "\n".join(f"ld.global.{d.type} {r}, [%reg+{32 + 4 * i}];" for i, r in enumerate(results))
        stores = "\n".join(f"st.global.{d.type} [%reg+{32 + 4 * i}], {r};" for i, r in enumerate(results))
        return f"""
.visible .entry {name}(.param .u64 memory, .param .u64 registers, .param .u64 a, .param .u64 b)
{{
.shared .align 1024 .b8 sh[{SHARED}];
.reg .b32 %t, %k, %s, %v, %m, %a<4>; .reg .b64 %mem, %reg, %at, %da, %db, %sh; .reg .pred %p, %q;
.reg .{d.type} {", ".join(results)};
mov.u32 %t, %tid.x; ld.param.u64 %mem, [memory]; ld.param.u64 %reg, [registers];
ld.param.u64 %da, [a]; ld.param.u64 %db, [b];
mov.u32 %s, sh; shr.u32 %k, %s, 4; cvt.u64.u32 %sh, %k; add.u64 %da, %da, %sh; add.u64 %db, %db, %sh;
mul.wide.u32 %at, %t, 4; add.u64 %mem, %mem, %at; shl.b32 %k, %t, 2; add.u32 %s, %s, %k;
copy: ld.global.u32 %v, [%mem]; st.shared.u32 [%s], %v;
add.u64 %mem, %mem, 512; add.u32 %s, %s, 512; add.u32 %k, %k, 512; setp.lt.u32 %q, %k, {SHARED}; @%q bra copy;
mul.wide.u32 %at, %t, {LANE}; add.u64 %reg, %reg, %at;
ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%reg]; ld.global.u32 %m, [%reg+16];
{copies}
fence.proxy.async; bar.sync 0; setp.eq.u32 %p, 0, {int(not self.add)};
wgmma.fence.sync.aligned;
{self.opcode} {", ".join(operands)};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""


def cases(every: bool = False) -> Iterator[Case]:
    """Each kind of product with A in registers and in shared memory: all swizzles and both majors in turn, or
    (`every`) all of each other."""
    number = 0
    for form in table.FORMS:
        if form.lower != "wgmma":
            continue
        shapes: dict[str, list[tuple[str, dict[str, str]]]] = {}
        for opcode, fields in spelled(form):
            mods = dict(fields)
            if not mods["aligned"]:
                continue
            shapes.setdefault(str({k: v for k, v in mods.items() if k != "shape"}), []).append((opcode, mods))
        free = "w" in [slot.name for slot in slots(form.operands)]
        for found in shapes.values():
            settings = [(mode, (x, y)) for mode in range(4) for x in (False, True) for y in (False, True)]
            if not free:
                settings = [(mode, (False, False)) for mode in range(4)]
            if "{a*4}" in form.operands:
                settings = [(mode, (False, y)) for mode, (x, y) in settings if not x]
            for mode, across in settings if every else [settings[number % len(settings)]]:
                opcode, mods = found[(1, 2, 0, 3)[number % 4]]  # 8 to 32 columns
                signs = "x" in [slot.name for slot in slots(form.operands)]
                negative = (signs and number % 3 == 1, signs and number % 3 == 2)
                if mods.get("sparse") and mode == 3 and not across[1]:
                    mode = 2  # 64 bytes of K do not lie in an atom of 32
                yield Case(opcode, mods, form.operands, mode, across, negative, number % 5 > 0)
                number += 1
