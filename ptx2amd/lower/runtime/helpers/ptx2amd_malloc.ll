; malloc of device code: memory of the heap that the loader gave, 16-byte aligned; 0 when there is none left.
; The header is in ptx2amd/interface/heap.py. Blocks of a list are chained by their second word; a list's head is u32
; offset of the first block in units of 16 bytes, u32 number that every change increments, so that an outdated head is
; told from the present one.
; A block: u32 size class, u32 mark (in use or not), u64 next free block in units of 16 bytes, unless in use.
; Size classes are the multiples of 16 bytes of up to three significant bits: at most a quarter is wasted.
define internal i64 @ptx2amd_malloc(i64 %n, i64 %heap) noinline nounwind {
entry:
  %none = icmp eq i64 %heap, 0
  br i1 %none, label %exhausted, label %start
start:
  %head = inttoptr i64 %heap to ptr addrspace(1)
  %capacity = load i64, ptr addrspace(1) %head, align 8
  %large = icmp uge i64 %n, %capacity
  br i1 %large, label %exhausted, label %measure
measure:
  %round = add i64 %n, 31
  %needed = lshr i64 %round, 4
  %needed32 = trunc i64 %needed to i32
  %all = call i32 @llvm.umax.i32(i32 %needed32, i32 2)
  %less = add i32 %all, -1
  %some = or i32 %less, 4
  %lead = call i32 @llvm.ctlz.i32(i32 %some, i1 true)
  %shift = sub i32 29, %lead
  %bits = lshr i32 %less, %shift
  %quarters = add i32 %bits, 1
  %units = shl i32 %quarters, %shift
  %octave = shl i32 %shift, 2
  %class = add i32 %octave, %quarters
  %own = call i64 @ptx2amd_heap_take(i64 %heap, i32 %class)
  %reused = icmp ne i64 %own, 0
  br i1 %reused, label %give, label %extend
extend:
  %units64 = zext i32 %units to i64
  %bytes = shl i64 %units64, 4
  %used.at = getelementptr i8, ptr addrspace(1) %head, i64 {heap_header.used}
  %used.first = load atomic i64, ptr addrspace(1) %used.at syncscope("agent") monotonic, align 8
  br label %bump
bump:
  %used = phi i64 [ %used.first, %extend ], [ %used.now, %grow ]
  %end = add i64 %used, %bytes
  %beyond = icmp ugt i64 %end, %capacity
  br i1 %beyond, label %search, label %grow
grow:
  %swap = cmpxchg ptr addrspace(1) %used.at, i64 %used, i64 %end syncscope("agent") acquire monotonic, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %used.now = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %give, label %bump
search:
  %larger = phi i32 [ %class, %bump ], [ %other, %look ]
  %other = add i32 %larger, 1
  %last = icmp ugt i32 %other, 120
  br i1 %last, label %exhausted, label %look
look:
  %found = call i64 @ptx2amd_heap_take(i64 %heap, i32 %other)
  %empty = icmp eq i64 %found, 0
  br i1 %empty, label %search, label %give
give:
  %offset = phi i64 [ %own, %measure ], [ %used, %grow ], [ %found, %look ]
  %is = phi i32 [ %class, %measure ], [ %class, %grow ], [ %other, %look ]
  %block = getelementptr i8, ptr addrspace(1) %head, i64 %offset
  store i32 %is, ptr addrspace(1) %block, align 16
  %mark = getelementptr i8, ptr addrspace(1) %block, i64 4
  store i32 1431655765, ptr addrspace(1) %mark, align 4
  %memory = add i64 %heap, %offset
  %result = add i64 %memory, 16
  ret i64 %result
exhausted:
  ret i64 0
}
