; Takes the first block off a free list of the heap: its offset in bytes, 0 when the list is empty.
define internal i64 @ptx2amd_heap_take(i64 %heap, i32 %class) nounwind {
entry:
  %head = inttoptr i64 %heap to ptr addrspace(1)
  %lists = getelementptr i8, ptr addrspace(1) %head, i64 {heap_header.lists}
  %list = getelementptr i64, ptr addrspace(1) %lists, i32 %class
  %first = load atomic i64, ptr addrspace(1) %list syncscope("agent") acquire, align 8
  br label %try
try:
  %was = phi i64 [ %first, %entry ], [ %now, %take ]
  %units = and i64 %was, 4294967295
  %empty = icmp eq i64 %units, 0
  br i1 %empty, label %nothing, label %take
take:
  %offset = shl i64 %units, 4
  %block = getelementptr i8, ptr addrspace(1) %head, i64 %offset
  %next.at = getelementptr i8, ptr addrspace(1) %block, i64 8
  %next = load atomic i64, ptr addrspace(1) %next.at syncscope("agent") monotonic, align 8
  %changes = and i64 %was, -4294967296
  %changed = add i64 %changes, 4294967296
  %low = and i64 %next, 4294967295
  %new = or i64 %changed, %low
  %swap = cmpxchg ptr addrspace(1) %list, i64 %was, i64 %new syncscope("agent") acquire acquire, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %now = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %done, label %try
done:
  ret i64 %offset
nothing:
  ret i64 0
}
