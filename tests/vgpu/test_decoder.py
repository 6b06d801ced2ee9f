"""The decoder against LLVM's assembler: every scalar and memory row, in each generation that has it.

Protects: opcode numbers, operand fields and their order, literals, offsets, lengths.
"""

from __future__ import annotations

import random
import struct
from dataclasses import replace

import pytest

from ptx2amd.vgpu import support
from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.op import Op, Operand, generation_of
from ptx2amd.vgpu.isa.table import memory_ops, scalar_ops
from tests.vgpu.engine import assemble, describe

ARCHS = support.devices()
#: Rows that the assembler has no name for, or a notation of its own.
NO_SYNTAX = {
    "s_rfe_b64", "s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64", "s_subvector_loop_begin", "s_subvector_loop_end",
    "s_endpgm_ordered_ps_done", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
    "s_call_b64", "s_set_gpr_idx_on", "s_set_gpr_idx_mode", "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32",
    "s_version", "s_code_end", "s_delay_alu", "s_ttracedata_imm", "s_wait_alu", "s_barrier_signal",
    "s_barrier_signal_isfirst", "s_get_barrier_state", "s_barrier_init", "s_barrier_join", "s_prefetch_inst",
    "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_prefetch_data_pc_rel", "s_buffer_prefetch_data", "s_sendmsg",
    "s_sendmsghalt", "s_barrier_leave", "s_setprio_inc_wg", "s_fmaak_f32", "s_fmamk_f32", "s_wait_event",
    *(f"v_s_{op}_{t}" for op in ("exp", "log", "rcp", "rsq", "sqrt") for t in ("f16", "f32")),
}  # fmt: skip


def sgpr(first: int, bits: int) -> str:
    n = bits // 32
    return f"s{first}" if n == 1 else f"s[{first}:{first + n - 1}]"


def vgpr(first: int, bits: int) -> str:
    n = max(bits // 32, 1)
    return f"v{first}" if n == 1 else f"v[{first}:{first + n - 1}]"


#: Scratch instructions here take a vector or a scalar address.
OLD_GFX9 = ("gfx900", "gfx906", "gfx908", "gfx90a")
NO_BOTH_ADDRESSES = (*OLD_GFX9, "gfx1030")


class Case:
    """Assembly of one instruction, and what the decoder must say."""

    def __init__(self, op: Op, arch: str, rng: random.Random) -> None:
        self.op, self.rng, self.arch, self.generation = op, rng, arch, generation_of(arch)
        self.name = op.assembly(arch)
        self.expect: list[str] = []
        self.length: int | None = None
        self.operands = op.parse_operands()
        make = {"SOP1": self.sop, "SOP2": self.sop, "SOPC": self.sop, "SOPK": self.sopk, "SOPP": self.sopp,
                "SMEM": self.smem, "DS": self.ds, "FLAT": self.flat, "GLOBAL": self.flat, "SCRATCH": self.flat,
                "MUBUF": self.mubuf, "VOP3": self.sop}[op.format]  # fmt: skip
        self.text = f"{self.name} {make()}".rstrip()

    def even(self, bits: int) -> int:
        step = 4 if bits == 96 else max(1, min(bits // 32, 4))
        return self.rng.randrange(0, 80 // step) * step

    def scalar_source(self, o: Operand, k: int) -> str:
        choice = self.rng.randrange(4)
        if choice == 0 and o.bits == 32 and "f16" not in self.name and not any("0x" in e for e in self.expect):
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
        for o in (replace(o, type="b32") if o.bits == 16 else o for o in self.operands):
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
        gds = " gds" if "_gws_" in self.name else ""
        return ", ".join(order) + f" offset:{offset}{gds}"

    def flat(self) -> str:
        if not self.operands:
            return ""
        n = {o.name: self.rng.randrange(0, 110) * 2 for o in self.operands}
        o = {x.name: x for x in self.operands}
        if self.name.endswith("_block"):  # written with all its registers
            o |= {k: replace(o[k], type="b1024") for k in "db" if k in o}
        fmt = self.op.format
        most = 2048 if self.arch != "gfx803" else 1  # which has none
        offset = self.rng.randrange(0, most) if fmt == "FLAT" else self.rng.randrange(-2048, 2048)
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
            both = () if self.arch in NO_BOTH_ADDRESSES else ((1, 1),)
            scalar, vector = self.rng.choice([(0, 1), (1, 0), *both])
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
        text = ", ".join(texts) + (f" offset:{offset}" if offset else "")
        if returns:
            newest = {"gfx942": " sc0", "gfx950": " sc0", "gfx1200": " th:TH_ATOMIC_RETURN",
                      "gfx1250": " th:TH_ATOMIC_RETURN"}  # fmt: skip
            text += newest.get(self.arch, " glc")
            self.expect.append("flags=257 " if self.arch == "gfx1250" and "s[4:5]" in text else "flags=1 ")
        return text

    def mubuf(self) -> str:
        if not self.operands:
            return "sc1" if self.arch in ("gfx942", "gfx950") and self.name in ("buffer_inv", "buffer_wbl2") else ""
        o = {x.name: x for x in self.operands}
        data = o.get("b") or o["d"]
        n = self.rng.randrange(0, 120) * 2
        offset = self.rng.randrange(4096)
        bits = data.bits
        if "_format_" in self.name:
            n_components = len(self.name.rsplit("_", 1)[1])
            bits = 32 * ((n_components + 1) // 2 if "d16" in self.name else n_components)
        self.expect += [f"dst={n} ", "src2=s8 ", f"imm={offset} "]
        mode, address, flags = self.rng.choice([("", "off", 0), ("offen", "v3", 16), ("idxen", "v3", 32),
                                                ("idxen offen", "v[4:5]", 48)])  # fmt: skip
        self.expect.append(f"flags={flags} ")
        return f"{vgpr(n, bits)}, {address}, s[8:11], s20 {mode} offset:{offset}"


def _cases(arch: str) -> list[Case]:
    rng = random.Random(7)
    cases = []
    for op in (*scalar_ops(), *memory_ops()):
        late = ("add_f32", "pk_add") + (("_f64",) if arch != "gfx90a" else ())
        if arch in OLD_GFX9 and op.format in ("FLAT", "GLOBAL", "MUBUF") and any(text in op.name for text in late):
            continue  # LLVM's disassembler takes them, its assembler does not
        if op.opcode(arch) is None or op.name in NO_SYNTAX or op.mnemonic(arch) in NO_SYNTAX:
            continue
        if op.format in ("MTBUF", "MIMG", "VSAMPLE") or op.name.startswith("tbuffer"):
            continue  # whose operands hang on the operation: test_image_sampling.py, test_typed_buffers.py
        cases += [Case(op, arch, rng) for _ in range(3 if op.parse_operands() else 1)]
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


@pytest.mark.parametrize("arch", ARCHS)
def test_rows_decode_as_assembled(arch: str) -> None:
    """Every row's opcode and operands."""
    cases, wrong = _cases(arch), []
    words = _machine_code(cases, arch)
    at = 0
    for case in cases:
        length, text = describe(arch, words[at : at + 5])
        name = text.split(" ", 1)[0]
        missing = [e for e in case.expect if e not in text + " "]
        if name != case.name or missing or not length:
            wrong.append(f"{case.text!r} {words[at]:08x}: {text!r}, missing {missing}")
        at += abs(length) or case.length or 2
    assert not wrong, "\n".join(wrong[:40])
    assert at == len(words)


@pytest.mark.parametrize("arch", DECODERS)
def test_unknown_words_are_refused(arch: str) -> None:
    """Random words never crash the decoder, and a truncated instruction is unknown."""
    rng = random.Random(3)
    for _ in range(20000):
        words = [rng.getrandbits(32) for _ in range(rng.randrange(1, 4))]
        length, _ = describe(arch, words)
        assert abs(length) <= len(words)


@pytest.mark.parametrize("arch", ARCHS)
def test_reserved_sources_are_refused(arch: str) -> None:
    """Codes of sources that mean nothing on a chip are no zeros."""
    sources = {code: describe(arch, [0x7E020200 | code])[0] for code in range(256)}  # v_mov_b32 v1, ...
    assert all(sources[code] > 0 for code in (0, 106, 128, 208, 240, 251, 252, 253))
    newest = arch == "gfx1250"  # 230: where private memory begins; 254: a literal of two dwords
    assert not any(sources[code] for code in (209, *(() if newest else (230,)), 232, 239))
    assert (sources[230] > 0) == newest
    assert newest or sources[254] <= 0  # LDS, directly
