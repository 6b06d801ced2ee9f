; free of device code: the block goes to the free list of its size class, or back to the unused rest of the heap
; when it lies before it (see ptx2amd_malloc). What malloc did not give, or what was freed already, is a trap.
define internal void @ptx2amd_free(i64 %memory, i64 %heap) noinline nounwind {
entry:
  %null = icmp eq i64 %memory, 0
  br i1 %null, label %done, label %check
check:
  %place = sub i64 %memory, %heap
  %offset = sub i64 %place, 16
  %head = inttoptr i64 %heap to ptr addrspace(1)
  %absent = icmp eq i64 %heap, 0
  br i1 %absent, label %wrong, label %bounds
bounds:
  %capacity = load i64, ptr addrspace(1) %head, align 8
  %outside = icmp uge i64 %offset, %capacity
  %part = and i64 %offset, 15
  %odd = icmp ne i64 %part, 0
  %nowhere = or i1 %outside, %odd
  br i1 %nowhere, label %wrong, label %unmark
unmark:
  %block = getelementptr i8, ptr addrspace(1) %head, i64 %offset
  %mark = getelementptr i8, ptr addrspace(1) %block, i64 4
  %marked = atomicrmw xchg ptr addrspace(1) %mark, i32 0 syncscope("agent") monotonic, align 4, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %live = icmp eq i32 %marked, 1431655765
  br i1 %live, label %sized, label %wrong
sized:
  %class = load i32, ptr addrspace(1) %block, align 16
  %last = add i32 %class, -1
  %quarter = and i32 %last, 3
  %large = icmp ugt i32 %class, 4
  %octaves = lshr i32 %last, 2
  %shift.large = add i32 %octaves, -1
  %shift = select i1 %large, i32 %shift.large, i32 0
  %quarters.large = add i32 %quarter, 5
  %quarters = select i1 %large, i32 %quarters.large, i32 %class
  %units = shl i32 %quarters, %shift
  %units64 = zext i32 %units to i64
  %bytes = shl i64 %units64, 4
  %end = add i64 %offset, %bytes
  %used.at = getelementptr i8, ptr addrspace(1) %head, i64 {heap_header.used}
  %shrunk = cmpxchg ptr addrspace(1) %used.at, i64 %end, i64 %offset syncscope("agent") release monotonic, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %shorter = extractvalue { i64, i1 } %shrunk, 1
  br i1 %shorter, label %done, label %chain
chain:
  %lists = getelementptr i8, ptr addrspace(1) %head, i64 {heap_header.lists}
  %list = getelementptr i64, ptr addrspace(1) %lists, i32 %class
  %next.at = getelementptr i8, ptr addrspace(1) %block, i64 8
  %this = lshr i64 %offset, 4
  %first = load atomic i64, ptr addrspace(1) %list syncscope("agent") monotonic, align 8
  br label %try
try:
  %was = phi i64 [ %first, %chain ], [ %now, %try ]
  %next = and i64 %was, 4294967295
  store atomic i64 %next, ptr addrspace(1) %next.at syncscope("agent") monotonic, align 8
  %changes = and i64 %was, -4294967296
  %changed = add i64 %changes, 4294967296
  %new = or i64 %changed, %this
  %swap = cmpxchg ptr addrspace(1) %list, i64 %was, i64 %new syncscope("agent") release monotonic, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %now = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %done, label %try
wrong:
  call void @ptx2amd_trap()
  unreachable
done:
  ret void
}
