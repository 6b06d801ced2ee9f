"""Launches of more blocks in x than a kernel's code is made for take other code (plan/kernel.py: FEW and ANY)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ptx2amd.plan.kernel import MOST_BLOCKS
from tests.bad_input.test_bad_input import run
from tests.shim.cache_entries import PTX, write_index, write_kernel
from tests.shim.test_modules import launch

IMAGE = PTX + b"// wide grids\n"
INDEX = """ptx 8 0
target 80
segment_size 0
segment_align 1
kernel k
"""
FEW = 1000  # blocks of the code below


@pytest.fixture
def kernel(shim: SimpleNamespace, context: object) -> object:
    write_index(shim.cache, IMAGE, INDEX)
    module, function = shim.ffi.new("CUmodule *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleLoadData(module, IMAGE) == 0
    assert shim.cuda.cuModuleGetFunction(function, module[0], b"k") == 0
    return function[0]


@pytest.mark.parametrize(
    ("grid", "wide"),
    [((1, 1, 1), False), ((FEW, 1, 1), False), ((FEW + 1, 1, 1), True), ((1, FEW + 1, FEW + 1), False)],
)
def test_code_by_grid(shim: SimpleNamespace, kernel: object, grid: tuple[int, ...], wide: bool) -> None:
    """The other code is told by its mapping here, whose blocks have twice the size."""
    write_kernel(shim.cache, IMAGE, "k", blocks=FEW)
    write_kernel(shim.cache, IMAGE, "k", "grid=any", mapping="padded")
    assert launch(shim, kernel, grid=grid) == 0
    assert list(shim.stub.stub_last.grid) == list(grid)
    assert list(shim.stub.stub_last.block) == ([64, 1, 1] if wide else [32, 1, 1])


@pytest.mark.parametrize(
    ("few", "options"),
    [
        ({"rows": 32}, "mapping=padded grid=any"),
        ({"spilled": 1}, "shared=spilled grid=any"),
        ({"spilled": 1, "rows": 32}, "mapping=padded shared=spilled grid=any"),
    ],
)
def test_with_other_reasons(shim: SimpleNamespace, kernel: object, few: dict[str, int], options: str) -> None:
    """A block of 64 threads in x needs padding where rows must have 32."""
    write_kernel(shim.cache, IMAGE, "k", blocks=FEW, **few)
    write_kernel(shim.cache, IMAGE, "k", options, mapping="padded")
    assert launch(shim, kernel, (64, 1, 1), (FEW + 1, 1, 1)) == 0
    assert list(shim.stub.stub_last.block) == [128, 1, 1]


NUMBERS = f"""
code = HEAD + b'''
.visible .entry numbers(.param .u64 out)
{{
  .reg .b64 %rd<4>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
}}
'''
numbers = cu.function(cu.load(code), "numbers")
for blocks in ({MOST_BLOCKS}, {MOST_BLOCKS + 1}, {2 * MOST_BLOCKS + 5}):
    out = cu.alloc(4 * 2 * blocks)
    assert cu.launch(numbers, blocks, 2, 0, out) == "CUDA_SUCCESS"
    assert struct.unpack(f"<{{2 * blocks}}I", cu.read(out, 8 * blocks)) == tuple(range(2 * blocks))
"""


def test_results_on_both_sides_of_the_limit(tmp_path: Path) -> None:
    done = run(f"cu = Driver().start()\n{NUMBERS}\n", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    entries = [path.read_bytes() for path in (tmp_path / "cache").rglob("*.p2a")]
    assert sorted(b"blocks %d\n" % MOST_BLOCKS in entry for entry in entries if b"name numbers\n" in entry) == [
        False,
        True,
    ]
