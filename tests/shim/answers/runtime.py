"""Runs runtime.cu: `python -m tests.shim.answers.runtime PROGRAM OUT [NAME ...]` appends a line per question."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def answer(program: str, name: str) -> str:
    try:
        done = subprocess.run([program, name], capture_output=True, timeout=30)
    except subprocess.TimeoutExpired:
        return f"runtime.{name}\t(timeout)"
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if name == "printf overflow":
        lines = out.splitlines()
        numbers = [line for line in lines[:-1] if line.isdigit()]
        out = f"{lines[0]} {len(numbers)} lines, {lines[-1]}"
    errors = "".join(f" !{line}" for line in err.splitlines() if not line.startswith("ptx2amd"))
    text = out.rstrip("\n").replace("\n", "\\n").replace("\t", "\\t")
    return f"runtime.{name}\t{text}{errors} rc={done.returncode}"


def main(program: str, out: str, *some: str) -> None:
    names = some or subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    with ThreadPoolExecutor(4) as pool, Path(out).open("a") as file:
        for line in pool.map(lambda name: answer(program, name), names):
            print(line, file=file, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
