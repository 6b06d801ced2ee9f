"""The decoder against LLVM's assembler: every scalar and memory row, in each generation that has it.

Protects: opcode numbers, operand fields and their order, literals, offsets, lengths.
"""

from __future__ import annotations

import random
import struct

import pytest
from engine import assemble, describe

from ptx2amd.vgpu.isa.op import Op, Operand
from ptx2amd.vgpu.isa.table import memory_ops, scalar_ops

ARCH = {"gfx9": "gfx942", "gfx11": "gfx1100"}
#: Rows that exist on another chip of the generation only, or that the assembler has no name for.
OTHER_ARCH = {
    "gfx9": {
        "s_store_dword": "gfx900", "s_store_dwordx2": "gfx900", "s_store_dwordx4": "gfx900", "s_dcache_wb": "gfx900",
        "s_dcache_wb_vol": "gfx900", "buffer_wbinvl1": "gfx900", "buffer_wbinvl1_vol": "gfx900",
        "s_setvskip": "gfx900", "buffer_atomic_pk_add_bf16": "gfx950",
        "global_load_lds_dwordx3": "gfx950", "global_load_lds_dwordx4": "gfx950",
        "s_dcache_inv_vol": "gfx900", "s_cbranch_cdbgsys": "gfx900", "ds_wrap_rtn_b32": "gfx900",
    },
    "gfx11": {},
}  # fmt: skip
NO_SYNTAX = {
    "s_rfe_b64", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_subvector_loop_begin", "s_subvector_loop_end",
    "s_endpgm_ordered_ps_done", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
    "s_call_b64", "s_set_gpr_idx_on", "s_set_gpr_idx_mode", "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32",
    "s_version", "s_code_end", "s_delay_alu", "s_ttracedata_imm",
}  # fmt: skip


def sgpr(first: int, bits: int) -> str:
    n = bits // 32
    return f"s{first}" if n == 1 else f"s[{first}:{first + n - 1}]"


def vgpr(first: int, bits: int) -> str:
    n = max(bits // 32, 1)
    return f"v{first}" if n == 1 else f"v[{first}:{first + n - 1}]"


class Case:
    """Assembly of one instruction, and what the decoder must say."""

    def __init__(self, op: Op, generation: str, rng: random.Random) -> None:
        self.op, self.rng, self.generation = op, rng, generation
        self.name = op.mnemonic(generation)
        self.expect: list[str] = []
        self.length: int | None = None
        self.operands = op.parse_operands()
        make = {"SOP1": self.sop, "SOP2": self.sop, "SOPC": self.sop, "SOPK": self.sopk, "SOPP": self.sopp,
                "SMEM": self.smem, "DS": self.ds, "FLAT": self.flat, "GLOBAL": self.flat, "SCRATCH": self.flat,
                "MUBUF": self.mubuf}[op.format]  # fmt: skip
        self.text = f"{self.name} {make()}".rstrip()

    def even(self, bits: int) -> int:
        step = max(1, min(bits // 32, 4))
        return self.rng.randrange(0, 80 // step) * step

    def scalar_source(self, o: Operand, k: int) -> str:
        choice = self.rng.randrange(4)
        if choice == 0 and o.bits == 32 and not any("0x" in e for e in self.expect):
            value = self.rng.randrange(1 << 16, 1 << 31)
            self.expect.append(f"src{k}=0x0:{value:#x}")
            self.length = 2
            return f"{value:#x}"
        if choice == 1:
            value = self.rng.randrange(-16, 65)
            code = 128 + value if value >= 0 else 192 - value
            self.expect.append(f"src{k}=s{172 + (code - 128) * 2}")
            return str(value)
        if choice == 2 and o.bits == 64:
            self.expect.append(f"src{k}=s106")
            return "vcc"
        n = self.even(o.bits)
        self.expect.append(f"src{k}=s{n}")
        return sgpr(n, o.bits)

    def destination(self, o: Operand) -> str:
        n = self.even(o.bits)
        self.expect.append(f"dst={n} ")
        return sgpr(n, o.bits)

    def sop(self) -> str:
        texts = []
        k = 0
        for o in self.operands:
            if o.is_destination:
                texts.append(self.destination(o))
            elif self.name in ("s_setpc_b64", "s_swappc_b64"):
                n = self.even(64)
                self.expect.append(f"src{k}=s{n}")
                texts.append(sgpr(n, 64))
                k += 1
            elif "movrels" in self.name:
                n = self.even(o.bits)
                self.expect.append(f"src{k}=s{n}")
                texts.append(sgpr(n, o.bits))
                k += 1
            else:
                texts.append(self.scalar_source(o, k))
                k += 1
        return ", ".join(texts)

    def sopk(self) -> str:
        value = self.rng.randrange(0, 1 << 15)
        self.expect.append(f"imm={value} ")
        texts = []
        for o in self.operands:
            n = self.even(o.bits)
            self.expect.append(f"dst={n} " if o.is_destination else f"src0=s{n} ")
            texts.append(sgpr(n, o.bits))
        return ", ".join([*texts, str(value)])

    def sopp(self) -> str:
        plain = ("s_endpgm", "s_barrier", "s_wakeup", "s_icache_inv",
                 "s_ttracedata", "s_endpgm_saved", "s_set_gpr_idx_off",
                 "s_wait_idle", "s_ttracedata_imm")  # fmt: skip
        if self.name in plain:
            return ""
        value = self.rng.randrange(0, 8)
        self.expect.append(f"imm={value} ")
        return str(value)

    def smem(self) -> str:
        if not self.operands:
            return ""
        texts = []
        o = self.operands[0]
        n = self.even(o.bits)
        self.expect.append(f"dst={n} ")
        texts.append(sgpr(n, o.bits))
        if len(self.operands) > 1:
            base = self.even(128)
            self.expect.append(f"src0=s{base} ")
            texts.append(sgpr(base, self.operands[1].bits))
            if self.rng.randrange(2) or "store" in self.name:
                offset = self.rng.randrange(0, 1 << 18) * 4
                self.expect += [f"imm={offset} ", "src1=- "]
                texts.append(hex(offset))
            else:
                self.expect += ["imm=0 ", "src1=s9 "]
                texts.append("s9")
        return ", ".join(texts)

    def vector_operands(self) -> dict[str, str]:
        texts = {}
        slots = {"a": 0, "b": 1, "c": 3}
        for o in self.operands:
            n = self.rng.randrange(0, 120) * 2
            texts[o.name] = vgpr(n, o.bits)
            self.expect.append(f"dst={n} " if o.is_destination else f"src{slots[o.name]}=v{n} ")
        return texts

    def ds(self) -> str:
        t = self.vector_operands()
        order = [t[x] for x in "dabc" if x in t]
        if self.name == "ds_nop":
            return ""
        if "2" in self.name.replace("b32", "").replace("_i32", "").replace("f32", "").replace("u32", "") and (
            "2addr" in self.name or "read2" in self.name or "write2" in self.name or "xchg2" in self.name
        ):
            first, second = self.rng.randrange(256), self.rng.randrange(256)
            self.expect.append(f"imm={first | second << 8} ")
            return ", ".join(order) + f" offset0:{first} offset1:{second}"
        offset = self.rng.randrange(1 << 16)
        self.expect.append(f"imm={offset} ")
        if "addtid" in self.name or "append" in self.name or "consume" in self.name:
            pass
        return ", ".join(order) + f" offset:{offset}"

    def flat(self) -> str:
        n = {o.name: self.rng.randrange(0, 120) * 2 for o in self.operands}
        o = {x.name: x for x in self.operands}
        fmt = self.op.format
        offset = self.rng.randrange(0, 2048) if fmt == "FLAT" else self.rng.randrange(-2048, 2048)
        if "addtid" in self.name:
            data = vgpr(n["d"], 32) if "d" in o else vgpr(n["b"], 32)
            return f"{data}, s[2:3]"
        atomic = "atomic" in self.name
        returns = atomic and self.rng.randrange(2)
        texts = []
        if "d" in o and (not atomic or returns):
            texts.append(vgpr(n["d"], o["d"].bits))
            self.expect.append(f"dst={n['d']} ")
        saddr = ""
        if fmt == "FLAT":
            address = vgpr(n["a"], 64)
        elif fmt == "GLOBAL":
            scalar = self.rng.randrange(2)
            address = vgpr(n["a"], 32 if scalar else 64)
            saddr = "s[4:5]" if scalar else "off"
            self.expect.append("src2=s4 " if scalar else "src2=- ")
        else:
            scalar, vector = self.rng.choice([(0, 1), (1, 0), (1, 1)])
            address = vgpr(n["a"], 32) if vector else "off"
            saddr = "s6" if scalar else "off"
            self.expect.append("src2=s6 " if scalar else "src2=- ")
            if not vector:
                self.expect.append("src0=- ")
        if address != "off":
            self.expect.append(f"src0=v{n['a']} ")
        texts.append(address)
        if "b" in o:
            texts.append(vgpr(n["b"], o["b"].bits))
            self.expect.append(f"src1=v{n['b']} ")
        if saddr:
            texts.append(saddr)
        self.expect.append(f"imm={offset} ")
        text = ", ".join(texts) + f" offset:{offset}"
        if returns:
            text += " sc0" if self.generation == "gfx9" else " glc"
            self.expect.append("flags=1 ")
        return text

    def mubuf(self) -> str:
        if not self.operands:
            return "sc1" if self.name in ("buffer_inv", "buffer_wbl2") else ""
        o = {x.name: x for x in self.operands}
        data = o.get("b") or o["d"]
        n = self.rng.randrange(0, 120) * 2
        offset = self.rng.randrange(4096)
        bits = data.bits
        if "_format_" in self.name:
            bits = 32 * len(self.name.rsplit("_", 1)[1])
        self.expect += [f"dst={n} ", "src2=s8 ", f"imm={offset} "]
        mode, address, flags = self.rng.choice([("", "off", 0), ("offen", "v3", 16), ("idxen", "v3", 32),
                                                ("idxen offen", "v[4:5]", 48)])  # fmt: skip
        self.expect.append(f"flags={flags} ")
        return f"{vgpr(n, bits)}, {address}, s[8:11], s20 {mode} offset:{offset}"


def _cases(generation: str) -> list[Case]:
    rng = random.Random(7)
    cases = []
    for op in (*scalar_ops(), *memory_ops()):
        if op.opcode(generation) is None or op.name in NO_SYNTAX or op.mnemonic(generation) in NO_SYNTAX:
            continue
        cases += [Case(op, generation, rng) for _ in range(3 if op.parse_operands() else 1)]
    return cases


def _text_section(elf: bytes) -> bytes:
    (shoff,) = struct.unpack_from("<Q", elf, 40)
    entry, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, shoff + k * entry) for k in range(count)]
    for h in headers:
        start = headers[names][4] + h[0]
        if elf[start : elf.index(b"\0", start)] == b".text":
            return elf[h[4] : h[4] + h[5]]
    raise ValueError("no .text")


def _machine_code(cases: list[Case], arch: str) -> list[int]:
    data = _text_section(assemble("\n".join(["s_nop 0", *(c.text for c in cases)]) + "\n", arch))
    return list(struct.unpack(f"<{len(data) // 4}I", data))[1:]


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_rows_decode_as_assembled(generation: str) -> None:
    """Every row's opcode and operands."""
    by_arch: dict[str, list[Case]] = {}
    for case in _cases(generation):
        arch = OTHER_ARCH[generation].get(case.name, ARCH[generation])
        by_arch.setdefault(arch, []).append(case)
    wrong = []
    for arch, cases in by_arch.items():
        words = _machine_code(cases, arch)
        at = 0
        for case in cases:
            length, text = describe(generation, words[at : at + 5])
            name = text.split(" ", 1)[0]
            missing = [e for e in case.expect if e not in text + " "]
            if name != case.name or missing or not length:
                wrong.append(f"{case.text!r} {words[at]:08x}: {text!r}, missing {missing}")
                at += case.length or (
                    2 if case.op.format in ("SMEM", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF") else 1
                )
            else:
                at += abs(length)
        assert wrong or at == len(words)
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("generation", ["gfx9", "gfx11"])
def test_unknown_words_are_refused(generation: str) -> None:
    """Random words never crash the decoder, and a truncated instruction is unknown."""
    rng = random.Random(3)
    for _ in range(20000):
        words = [rng.getrandbits(32) for _ in range(rng.randrange(1, 4))]
        length, _ = describe(generation, words)
        assert abs(length) <= len(words)
