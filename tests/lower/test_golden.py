"""PTX files with expectations on the LLVM IR or the machine code that comes out of them.

In a file, `// IR: text` and `// ASM gfx942: text` lines must be found in the output in their order, `NOT`
lines (`// IR NOT: text`) nowhere. Whitespace counts as one blank, `%_` stands for any local name.
Every file is compiled for both archs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.target import target
from ptx2amd.translate import parse, translate

FILES = sorted(Path(__file__).parent.joinpath("golden").glob("*.ptx"))
CHECK = re.compile(r"//\s*(IR|ASM (?P<arch>\w+))(?P<absent> NOT)?:\s*(?P<text>.*)")


def unoptimised(text: str, arch: str) -> str:
    module = parse(text)
    lowering = ModuleLowering(module, target(arch))
    for name, function in module.functions.items():
        if function.kind == "entry":
            lowering.kernel(name)
    return lowering.ir()


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    text = path.read_text()
    outputs = {"": squeeze(unoptimised(text, "gfx942"))}
    for result in translate(text, path.name, ["gfx942", "gfx1100"], emit="asm"):
        assert result.ok, result.kernels
        outputs[result.arch] = squeeze(result.code.decode())
    at = dict.fromkeys(outputs, 0)
    checks = list(CHECK.finditer(text))
    assert checks, "a golden file without expectations"
    for check in checks:
        which = check["arch"] or ""
        wanted = re.compile(re.escape(squeeze(check["text"].strip())).replace("%_", r"%[\w.]+"))
        if check["absent"]:
            assert not wanted.search(outputs[which]), f"{check['text']} is in the {check[1]}"
            continue
        found = wanted.search(outputs[which], at[which])
        assert found, f"{check['text']} not found in\n{outputs[which][at[which] :]}"
        at[which] = found.end()
