"""The loader and the decoders under a coverage-guided fuzzer, with ASan and UBSan (tests/vgpu/fuzz/fuzz.c).

Protects: that no code object and no machine code crashes the host. By hand, for an hour and other seeds:
`PTX2AMD_FUZZ_SECONDS=3600 python -m pytest tests/vgpu/test_fuzz_coverage.py`.
"""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.ninja import Builder, BuildFile, Object
from ptx2amd.translate import translate
from ptx2amd.vgpu import generate
from tests.vgpu.test_fuzz import PTX

FOUND = Path(__file__).with_name("fuzz") / "found"  # inputs that once crashed
#: What reads what others have made.
COVERED = ("bundle", "loader", "metadata", "msgpack", "lines", "registers", "decode_")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


def build() -> Path:
    """The fuzzer: everything of the software GPU that exists once, without instruction handlers."""
    work = native.WORK.parent / "fuzz"
    builder = Builder(BuildFile(work), work, SANITIZE)
    include = (*native.vgpu_includes(builder.work), "-march=x86-64-v2")
    objects = []
    for unit in generate.write(builder.work):
        if unit.per != "once" or unit.path.name in ("all_builds.c", "valu_probe.c"):
            continue
        covered = ("-fsanitize-coverage=trace-pc",) if unit.path.name.startswith(COVERED) else ()
        objects.append(Object(unit.path, (*include, *unit.flags, *covered)))
    objects.append(Object(Path(__file__).with_name("fuzz") / "fuzz.c", include))
    builder.program(builder.work / "fuzzer", objects, ("-lm", "-ldl"))
    builder.file.run()
    return builder.work / "fuzzer"


def bundle(images: dict[str, bytes]) -> bytes:
    """A clang offload bundle."""
    head, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(images)), b""
    size = len(head) + sum(24 + len(name) for name in images)
    for name, image in images.items():
        head += struct.pack("<QQQ", size + len(body), len(image), len(name)) + name.encode()
        body += image
    return head + body


def run(program: Path, seconds: float, seed: int, folder: Path, files: list[Path]) -> str:
    """What the fuzzer says; the input at hand is in the message where it crashes."""
    current = folder / "current"
    command = [str(program), str(seconds), str(seed), str(current), *map(str, files)]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=seconds + 300)
    if done.returncode:
        kept = current.read_bytes()
        (folder / "crash").write_bytes(kept[8 : 8 + struct.unpack("<Q", kept[:8])[0]])
    assert done.returncode == 0, f"{folder / 'crash'}: {done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.slow
def test_coverage_guided(tmp_path: Path) -> None:
    program = build()
    code = {arch: translate(PTX, "fuzz.ptx", [arch])[0].code for arch in ("gfx942", "gfx1100")}
    words = (0xBF800000, 0x7E000281, 0xD1000000, 0x00000100, 0xDC508000, 0x01000002, 0xD3AC0000, 0x10023318, 0xD3AD0900,
             0x04521904, 0xC0020000, 0, 0xCA100101, 0x02180102, 0xEE14C07C, 4)  # fmt: skip
    both = bundle({f"hipv4-amdgcn-amd-amdhsa--{arch}": image for arch, image in code.items()})
    seeds = {**code, "bundle": both, "words": struct.pack("<16I", *words)}
    for name, data in seeds.items():
        (tmp_path / name).write_bytes(data)
    for file in sorted(FOUND.glob("*")):
        run(program, 0, 0, tmp_path, [file])
    seconds = float(os.environ.get("PTX2AMD_FUZZ_SECONDS", "60"))
    said = run(program, seconds, int(seconds), tmp_path, [tmp_path / name for name in seeds])
    runs, _, inputs, _, edges, _, first, *_ = said.split()
    assert int(runs) > 1000 and int(inputs) > 2 * len(seeds) and int(edges) > int(first), said
