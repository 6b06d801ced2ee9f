"""Instruction formats of the AMDGPU machine code as bit fields.

A layout is text: `hi:lo=value` is a constant bit field that identifies the format, `name=hi:lo` a field. Bit 32 is bit
0 of the second dword. Formats are tried in order. Fields have the same name in all generations. A field whose value is
part of the operation (op) instead of an operand selects the row.
"""

from __future__ import annotations

import re

from ptx2amd.records import dataclass
from ptx2amd.target import chips

_VOP3 = "op=25:16 vdst=7:0 src0=40:32 src1=49:41 src2=58:50 omod=60:59 neg=63:61 clamp=15:15"
_VOP3P = (
    "op=22:16 vdst=7:0 src0=40:32 src1=49:41 src2=58:50 neg=63:61 neg_hi=10:8 clamp=15:15 opsel=13:11"
    " opsel_hi=60:59 opsel_hi2=14:14"
)
_SCALAR = {
    "SOP1": "31:23=0x17d op=15:8 sdst=22:16 src0=7:0",
    "SOPC": "31:23=0x17e op=22:16 src0=7:0 src1=15:8",
    "SOPP": "31:23=0x17f op=22:16 simm16=15:0",
    "SOPK": "31:28=0xb op=27:23 sdst=22:16 simm16=15:0",
    "SOP2": "31:30=2 op=29:23 sdst=22:16 src0=7:0 src1=15:8",
}
_VECTOR = {
    "VOP1": "31:25=0x3f op=16:9 vdst=24:17 src0=8:0",
    "VOPC": "31:25=0x3e op=24:17 src0=8:0 src1=16:9",
    "VOP2": "31:31=0 op=30:25 vdst=24:17 src0=8:0 src1=16:9",
}
_FLAT = "op=24:18 vdst=63:56 addr=39:32 data=47:40 saddr=54:48"
#: GFX12's three dwords. glc is TH's first bit: for atomics, whether they return a value.
_FLAT12 = "op=20:14 saddr=6:0 vdst=39:32 addr=71:64 data=62:55 ioffset=95:72 glc=52:52 scope=51:50"
_IMAGE = "vaddr=39:32 vdata=47:40 srsrc=52:48 ssamp=57:53 dmask=11:8"
_IMAGE12 = "dim=2:0 dmask=25:22 vdata=39:32 rsrc=49:41 vaddr=71:64"
_BUFFER = "vdata=47:40 vaddr=39:32 srsrc=52:48 soffset=63:56 offset=11:0"

#: generation -> format -> layout, in the order in which they are tried.
LAYOUTS: dict[str, dict[str, str]] = {
    "gfx8": {
        "VOP3": f"31:26=0x34 {_VOP3} abs=10:8 sdst=14:8",
        "DS": "31:26=0x36 op=24:17 vdst=63:56 addr=39:32 data0=47:40 data1=55:48 offset0=7:0 offset1=15:8 gds=16:16",
        "FLAT": "31:26=0x37 op=24:18 vdst=63:56 addr=39:32 data=47:40 glc=16:16 slc=17:17",
        "MUBUF": f"31:26=0x38 op=24:18 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 lds=16:16 slc=17:17 tfe=55:55",
        "MTBUF": f"31:26=0x3a op=18:15 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 slc=54:54 tfe=55:55 format=25:19",
        "MIMG": f"31:26=0x3c op=24:18 {_IMAGE} unorm=12:12 glc=13:13 array=14:14 tfe=16:16 slc=25:25 d16=63:63",
        "SMEM": "31:26=0x30 op=25:18 sdata=12:6 sbase=5:0 offset=51:32 glc=16:16 imm=17:17",
        **_SCALAR,
        **_VECTOR,
    },
    "gfx9": {
        "VOP3P": f"31:23=0x1a7 {_VOP3P} cbsz=10:8 abid=14:11 acc_cd=15:15 acc=60:59 blgp=63:61",
        "VOP3": f"31:26=0x34 {_VOP3} abs=10:8 opsel=14:11 sdst=14:8",
        "DS": "31:26=0x36 op=24:17 vdst=63:56 addr=39:32 data0=47:40 data1=55:48 offset0=7:0 offset1=15:8"
        " acc=25:25 gds=16:16",
        "FLAT": f"31:26=0x37 15:14=0 {_FLAT} offset=11:0 acc=55:55 glc=16:16 slc=17:17 dlc=25:25 lds=13:13",
        "SCRATCH": f"31:26=0x37 15:14=1 {_FLAT} ioffset=12:0 acc=55:55 glc=16:16 slc=17:17 dlc=25:25 sve=13:13",
        "GLOBAL": f"31:26=0x37 15:14=2 {_FLAT} ioffset=12:0 acc=55:55 glc=16:16 slc=17:17 dlc=25:25 lds=13:13",
        "MUBUF": f"31:26=0x38 op=24:18 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 dlc=15:15 lds=16:16 slc=17:17"
        " acc=55:55 tfe=55:55",
        "MTBUF": f"31:26=0x3a op=18:15 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 slc=54:54 acc=55:55"
        " tfe=55:55 format=25:19",
        "MIMG": f"31:26=0x3c op=24:18 {_IMAGE} unorm=12:12 glc=13:13 array=14:14 a16=15:15 tfe=16:16 acc=16:16"
        " slc=25:25 d16=63:63",
        "SMEM": "31:26=0x30 op=25:18 sdata=12:6 sbase=5:0 soffset=63:57 offset=52:32 glc=16:16 soffset_en=14:14"
        " imm=17:17",
        **_SCALAR,
        **_VECTOR,
    },
    "gfx10": {
        "VOP3P": f"31:24=0xcc {_VOP3P}",
        "VINTERP": "31:26=0x32 op=17:16",
        "VOP3": f"31:26=0x35 {_VOP3} abs=10:8 opsel=14:11 sdst=14:8",
        "DS": "31:26=0x36 op=25:18 vdst=63:56 addr=39:32 data0=47:40 data1=55:48 offset0=7:0 offset1=15:8 gds=17:17",
        "FLAT": f"31:26=0x37 15:14=0 {_FLAT} offset=11:0 glc=16:16 dlc=12:12 slc=17:17 lds=13:13",
        "SCRATCH": f"31:26=0x37 15:14=1 {_FLAT} ioffset=11:0 glc=16:16 dlc=12:12 slc=17:17 lds=13:13",
        "GLOBAL": f"31:26=0x37 15:14=2 {_FLAT} ioffset=11:0 glc=16:16 dlc=12:12 slc=17:17 lds=13:13",
        "MUBUF": f"31:26=0x38 op=25:18 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 dlc=15:15 lds=16:16 slc=54:54"
        " tfe=55:55",
        "MTBUF": f"31:26=0x3a op=18:16 opm=53:53 {_BUFFER} offen=12:12 idxen=13:13 glc=14:14 dlc=15:15"
        " slc=54:54 tfe=55:55"
        " format=25:19",
        "MIMG": f"31:26=0x3c op=24:18 opm=0:0 {_IMAGE} nsa=2:1 dim=5:3 dlc=7:7 unorm=12:12 glc=13:13 tfe=16:16"
        " slc=25:25"
        " a16=62:62 d16=63:63",
        "EXP": "31:26=0x3e",
        "SMEM": "31:26=0x3d op=25:18 sdata=12:6 sbase=5:0 soffset=63:57 offset=52:32 glc=16:16 dlc=14:14",
        **_SCALAR,
        **_VECTOR,
    },
    "gfx11": {
        "VOPD": "31:26=0x32 op=25:22 opy=21:17 vdst=63:56 vdsty=55:49 src0=8:0 srcy0=40:32 src1=16:9 srcy1=48:41",
        "VOP3P": f"31:24=0xcc {_VOP3P}",
        "VINTERP": "31:24=0xcd op=22:16",
        "LDSDIR": "31:24=0xce op=21:20",
        "VOP3": f"31:26=0x35 {_VOP3} abs=10:8 opsel=14:11 sdst=14:8",
        "DS": "31:26=0x36 op=25:18 vdst=63:56 addr=39:32 data0=47:40 data1=55:48 offset0=7:0 offset1=15:8 gds=17:17",
        "FLAT": f"31:26=0x37 17:16=0 {_FLAT} offset=11:0 glc=14:14 dlc=13:13 slc=15:15",
        "SCRATCH": f"31:26=0x37 17:16=1 {_FLAT} ioffset=12:0 glc=14:14 dlc=13:13 slc=15:15 sve=55:55",
        "GLOBAL": f"31:26=0x37 17:16=2 {_FLAT} ioffset=12:0 glc=14:14 dlc=13:13 slc=15:15",
        "MUBUF": f"31:26=0x38 op=25:18 {_BUFFER} offen=54:54 idxen=55:55 glc=14:14 dlc=13:13 slc=12:12 tfe=53:53",
        "MTBUF": f"31:26=0x3a op=18:15 {_BUFFER} offen=54:54 idxen=55:55 glc=14:14 dlc=13:13 slc=12:12 tfe=53:53"
        " format=25:19",
        "MIMG": "31:26=0x3c op=25:18 vaddr=39:32 vdata=47:40 srsrc=52:48 ssamp=62:58 dmask=11:8 nsa=0:0 dim=4:2"
        " unorm=7:7"
        " slc=12:12 dlc=13:13 glc=14:14 a16=16:16 d16=17:17 tfe=53:53",
        "EXP": "31:26=0x3e",
        "SMEM": "31:26=0x3d op=25:18 sdata=12:6 sbase=5:0 soffset=63:57 offset=52:32 glc=14:14 dlc=13:13",
        **_SCALAR,
        **_VECTOR,
    },
    "gfx12": {
        "VOPD": "31:26=0x32 op=25:22 opy=21:17 vdst=63:56 vdsty=55:49 src0=8:0 srcy0=40:32 src1=16:9 srcy1=48:41",
        "VOP3P": f"31:24=0xcc {_VOP3P}",
        "VINTERP": "31:24=0xcd op=22:16",
        "LDSDIR": "31:24=0xce op=21:20",
        "VOP3": f"31:26=0x35 {_VOP3} abs=10:8 opsel=14:11 sdst=14:8",
        "DS": "31:26=0x36 op=25:18 vdst=63:56 addr=39:32 data0=47:40 data1=55:48 offset0=7:0 offset1=15:8",
        "FLAT": f"31:24=0xec {_FLAT12}",
        "SCRATCH": f"31:24=0xed {_FLAT12} sve=49:49",
        "GLOBAL": f"31:24=0xee {_FLAT12}",
        "MUBUF": "31:26=0x31 op=21:14 vdata=39:32 vaddr=71:64 rsrc=49:41 soffset=6:0 ioffset=95:72 offen=62:62"
        " idxen=63:63 tfe=22:22 glc=52:52 scope=51:50 format=61:55",
        "MIMG": f"31:26=0x34 op=21:14 {_IMAGE12} a16=6:6 d16=5:5 tfe=55:55 glc=52:52 scope=51:50",
        "VSAMPLE": f"31:26=0x39 op=21:14 {_IMAGE12} a16=6:6 d16=5:5 tfe=3:3 unorm=13:13 ssamp=63:55 glc=52:52"
        " scope=51:50",
        "EXP": "31:26=0x3e",
        "SMEM": "31:26=0x3d op=18:13 sdata=12:6 sbase=5:0 soffset=63:57 ioffset=55:32 scope=22:21",
        **_SCALAR,
        **_VECTOR,
    },
}
#: gfx1250 and gfx1251: no images, a VOPD of three dwords, offsets in elements (scale).
LAYOUTS["gfx125"] = {
    "VOPD3": "31:24=0xcf op=23:18 opy=17:12 src0=8:0 srcy0=40:32 neg=43:41 negy=46:44 src1=55:48 src2=63:56 vdst=71:64"
    " srcy1=79:72 srcy2=87:80 vdsty=95:88",
    **{k: v for k, v in LAYOUTS["gfx12"].items() if k not in ("MIMG", "VSAMPLE")},
    **{k: LAYOUTS["gfx12"][k] + " scale=48:48" for k in ("FLAT", "SCRATCH", "GLOBAL")},
    "SMEM": LAYOUTS["gfx12"]["SMEM"] + " scale=56:56",
}

#: Architecture whose machine code a decoder is for -> generation of its layouts.
DECODERS: dict[str, str] = {
    chip["decoder"]: chip["layouts"] or f"gfx{chips.generation(name)}"
    for name, chip in chips.chips().items()
    if chip["decoder"] and not name.endswith("-generic")
}

#: Extension dwords of VOP1, VOP2, VOPC (and VOP3 on gfx11), chosen by the value of src0.
EXTENSIONS: dict[str, str] = {
    "DPP16": "vsrc0=7:0 ctrl=16:8 fi=18:18 bound=19:19 neg0=20:20 abs0=21:21 neg1=22:22 abs1=23:23"
    " bank_mask=27:24 row_mask=31:28",
    "DPP8": "vsrc0=7:0 lanes=31:8",
    "SDWA": "vsrc0=7:0 sdst=14:8 sd=15:15 dst_sel=10:8 unused=12:11 clamp=13:13 omod=15:14 sel0=18:16 sext0=19:19"
    " neg0=20:20 abs0=21:21 s0=23:23 sel1=26:24 sext1=27:27 neg1=28:28 abs1=29:29 s1=31:31",
}

#: Dwords of an instruction in each format, without literal and extension.
DWORDS = {**dict.fromkeys(("SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "VOP1", "VOP2", "VOPC", "LDSDIR"), 1)}
DWORDS12 = {**DWORDS, **dict.fromkeys(("FLAT", "SCRATCH", "GLOBAL", "MUBUF", "MIMG", "VSAMPLE", "VOPD3"), 3)}

#: Opcodes of short forms in VOP3: added to the short form's number.
VOP3_BASE = {
    **{key: {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x140} for key in ("gfx8", "gfx9")},
    **{key: {"VOPC": 0, "VOP2": 256, "VOP1": 384} for key in ("gfx10", "gfx11", "gfx12", "gfx125")},
}

_PART = re.compile(r"(\w+)(?::(\w+))?=(\w+)(?::(\w+))?$")


@dataclass(frozen=True, slots=True)
class Layout:
    """A parsed layout: constant bits of the first dword (mask, match), fields as (lo, bits)."""

    name: str
    mask: int
    match: int
    fields: dict[str, tuple[int, int]]
    dwords: int


def parse(name: str, text: str, dwords: dict[str, int] = DWORDS) -> Layout:
    """Parses a layout; ValueError for invalid notation."""
    mask = match = 0
    fields: dict[str, tuple[int, int]] = {}
    for part in text.split():
        m = _PART.match(part)
        if not m:
            raise ValueError(f"{name}: {part!r}")
        if m[2] is not None:  # hi:lo=value
            hi, lo, value = int(m[1]), int(m[2]), int(m[3], 0)
            mask |= ((1 << (hi - lo + 1)) - 1) << lo
            match |= value << lo
        else:
            hi, lo = int(m[3]), int(m[4])
            fields[m[1]] = (lo, hi - lo + 1)
    return Layout(name, mask, match, fields, dwords.get(name, 2))


def layouts(generation: str) -> list[Layout]:
    """The formats of a generation, in the order in which they are tried."""
    dwords = DWORDS12 if generation.startswith("gfx12") else DWORDS
    return [parse(name, text, dwords) for name, text in LAYOUTS[generation].items()]


#: All format names, in a fixed order: enum inst_format of the generated C.
FORMATS = tuple(dict.fromkeys(name for formats in LAYOUTS.values() for name in formats))

#: All field names of formats.
FIELDS = tuple(sorted({f for formats in LAYOUTS.values() for n, t in formats.items() for f in parse(n, t).fields}))
