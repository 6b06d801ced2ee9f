"""Local memory beyond what a wave's scratch can hold: refused with line and limit, by `inspect`, translations and the
service alike. LLVM would end the process over it."""

from __future__ import annotations

import pytest

from ptx2amd.codegen import stack
from ptx2amd.service.entry import module_id
from ptx2amd.service.protocol import Message
from ptx2amd.service.translation import answer
from ptx2amd.target import target
from ptx2amd.translate import KernelResult, translate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BODY = "mov.u64 l, s; add.u64 l, l, o; st.local.u32 [l], 7; ld.local.u32 r, [l+4]; st.global.u32 [a], r;"


def kernel(size: int, before: str = "", after: str = "") -> str:
    """A kernel with a local array of `size` bytes on line 6."""
    return f"""{HEAD}.visible .entry k(.param .u64 p) {{ .reg .b32 r; .reg .b64 a, o, l, x<300>;
ld.param.u64 a, [p]; ld.global.u64 o, [a]; {before}
.local .align 4 .b8 s[{size}]; {BODY} {after} ret; }}
.visible .entry fine(.param .u64 p) {{ ret; }}
"""


def chain(size: int) -> str:
    """A kernel with two functions behind it, each with a local array of a third of `size` bytes."""
    head = f".reg .b32 r; .reg .b64 a, o, l; .local .align 4 .b8 s[{size // 3}];"
    head += "ld.param.u64 a, [p]; ld.global.u64 o, [a];"
    call = "{ .param .u64 g; st.param.u64 [g], a; call %s, (g); } ld.local.u32 r, [l]; st.global.u32 [a+8], r;"
    inner = f".func h(.param .u64 p) {{ {head} {BODY} bar.sync 0; ret; }}\n"
    outer = f".func f(.param .u64 p) {{ {head} {BODY} {call % 'h'} ret; }}\n"
    return f"{HEAD}{inner}{outer}.visible .entry k(.param .u64 p) {{ {head} {BODY} {call % 'f'} ret; }}\n"


def judged(text: str, arch: str, emit: str, isolate: str = "") -> KernelResult:
    [result] = translate(text, "x.ptx", [arch], ["k"], emit=emit, isolate=isolate)
    return result.kernels["k"]


# Bytes of scratch that LLVM gives a lane at most.
LIMITS = {"gfx900": 131056, "gfx942": 131056, "gfx1030": 262112, "gfx1100": 262136, "gfx1201": 2097144}


@pytest.mark.parametrize("arch", LIMITS)
def test_the_limit_is_llvm_s(arch: str) -> None:
    assert stack.limit(target(arch)) == LIMITS[arch]


@pytest.mark.parametrize("arch", LIMITS)
@pytest.mark.parametrize("text", [kernel, chain])
def test_inspect_and_translation_agree_around_the_limit(arch: str, text) -> None:
    for size, fits in ((LIMITS[arch] - 600, True), (LIMITS[arch] + 36, False)):
        results = [judged(text(size), arch, "ll"), judged(text(size), arch, "hsaco", "all")]
        assert [result.ok for result in results] == [fits] * 2, results
        assert results[0].reason == results[1].reason


def test_the_refusal_has_line_and_limit() -> None:
    found = judged(kernel(140000), "gfx942", "ll")
    where = "bytes of local memory a thread (the largest array: s), where gfx942 has 131,056"
    assert found.reason == f"line 6: 140,004 {where}"


def test_other_kernels_of_the_module_are_translated() -> None:
    [result] = translate(kernel(140000), "x.ptx", ["gfx942"])
    assert not result.kernels["k"].ok
    assert result.kernels["fine"].ok
    assert result.code


@pytest.mark.parametrize("align", [4, 16, 64, 4096, 32768, 65536])
def test_alignment_counts_as_llvm_counts_it(align: int) -> None:
    """On both sides of the limit, found from sizes in steps of a quarter of the alignment."""
    step = max(4, align // 4)
    sizes = [131056 // step * step - step * k for k in range(-1, 9) if 131056 // step * step > step * k]
    verdicts = []
    for size in sizes:
        text = kernel(size).replace(".align 4", f".align {align}")
        verdicts.append((judged(text, "gfx942", "ll").ok, judged(text, "gfx942", "hsaco", "all").ok))
    assert all(early == late for early, late in verdicts), list(zip(sizes, verdicts, strict=True))
    assert align == 65536 or {early for early, _ in verdicts} == {True, False}


def test_arrays_that_are_not_used_count_for_nothing() -> None:
    text = HEAD + ".visible .entry k(.param .u64 p) { .local .align 4 .b8 s[140000]; ret; }\n"
    assert judged(text, "gfx942", "hsaco").ok


def spilling() -> str:
    """A kernel whose array fits, but not with the registers that LLVM has to put beside it."""
    loads = "".join(f"ld.volatile.global.u64 x{i}, [a+{8 * i}];\n" for i in range(300))
    stores = "".join(f"st.volatile.global.u64 [a+{8 * i}], x{i};\n" for i in range(300))
    text = kernel(131040, after=f"{loads} bar.sync 0; {stores}")
    return text.replace("k(.param .u64 p)", "k(.param .u64 p) .maxntid 1024")


def test_what_llvm_alone_knows_is_refused_alike() -> None:
    found = judged(spilling(), "gfx942", "hsaco", "all")
    assert "bytes of local memory a thread (the largest array: s), where gfx942 has 131,056" in found.reason


@pytest.mark.parametrize("text", [kernel(140000), spilling()])
def test_the_service_answers_with_the_limit(tmp_path, text: str) -> None:
    image = text.encode()
    header = {"op": "kernel", "kernel": "k", "arch": "gfx942", "module": module_id(image), "cache": str(tmp_path)}
    reply = answer(Message(header, image), "0" * 64, again=True)
    assert reply.header["code"] == "CUDA_ERROR_NOT_SUPPORTED"
    assert b"where gfx942 has 131,056" in reply.body
