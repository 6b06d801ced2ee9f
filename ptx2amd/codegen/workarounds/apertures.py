"""A work-around for LLVM 22: generic addresses of LDS and scratch in functions, on chips without registers for the
apertures (gfx803).

LLVM loads the apertures from the kernel's hidden arguments, but takes the address of these for 0 in functions that are
no kernels. There the casts and tests are written out, with the address that functions are given."""

from __future__ import annotations

import re
from itertools import count

# Offsets of hidden_shared_base and hidden_private_base in the implicit arguments (AMDGPUUsage, code object V5)
_BASE = {"3": 196, "5": 192}
_SPACE = {"shared": "3", "private": "5"}
_VALUE = r"(?:%|@)(?:\"[^\"\n]*\"|[\w.$-]+)"
_CAST = re.compile(rf"^  ({_VALUE}) = addrspacecast ptr addrspace\(([35])\) (.+) to ptr(?=,|$)", re.M)
_TEST = re.compile(rf"^  ({_VALUE}) = call i1 @llvm\.amdgcn\.is\.(shared|private)\(ptr ([^\s()]+)\).*", re.M)
_ARRAY = re.compile(rf"^  ({_VALUE}) = alloca ", re.M)
_NEEDED = re.compile(r" = addrspacecast ptr addrspace\([35]\)|@llvm\.amdgcn\.is\.(?:shared|private)\(ptr")
_DECLARED = re.compile(r"^declare [^\n]*@llvm\.amdgcn\.implicitarg\.ptr\(", re.M)


def written_out(ir: str) -> str:
    """IR text whose functions compute generic addresses of LDS and scratch themselves; the same if none does."""
    first, *functions = re.split(r"(?m)^(?=define )", ir)
    if not any(_NEEDED.search(function) for function in functions if not _kernel(function)):
        return ir
    text = first + "".join(function if _kernel(function) else _written(function) for function in functions)
    return text if _DECLARED.search(text) else f"{text}\ndeclare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"


def _kernel(function: str) -> bool:
    return " amdgpu_kernel " in function.split("\n", 1)[0]


def _written(function: str) -> str:
    numbers = count()
    arrays = set(_ARRAY.findall(function))

    def address(cast: re.Match[str]) -> str:
        known = cast[3] in arrays or cast[3].startswith("@")
        return _address(cast[1], cast[2], cast[3], known, next(numbers))

    function = _CAST.sub(address, function)
    return _TEST.sub(lambda test: _is_in(test[1], test[2], test[3], next(numbers)), function)


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
