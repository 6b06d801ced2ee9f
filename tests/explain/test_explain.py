"""`explain`: each PTX line has the machine code that comes from it, below the CUDA line that it comes from, and the
facts are those of the translation. A wrong line would send a reader to the wrong place."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from ptx2amd.explain import Explanation, Row, explain
from ptx2amd.explain.page import page
from ptx2amd.explain.sources import fill
from ptx2amd.explain.terminal import lines
from ptx2amd.translate import parse, translate

TEXT = """.version 8.0
.target sm_80
.address_size 64
.func (.param .f32 r) twice(.param .f32 x) {
.reg .f32 %f<3>;
.loc 1 2 0
ld.param.f32 %f1, [x];
add.f32 %f2, %f1, %f1;
st.param.f32 [r], %f2;
ret;
}
.visible .entry scale(.param .u64 p, .param .f32 a) {
.reg .f32 %f<6>; .reg .b64 %rd<4>; .reg .b32 %r<2>;
.loc 1 5 0
ld.param.u64 %rd1, [p];
ld.param.f32 %f1, [a];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
.loc 1 6 0
ld.global.f32 %f2, [%rd3];
sqrt.approx.f32 %f3, %f2;
mul.f32 %f4, %f3, %f1;
.loc 1 7 0
st.global.f32 [%rd3], %f4;
ret;
}
.file 1 "scale.cu"
"""
CUDA = "// one\n__device__ float twice(float x) { return x + x; }\n\n\nint i = threadIdx.x; // place\nroot;\nstore;\n"


@pytest.fixture(scope="module", params=["gfx942", "gfx1100"])
def found(request: pytest.FixtureRequest) -> Explanation:
    return explain(parse(TEXT, "scale.ptx"), "scale", request.param)


def row(found: Explanation, ptx: str) -> Row:
    [only] = [row for section in found.sections for row in section.rows if row.ptx.startswith(ptx)]
    return only


def test_instructions_stand_beside_their_line(found: Explanation) -> None:
    assert any(code.startswith("global_load_") for code in row(found, "ld.global.f32").code)
    assert any(code.startswith("v_sqrt_f32") for code in row(found, "sqrt.approx").code)
    assert any(code.startswith("v_mul_f32") for code in row(found, "mul.f32").code)
    assert any(code.startswith("global_store_") for code in row(found, "st.global.f32").code)
    assert any(code.startswith("store float") for code in row(found, "st.global.f32").ir)
    assert not any(code.startswith("global_store_") for code in row(found, "ld.global.f32").code)


def test_every_instruction_is_shown_once(found: Explanation) -> None:
    [asm] = translate(TEXT, archs=[found.arch], kernels=["scale"], emit="asm")
    executed = [line.split()[0] for line in asm.code.decode().split(".Lfunc_end")[0].splitlines()
                if line.startswith("\t") and line.strip()[0].isalpha()]  # fmt: skip
    shown = [code.split()[0] for section in found.sections for row in section.rows for code in row.code
             if not code.endswith(":")]  # fmt: skip
    assert sorted(shown) == sorted(executed)
    assert sum(found.counts.values()) == len(executed)


def test_cuda_lines(found: Explanation, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "scale.cu").write_text(CUDA)
    fill(found, tmp_path / "scale")
    assert [(row.place, row.source) for row in found.sections[0].rows if row.place] == [
        ("scale.cu:5", "int i = threadIdx.x; // place"), ("scale.cu:6", "root;"), ("scale.cu:7", "store;")]  # fmt: skip


def test_facts_are_those_of_the_translation(found: Explanation) -> None:
    [result] = translate(TEXT, archs=[found.arch], kernels=["scale"])
    kernel = result.kernels["scale"]
    assert (found.kernel.vgprs, found.kernel.sgprs) == (kernel.vgprs, kernel.sgprs)
    assert found.kernel.fidelity == "approx: sqrt.approx.f32" and row(found, "sqrt.approx").note.startswith("approx: ")
    assert found.reasons[0].startswith({"gfx942": "paired: ", "gfx1100": "native: "}[found.arch])


def test_the_reason_of_a_padded_kernel_is_its_line() -> None:
    wait = "L: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;"
    first = "mov.u32 %r2, %tid.x; setp.ne.u32 %p2, %r2, 64; @%p2 bra L; st.volatile.shared.u32 [s], 1;"
    variables = ".reg .b32 %r<3>; .reg .pred %p<3>; .shared .u32 s;"
    body = "\n".join([variables, first, wait, "ret;"])
    text = TEXT.split(".func")[0] + ".visible .entry k() {\n" + body + "\n}\n"
    found = explain(parse(text, "k.ptx"), "k", "gfx942")
    assert found.kernel.mapping == "padded"
    assert found.reasons and all("wait for each other: line 7" in reason for reason in found.reasons)


def test_terminal_view_fits_120_columns(found: Explanation) -> None:
    text = list(lines(found, 120))
    assert max(map(len, text)) <= 120
    assert any("sqrt.approx.f32" in line and "│" in line for line in text)
    assert sum("line PTX" in line for line in text) == len(found.sections)


class Tags(HTMLParser):
    """The tags that are open, and addresses that the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_whole_and_needs_no_other_file(found: Explanation) -> None:
    found.sections[0].rows[0].source, found.sections[0].rows[0].place = "<b>&amp;", "<i>.cu:1"
    tags = Tags()
    tags.feed(page(found))
    assert not tags.open and not tags.fetched
    assert "<i>.cu:1  <b>&amp;" in tags.text and "sqrt.approx.f32" in tags.text
