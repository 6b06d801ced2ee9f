"""A work-around for LLVM 22: products that are rounded to f16.

AMDGPU's mixed-precision fma computes them as a * b + 0, which turns a product of -0 into +0. Written as fma(a, b,
-0.0), they keep their sign; the only cost is the constant. LLVM looks through negations and vectors within a block."""

from __future__ import annotations

import re

from ptx2amd.codegen.workarounds.records import Block, Module
from ptx2amd.regex import regex

_VALUE = r"(?:<[^<>]*>|splat \([^()]*\)|[^\s,]+)"
_PRODUCT = regex(rf"  (%[\w.]+) = fmul (?:[a-z]+ )*?(float|<(\d+) x float>) ({_VALUE}), ({_VALUE})")
_PART = regex(r"  (%[\w.]+) = (?:fneg|extractelement|insertelement|shufflevector) (.*)")
_ROUNDED = regex(r"  %[\w.]+ = fptrunc (?:float|<\d+ x float>) (%[\w.]+) to (?:half|<\d+ x half>)")
_NAME = regex(r"%[\w.]+")


def rewrite(module: Module) -> None:
    """Write an fma for each product that its block rounds to f16."""
    suffixes: set[str] = set()
    for function in module.functions():
        for block in function.blocks:
            if any(" = fptrunc " in line for line in block.lines):
                suffixes |= _rewrite(block)
    for suffix in sorted(suffixes):
        ty = "float" if suffix == "f32" else f"<{suffix[1:-3]} x float>"
        module.declare(f"llvm.fma.{suffix}", f"{ty} @llvm.fma.{suffix}({ty}, {ty}, {ty})")


def _rewrite(block: Block) -> set[str]:
    """The suffixes of the functions that the block calls now."""
    suffixes: set[str] = set()
    products: dict[str, tuple[int, re.Match[str]]] = {}
    parts: dict[str, list[str]] = {}  # value -> what it is taken from
    for at, line in enumerate(block.lines):
        if found := _PRODUCT.match(line):
            products[found[1]] = at, found
        elif found := _PART.match(line):
            parts[found[1]] = _NAME.findall(found[2])
        elif found := _ROUNDED.match(line):
            open_values = [found[1]]
            while open_values:
                value = open_values.pop()
                open_values += parts.pop(value, [])
                if value in products:
                    place, product = products.pop(value)
                    suffixes.add(_written(block.lines, place, product))
    return suffixes


def _written(lines: list[str], at: int, product: re.Match[str]) -> str:
    """Rewrite the line; returns the suffix of the function called."""
    name, ty, size, a, b = product.groups()
    suffix, zero = (f"v{size}f32", "splat (float -0.000000e+00)") if size else ("f32", "-0.000000e+00")
    rest = lines[at][product.end() :]
    lines[at] = f"  {name} = call {ty} @llvm.fma.{suffix}({ty} {a}, {ty} {b}, {ty} {zero}){rest}"
    return suffix
