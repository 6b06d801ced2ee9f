"""A work-around for LLVM 22: generic addresses of LDS and scratch in functions, on chips without registers for the
apertures (gfx803).

LLVM loads the apertures from the kernel's hidden arguments, but in functions other than kernels it uses 0 as the
address of these arguments. There the casts and tests are expanded with the address that functions receive."""

from __future__ import annotations

from itertools import count

from ptx2amd.codegen.workarounds.records import Function, Module
from ptx2amd.regex import regex

# Offsets of hidden_shared_base and hidden_private_base in the implicit arguments (AMDGPUUsage, code object V5)
_BASE = {"3": 196, "5": 192}
_SPACE = {"shared": "3", "private": "5"}
_VALUE = r"(?:%|@)(?:\"[^\"\n]*\"|[\w.$-]+)"
_CAST = regex(rf"^  ({_VALUE}) = addrspacecast ptr addrspace\(([35])\) (.+) to ptr(?=,|$)")
_TEST = regex(rf"^  ({_VALUE}) = call i1 @llvm\.amdgcn\.is\.(shared|private)\(ptr ([^\s()]+)\).*")
_ARRAY = regex(rf"^  ({_VALUE}) = alloca ")


def rewrite(module: Module) -> None:
    """Compute generic addresses of LDS and scratch in functions other than kernels."""
    changed = [_rewrite(function) for function in module.functions() if not function.kernel]
    if any(changed):
        module.declare("llvm.amdgcn.implicitarg.ptr", "ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()")


def _rewrite(function: Function) -> bool:
    """Whether there was something to do."""
    numbers = count()
    arrays = {array[1] for line in function.lines() if (array := _ARRAY.match(line))}
    for block in function.blocks:
        for at, line in enumerate(block.lines):
            if cast := _CAST.match(line):
                known = cast[3] in arrays or cast[3].startswith("@")
                block.lines[at] = _address(cast[1], cast[2], cast[3], known, next(numbers)) + line[cast.end() :]
            elif test := _TEST.match(line):
                block.lines[at] = _is_in(test[1], test[2], test[3], next(numbers))
    return next(numbers) > 0


def _aperture(space: str, at: str) -> str:
    """Lines that put the upper half of an aperture's addresses into `at`.high."""
    return (
        f"  {at}.arguments = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
        f"  {at}.where = getelementptr inbounds i8, ptr addrspace(4) {at}.arguments, i64 {_BASE[space]}\n"
        f"  {at}.high = load i32, ptr addrspace(4) {at}.where, align 4\n"
    )


def _address(name: str, space: str, pointer: str, known: bool, number: int) -> str:
    """known: it is not null. Of a null pointer, which is -1 in these address spaces, null."""
    at = f"%aperture.{number}"
    text = _aperture(space, at) + (
        f"  {at}.low = ptrtoint ptr addrspace({space}) {pointer} to i32\n"
        f"  {at}.pair = insertelement <2 x i32> poison, i32 {at}.low, i32 0\n"
        f"  {at}.both = insertelement <2 x i32> {at}.pair, i32 {at}.high, i32 1\n"
        f"  {at}.number = bitcast <2 x i32> {at}.both to i64\n"
    )
    if known:
        return f"{text}  {name} = inttoptr i64 {at}.number to ptr"
    return text + (
        f"  {at}.there = icmp ne i32 {at}.low, -1\n"
        f"  {at}.or = select i1 {at}.there, i64 {at}.number, i64 0\n"
        f"  {name} = inttoptr i64 {at}.or to ptr"
    )


def _is_in(name: str, which: str, pointer: str, number: int) -> str:
    at = f"%aperture.{number}"
    return _aperture(_SPACE[which], at) + (
        f"  {at}.number = ptrtoint ptr {pointer} to i64\n"
        f"  {at}.shifted = lshr i64 {at}.number, 32\n"
        f"  {at}.half = trunc i64 {at}.shifted to i32\n"
        f"  {name} = icmp eq i32 {at}.half, {at}.high"
    )
