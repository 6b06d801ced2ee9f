""".minnctapersm leaves registers for as many waves as it asks for, .maxnreg has so many; clusters have one block."""

from __future__ import annotations

import pytest

from ptx2amd.translate import translate

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LIVE = 180  # values that are live at once


def kernel(directives: str) -> str:
    loads = "".join(f"ld.volatile.global.u32 %v{i}, [%p+{4 * i}];\n" for i in range(LIVE))
    stores = "".join(f"st.volatile.global.u32 [%p+{4 * i}], %v{LIVE - 1 - i};\n" for i in range(LIVE))
    registers = f".reg .b32 %v<{LIVE}>; .reg .b64 %p; ld.param.u64 %p, [a];\n"
    return f"{HEAD}.visible .entry k(.param .u64 a) {directives} {{ {registers}{loads}{stores} ret; }}"


@pytest.mark.parametrize(
    ("arch", "directives", "most"),
    [
        ("gfx942", ".maxntid 256, 1, 1", 512),
        ("gfx942", ".maxntid 256, 1, 1 .minnctapersm 4", 128),  # 16 waves a compute unit, 4 a SIMD
        ("gfx942", ".maxntid 256, 1, 1 .maxnreg 64", 64),
        ("gfx90a", ".maxntid 256, 1, 1 .maxnreg 57", 57),
        ("gfx1100", ".maxntid 256, 1, 1 .maxnreg 33", 33),
        ("gfx1201", ".maxntid 256, 1, 1 .maxnreg 16", 32),
        ("gfx1100", ".maxntid 128, 1, 1 .minnctapersm 8", 96),
        ("gfx942", ".maxntid 256, 1, 1 .maxnreg 255", 512),
    ],
)
def test_registers_for_as_many_waves(arch: str, directives: str, most: int) -> None:
    [result] = translate(kernel(directives), "bounds.ptx", [arch])
    assert result.ok
    free = translate(kernel(".maxntid 256, 1, 1"), "bounds.ptx", [arch])[0].kernels["k"].vgprs
    assert free >= LIVE
    found = result.kernels["k"].vgprs
    assert found <= most
    assert (found < LIVE) == (most < LIVE)


@pytest.mark.parametrize(("arch", "most"), [("gfx942", 128), ("gfx90a", 128), ("gfx1100", 192)])
def test_registers_of_functions(arch: str, most: int) -> None:
    """A function is no reason why the largest blocks of its kernel would not fit: they leave it as many registers."""
    call = """{ .param .b64 x; st.param.b64 [x], %p; .reg .b64 %f; ld.volatile.u64 %f, [%p];
        P: .callprototype _ (.param .b64 _); call %f, (x), P; }"""
    taken = "".join(f"{{ .reg .b64 %f; mov.u64 %f, {name}; st.volatile.u64 [%p], %f; }}" for name in "fg")
    entry = kernel("").replace(HEAD, "").replace("ret; }", f"{taken} {call} ret; }}")
    function = kernel("").replace(".visible .entry k(", ".func f(").replace("st.volatile", f"{call} st.volatile", 1)
    function += ".func g(.param .u64 a) { ret; }\n"
    [result] = translate(function + entry, "bounds.ptx", [arch])
    assert result.ok, result.kernels["k"].reason
    assert 64 < result.kernels["k"].vgprs <= most


FUNCTION = """
.func (.param .b32 r) f({parameters}) {{
  .reg .b32 %v<41>, %r<2>; .reg .pred %p;
  {loads}
  setp.eq.u32 %p, %v0, 0; @%p bra done; sub.u32 %v0, %v0, 1;
  {call} {sums}
done:
  st.param.b32 [r], %v1; ret;
}}
.visible .entry k(.param .u64 a) .maxnreg 24 {{
  .reg .b32 %v<41>, %r<2>; .reg .b64 %p;
  ld.param.u64 %p, [a]; {values}
  {call} st.global.u32 [%p], %r0; ret;
}}
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_functions_keep_to_the_limit_of_their_kernels(arch: str) -> None:
    """Also one that calls itself with more arguments than LLVM passes in registers."""
    n = range(40)
    arguments = "".join(f".param .b32 a{i}; st.param.b32 [a{i}], %v{i};" for i in n)
    text = HEAD + FUNCTION.format(
        parameters=", ".join(f".param .b32 x{i}" for i in n),
        loads="".join(f"ld.param.u32 %v{i}, [x{i}];" for i in n),
        values="".join(f"ld.global.u32 %v{i}, [%p+{4 * i}];" for i in n),
        sums="".join(f"mad.lo.u32 %v1, %r0, 3, %v{i}; mov.b32 %r0, %v1;" for i in n),
        call=f"{{ {arguments} .param .b32 q; call (q), f, ({', '.join(f'a{i}' for i in n)}); ld.param.b32 %r0, [q]; }}",
    )
    assert translate(text.replace(".maxnreg 24", ""), "calls.ptx", [arch])[0].kernels["k"].vgprs > 32
    [result] = translate(text, "calls.ptx", [arch])
    assert result.ok and result.kernels["k"].vgprs == 32


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_clusters_of_several_blocks_are_refused(arch: str) -> None:
    text = HEAD.replace("sm_80", "sm_90")
    kernels = [f".visible .entry k{n}() .explicitcluster .reqnctapercluster {n}, 1, 1 {{ ret; }}" for n in (1, 2)]
    [result] = translate(text + "\n".join(kernels), "clusters.ptx", [arch])
    assert result.kernels["k1"].ok
    assert result.kernels["k2"].reason == "clusters of 2 blocks; a cluster has one block"
