"""Front end: lines of PTX per second, all bodies, against plain Lark on the same grammar (goal 300,000)."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from ptx2amd.compat import toolkit
from ptx2amd.ptx.grammar import lark
from ptx2amd.ptx.parse import parse_body, parse_module

KERNELS = Path(__file__).with_name("translate_kernels.cu")
PLAIN_LINES = 4000  # plain Lark is slow: a part of the module is enough for its rate


def modules() -> dict[str, str]:
    """PTX of the translation benchmark's kernels in several sizes, and with line information."""
    found = {}
    tools = toolkit.find()
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (
            ("small", ["-DSIZE=1"]),
            ("large", ["-DSIZE=4"]),
            ("line information", ["-DSIZE=2", "-lineinfo"]),
        ):
            out = Path(folder) / "m.ptx"
            command = [tools.nvcc, *tools.flags, "-ptx", "-arch=sm_80", *options, str(KERNELS), "-o", str(out)]
            subprocess.run(command, check=True, capture_output=True)
            found[name] = out.read_text()
    return found


def rate(text: str) -> float:
    """Lines per second: module, all bodies, every statement matched against the instruction table."""
    begin = time.process_time()
    module = parse_module(text)
    for function in module.functions.values():
        if function.text:
            parse_body(module, function)
    return text.count("\n") / (time.process_time() - begin)


def plain(text: str) -> float:
    """Lines per second of Lark alone on whole functions from the module's beginning."""
    end = text.find("\n}\n", len("\n".join(text.split("\n")[:PLAIN_LINES])))
    part = text[: end + 3] if end > 0 else text
    parser = lark()
    begin = time.process_time()
    parser.parse(part, start="module")
    return part.count("\n") / (time.process_time() - begin)


def main() -> None:
    for name, text in modules().items():
        first = rate(text)
        best = max(rate(text) for _ in range(5))
        bare = plain(text)
        print(
            f"{name}: {text.count(chr(10)):,} lines: {best:,.0f} lines/s (first time {first:,.0f}), "
            f"plain Lark {bare:,.0f}: {best / bare:.0f} x; {best / 300_000:.2f} of the goal"
        )


if __name__ == "__main__":
    main()
