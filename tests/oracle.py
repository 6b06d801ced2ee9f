"""ptxas as the judge of PTX: whole modules, or many statements in one run."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ptx2amd.compat import toolkit

VERSION = "9.0"
MEMORY = 4 << 30  # bytes: on some mistakes ptxas asks for more and more
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: ([^\n]*)")

_NARROW = re.compile(r"warning : Program uses 32-bit address on line '(\d+)'")


@functools.cache
def ptxas() -> str:
    """ptxas from PATH, else from the PyPI wheel nvidia-cuda-nvcc; PTX2AMD_TOOLKIT chooses."""
    return toolkit.find().ptxas


@functools.cache
def newest() -> str:
    """The ptxas for PTX after 9.0: of the wheel nvidia-cuda-nvcc, or of PATH; "" where both are older than 13.5."""
    root = Path(sysconfig.get_path("purelib"))
    paths = [Path(entry) / "nvidia" for entry in sys.path if entry.endswith("site-packages")]
    for found in (*(str(p) for path in (root / "nvidia", *paths) for p in path.glob("cu*/bin/ptxas")), ptxas()):
        text = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        release = re.search(r"release (\d+)\.(\d+)", text)
        if release and (int(release[1]), int(release[2])) >= (13, 5):
            return found
    return ""


def run(ptx: str, sm: str = "sm_80", tool: str = "", whole: bool = False) -> tuple[bool, str]:
    """Whether ptxas takes a module, and its output. whole: not to be linked with others."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "m.ptx"
        source.write_text(ptx)
        command = ["prlimit", f"--as={MEMORY}", tool or ptxas(), f"-arch={sm}", "-O0"]
        command += [*(() if whole else ["-c"]), str(source), "-o", str(Path(folder) / "m.cubin")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).replace(str(source), "m.ptx")


def ptxas_accepts(ptx: str, sm: str = "sm_80") -> tuple[bool, str]:
    """Whether ptxas accepts a PTX module for a target, and what it says. A text without .version gets one."""
    if ".version" not in ptx:
        ptx = f".version {VERSION}\n.target {sm}\n.address_size 64\n" + ptx
    return run(ptx, sm)


def verdicts(
    statements: Sequence[str],
    declarations: str,
    setting: tuple[str, str, str],
    module: str = "",
) -> list[str]:
    """ptxas's error for each statement, "" where it has none. Each stands alone in a function body behind
    `declarations`; statements that ptxas cannot even parse stop a run, so they cost one run each.
    setting: PTX version, .target, ptxas's -arch. PTX after 9.0 is for the newest ptxas."""
    found = [""] * len(statements)
    for start in range(0, len(statements), 400):
        part = range(start, min(start + 400, len(statements)))
        _judge({n: statements[n] for n in part}, " ".join(declarations.split()), setting, module, found)
    return found


def _concerns(error: str, statement: str) -> bool:
    """Whether an error is about the statement of its line: one in what ptxas makes of another statement has that
    text's line number, and names an instruction that is not here."""
    named = re.search(r"for instruction '(\w+)", error)
    return named is None or named[1] in statement


def _judge(
    pending: dict[int, str], declarations: str, setting: tuple[str, str, str], module: str, found: list[str]
) -> None:
    version, target, arch = setting
    head = f".version {version}\n.target {target}\n.address_size 64\n{module}\n"
    while pending:
        lines = head.split("\n")[:-1]
        where: dict[int, int] = {}
        for index, statement in pending.items():
            lines.append(f".visible .func f{index}(.param .align 16 .b8 fpar[64]) {{ {declarations}")
            lines.append(statement.replace("\n", " "))
            where[len(lines)] = index
            lines.append("LABEL: ret; }")
        accepted, output = run("\n".join(lines) + "\n", arch, newest() if version > VERSION else "")
        if accepted:
            return
        errors = [(int(line), text) for line, text in _ERROR.findall(output)]
        if not errors:
            errors = [(int(line), "uses a 32-bit address") for line in _NARROW.findall(output)]
        errors = [(line, text) for line, text in errors if line not in where or _concerns(text, pending[where[line]])]
        hit = {where[line]: text for line, text in errors if line in where}
        # A syntax error may be noticed on the line behind.
        hit |= {where[line - 1]: text for line, text in errors if line - 1 in where and line not in where}
        if hit:
            found[:] = [hit.get(index, text) for index, text in enumerate(found)]
            pending = {index: text for index, text in pending.items() if index not in hit}
        elif len(pending) == 1:
            found[next(iter(pending))] = output.strip() or "ptxas crashed"
            return
        else:  # an error without a line, or a crash: find out whose it is
            half = dict(list(pending.items())[: len(pending) // 2])
            _judge(half, declarations, setting, module, found)
            pending = {index: text for index, text in pending.items() if index not in half}
