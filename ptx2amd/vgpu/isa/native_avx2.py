"""Sequences of isa/native.py for AVX2: the same, but for instructions that only AVX-512 has.

AVX2 has 8 lanes, and lane masks are vectors of dwords (in halves: of qwords) that are all ones or zeros; `x{m} = ...`
selects, or for mask results takes the intersection. FORMS has, for an instruction that is missing, statements with

    x  the result    a b  the operands    W Z N  temporaries of its own

the last of which writes x once a and b were read. A row whose sequence has an instruction without a form is called as
the interpreter calls it. All other instructions have the same meaning in AVX2, FMA and F16C (vrndscale without digits
is vround).
"""

from __future__ import annotations

import re

from ptx2amd.vgpu.isa.native import X86, Sequence, f32, f64

_ONES, _ONES64, _SIGN64 = "#0xffffffff", "#0xffffffffffffffff", "#0x8000000000000000"
#: Low dwords of qwords, and words of dwords, next to each other at the register's start.
_PACK = "W = vshufps/0x88 {0} {0}; x = vpermq/0x08 W"


def _comparisons(kind: str, ones: str) -> dict[str, str]:
    """Signed ones of dwords (kind d) or qwords (q), by predicate."""
    eq, gt, xor = f"vpcmpeq{kind}", f"vpcmpgt{kind}", f"vpxor{kind}"
    return {
        "0": f"x = {eq} a b", "1": f"x = {gt} b a", "2": f"W = {gt} a b; x = {xor} W {ones}", "3": f"x = {gt} a a",
        "4": f"W = {eq} a b; x = {xor} W {ones}", "5": f"W = {gt} b a; x = {xor} W {ones}", "6": f"x = {gt} a b",
    }  # fmt: skip


_SIGNED, _SIGNED64 = _comparisons("d", _ONES), _comparisons("q", _ONES64)
_UNSIGNED = {
    "1": f"W = vpmaxud a b; W = vpcmpeqd W a; x = vpxord W {_ONES}",
    "2": "W = vpminud a b; x = vpcmpeqd W a",
    "5": "W = vpmaxud a b; x = vpcmpeqd W a",
    "6": f"W = vpminud a b; W = vpcmpeqd W a; x = vpxord W {_ONES}",
}


def _ordered(which: str, join: str) -> str:
    """vrange of quiet operands: of two zeros by sign, a number rather than NaN, of two NaNs the first."""
    return (
        f"W = {which} a b; Z = {which} b a; Z = {join} W Z; W = vcmpp/3 a a; Z{{W}} = mov b; W = vcmpp/3 b b; "
        "Z{W} = mov a; x = mov Z"
    )


def _ps(text: str) -> str:
    return text.replace("vcmpp/", "vcmpps/")


def _pd(text: str) -> str:
    for narrow, wide in (("vcmpp/", "vcmppd/"), ("mov", "movq"), ("vpord", "vporq"), ("vpandd", "vpandq")):
        text = text.replace(narrow, wide)
    return text


#: Instruction, with its immediate byte where there are several -> statements.
FORMS = {
    **{f"vpcmpd/{n}": text for n, text in _SIGNED.items()},
    **{f"vpcmpud/{n}": _UNSIGNED.get(n, text) for n, text in _SIGNED.items()},
    **{f"vpcmpq/{n}": text for n, text in _SIGNED64.items()},
    **{
        f"vpcmpuq/{n}": f"W = vpxorq a {_SIGN64}; Z = vpxorq b {_SIGN64}; "
        + re.sub(r"\b[ab]\b", lambda m: {"a": "W", "b": "Z"}[m[0]], text)
        for n, text in _SIGNED64.items()
    },
    "vptestmd": f"W = vpandd a b; W = vpcmpeqd W #0; x = vpxord W {_ONES}",
    "vptestmq": f"W = vpandq a b; W = vpcmpeqq W #0; x = vpxorq W {_ONES64}",
    "vpmovd2m": "x = vpsravd a #31",
    "korw": "x = vpord a b",
    "vpternlogd/0xca": "W = vpandd x a; Z = vpandnd x b; x = vpord W Z",
    "vrangeps/4": _ps(_ordered("vminps", "vpord")),
    "vrangeps/5": _ps(_ordered("vmaxps", "vpandd")),
    "vrangepd/4": _pd(_ordered("vminpd", "vpord")),
    "vrangepd/5": _pd(_ordered("vmaxpd", "vpandd")),
    # Below 2^k + 2^(k-1) no rounding reaches the next power of two; negative numbers have no leading zeros.
    "vplzcntd": "W = vpsrlvd a #1; W = vpandnd W a; W = vcvtdq2ps W; W = vpsrlvd W #23; W = vpsubd #158 W; "
    "W = vpmaxsd W #0; x = vpminsd W #32",
    "vcvtudq2ps": "W = vpsrlvd a #16; W = vcvtdq2ps W; Z = vpandd a #0xffff; Z = vcvtdq2ps Z; "
    f"W = vmulps W {f32(65536)}; x = vaddps W Z",
    # Of NaN and negative numbers the rows make 0.
    "vcvttps2udq": f"W = vsubps a {f32(2**31)}; W = vcvttps2dq W; W = vpxord W #0x80000000; "
    f"Z = vcmpps/0x1d a {f32(2**32)}; W = vpord W Z; Z = vcmpps/0x1d a {f32(2**31)}; N = vcvttps2dq a; N{{Z}} = mov W; "
    "x = mov N",
    "vcvtudq2pd": f"W = vpmovzxdq a; W = vporq W {f64(2**52)}; W = vsubpd W {f64(2**52)}; "
    "x = vpandq W #0x7fffffffffffffff",
    # Numbers from 0 to 2^32 - 1.
    "vcvttpd2udq": f"W = vrndscalepd/11 a; W = vaddpd W {f64(2**52)}; {_PACK.format('W')}",
    # Small ones.
    "vcvttpd2qq": "W = vcvttpd2dq a; x = vpmovsxdq W",
    "vcvtqq2pd": f"{_PACK.format('a').replace('x =', 'W =')}; x = vcvtdq2pd W",
    "vpsravq/52": "W = vpsravd a #20; W = vpshufd/0xf5 W; Z = vpsravd W #31; x = vpblendd/0xaa W Z",
    "vpmovdw": "W = vpackusdw a a; x = vpermq/0x08 W",
    # Where neither the factor nor the product leaves the range of normal f64: that of f32, widened.
    "vscalefpd": "Z = vcvttpd2dq b; Z = vpmovzxdq Z; Z = vpaddq Z #1023; Z = vpsllq/52 Z; x = vmulpd a Z",
}
#: What FORMS or nothing stands for.
_MISSING = {name.split("/")[0] for name in FORMS} | {"vpblendmd", "vpmovqd"}
_STATEMENT = re.compile(r"(\w+)(\{\w+\})? = (\w+)(/\w+)? (\S+)(?: (\S+))?$")


def _form(name: str, immediate: str, wide: bool, b: str) -> str:
    if name == "vpsravq" and b == "#52":
        return FORMS["vpsravq/52"]
    if name == "vscalefpd" and wide:
        return ""
    return FORMS.get(name, "") or FORMS.get(f"{name}{immediate}", "")


def _statement(text: str, wide: bool) -> str:
    """The statement in AVX2's instructions; "" if there are none."""
    m = _STATEMENT.match(text)
    if not m:
        return text if text == "halves" else ""
    x, mask, name, immediate, a, b = m[1], m[2] or "", m[3], m[4] or "", m[5], m[6] or ""
    if mask == "{ODD}":
        return f"{x} = vpblendd/0xaa {x} {a}" if name == "mov" else ""
    if name not in _MISSING:
        return text
    form = _form(name, immediate, wide, b)
    if name == "vpcmpuq" and b.startswith("#"):
        form, b = form.replace(f"vpxorq b {_SIGN64}", "movq b"), f"#{int(b[1:], 0) ^ 1 << 63:#x}"
    *before, last = re.sub(r"\b[abx]\b", lambda m: {"a": a, "b": b, "x": x}[m[0]], form).split("; ")
    return "; ".join([*before, last.replace(" = ", f"{mask} = ", 1)]) if form else ""


def sequence(found: Sequence | None) -> str:
    """The text of a row's sequence for AVX2; "" if it has none."""
    if not found:
        return ""
    statements = [_statement(text, found.wide) for text in found.text.split("; ")]
    return "; ".join(statements) if all(statements) else ""


#: AVX2's own instructions, as in native.X86.
OWN = {
    "vpcmpeqd": (1, 1, 0, 0x76, "BINARY"), "vpcmpgtd": (1, 1, 0, 0x66, "BINARY"),
    "vpcmpeqq": (2, 1, 0, 0x29, "BINARY"), "vpcmpgtq": (2, 1, 0, 0x37, "BINARY"),
    "vpandnd": (1, 1, 0, 0xDF, "BINARY"), "vminps": (1, 0, 0, 0x5D, "BINARY"), "vmaxps": (1, 0, 0, 0x5F, "BINARY"),
    "vshufps": (1, 0, 0, 0xC6, "BINARY_IMM"), "vpermq": (3, 1, 1, 0x00, "UNARY_IMM"),
    "vpmovsxdq": (2, 1, 0, 0x25, "UNARY"), "vpshufd": (1, 1, 0, 0x70, "UNARY_IMM"),
    "vpblendd": (3, 1, 0, 0x02, "BINARY_IMM"), "vpackusdw": (2, 1, 0, 0x2B, "BINARY"),
}  # fmt: skip
assert not OWN.keys() & X86.keys()
