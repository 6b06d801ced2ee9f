"""Constant addresses in LDS: a long block with many of them takes time in proportion to its length."""

from __future__ import annotations

import time

import pytest

from ptx2amd.codegen.workarounds import lds_addresses, records
from ptx2amd.translate import translate


def text(count: int) -> str:
    """A block that changes as many words of a shared variable."""
    changes = "\n".join(
        f"ld.volatile.shared.u32 %w, [s+{4 * i}]; mul.lo.u32 %v, %v, %w; st.volatile.shared.u32 [s+{4 * i}], %v;"
        for i in range(count)
    )
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {{
.shared .align 4 .b8 s[{4 * count}]; .reg .b32 %t, %v, %w;
mov.u32 %t, %tid.x; mov.u32 %v, %t;
{changes}
ret; }}"""


def seconds(count: int) -> float:
    """Of the processor, for the translation."""
    before = time.process_time()
    [result] = translate(text(count), archs=["gfx942"], mode="module")
    assert result.ok
    return time.process_time() - before


@pytest.mark.slow
def test_time_grows_with_the_number() -> None:
    seconds(10)  # what the first translation of a process costs
    assert seconds(8000) < 6 * seconds(2000)


def test_users_of_an_address() -> None:
    """Each gets an instruction before it, but for phis, whose would belong into other blocks, and other constants."""
    address = "getelementptr inbounds nuw (i8, ptr addrspace(3) @k.shared, i32 {})"
    module = records.parse(f"""define void @f(i1 %c) {{
entry:
  store ptr addrspace(3) {address.format(4)}, ptr addrspace(3) {address.format(8)}, align 4
  call void @g(i32 3, ptr addrspace(3) {address.format(16)})
  call void @h(i32 ptrtoint (ptr addrspace(3) {address.format(20)} to i32), i32 add (i32 1, i32 2))
  store <2 x ptr addrspace(3)> <ptr addrspace(3) {address.format(24)}, ptr addrspace(3) null>, ptr %q
  br i1 %c, label %next, label %entry
next:
  %p = phi ptr addrspace(3) [ {address.format(12)}, %entry ]
  ret void
}}""")
    lds_addresses.rewrite(module)
    assert [line.strip() for line in next(module.functions()).lines()] == [
        "%lds.address.0 = getelementptr inbounds nuw i8, ptr addrspace(3) @k.shared, i32 8",
        "%lds.address.1 = getelementptr inbounds nuw i8, ptr addrspace(3) @k.shared, i32 4",
        "store ptr addrspace(3) %lds.address.1, ptr addrspace(3) %lds.address.0, align 4",
        "%lds.address.2 = getelementptr inbounds nuw i8, ptr addrspace(3) @k.shared, i32 16",
        "call void @g(i32 3, ptr addrspace(3) %lds.address.2)",
        f"call void @h(i32 ptrtoint (ptr addrspace(3) {address.format(20)} to i32), i32 add (i32 1, i32 2))",
        f"store <2 x ptr addrspace(3)> <ptr addrspace(3) {address.format(24)}, ptr addrspace(3) null>, ptr %q",
        "br i1 %c, label %next, label %entry",
        f"%p = phi ptr addrspace(3) [ {address.format(12)}, %entry ]",
        "ret void",
    ]
