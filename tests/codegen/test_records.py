"""IR text as records. Protects: that a rewrite sees whole instructions, and that what it leaves alone stays."""

from __future__ import annotations

import pytest

from ptx2amd.codegen import CodegenError
from ptx2amd.codegen.binding import Module
from ptx2amd.codegen.workarounds import records
from ptx2amd.translate import translate
from tests.codegen.test_apertures import TEXT

IR = """; a comment
@x = global i32 0

declare void @g(i32)

define amdgpu_kernel void @"k 1"(i32 %0) #0 {
  switch i32 %0, label %2 [
    i32 1, label %"odd one"
    i32 2, label %2
  ]

"odd one":                                        ; preds = %1
  call void @g(i32 1)
  br label %2

2:                                                ; preds = %1, %1
  ret void
}

attributes #0 = { nounwind }
"""


def test_parts() -> None:
    module = records.parse(IR)
    [function] = module.functions()
    assert function.kernel
    assert [block.label for block in function.blocks] == ["", '"odd one"', "2"]
    [switch], [call, jump], [end] = (block.lines for block in function.blocks)
    assert switch.count("\n") == 3 and "@g" in call and "br label" in jump and end == "  ret void"


def test_text_is_the_same_module() -> None:
    """Of this one, and of one with atomics, calls and local memory as LLVM has optimised it."""
    [result] = translate(TEXT, archs=["gfx942"], mode="module", emit="ll")
    for text in (IR, (result.code or b"").decode()):
        whole = str(Module(text))
        assert str(Module(records.parse(whole).text())) == whole


def test_declarations_are_made_once() -> None:
    module = records.parse(IR)
    module.declare("g", "void @g(i32)")
    module.declare("h", "void @h()")
    module.declare("h", "void @h()")
    assert module.text().count("declare") == 2


@pytest.mark.parametrize("lines", ["ret void\n}", "    i32 1, label %a\n}", "  ]\n}", "  ret void\n"])
def test_text_that_is_no_ir_is_an_error(lines: str) -> None:
    with pytest.raises(CodegenError, match="IR with a"):
        records.parse(f"define void @f() {{\n{lines}")
