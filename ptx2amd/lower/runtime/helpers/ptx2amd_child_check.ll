; What is wrong with a launch of a kernel, as a cudaError_t: 98 no kernel, 9 sizes that no grid or block has, 1 sizes
; that this kernel does not take, or more shared memory than any has.
define internal i32 @ptx2amd_child_check(i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared) nounwind {
entry:
  %nothing = icmp eq i64 %kernel, 0
  br i1 %nothing, label %bad, label %sizes
sizes:
  %gx.less = add i32 %gx, -1
  %gx.bad = icmp ugt i32 %gx.less, 2147483646
  %gy.less = add i32 %gy, -1
  %gy.bad = icmp ugt i32 %gy.less, 65534
  %gz.less = add i32 %gz, -1
  %gz.bad = icmp ugt i32 %gz.less, 65534
  %bx.less = add i32 %bx, -1
  %bx.bad = icmp ugt i32 %bx.less, 1023
  %by.less = add i32 %by, -1
  %by.bad = icmp ugt i32 %by.less, 1023
  %bz.less = add i32 %bz, -1
  %bz.bad = icmp ugt i32 %bz.less, 63
  %row = mul i32 %bx, %by
  %threads = mul i32 %row, %bz
  %many = icmp ugt i32 %threads, 1024
  %a = or i1 %gx.bad, %gy.bad
  %b = or i1 %gz.bad, %bx.bad
  %c = or i1 %by.bad, %bz.bad
  %ab = or i1 %a, %b
  %cd = or i1 %c, %many
  %impossible = or i1 %ab, %cd
  br i1 %impossible, label %bad, label %fit
fit:
  %facts = inttoptr i64 %kernel to ptr addrspace(1)
  %most.at = getelementptr i8, ptr addrspace(1) %facts, i64 {launch_facts.most}
  %most = load i32, ptr addrspace(1) %most.at, align 4
  %over = icmp ugt i32 %threads, %most
  %x.at = getelementptr i8, ptr addrspace(1) %facts, i64 {launch_facts.block}
  %x = load i32, ptr addrspace(1) %x.at, align 8
  %y.at = getelementptr i32, ptr addrspace(1) %x.at, i64 1
  %y = load i32, ptr addrspace(1) %y.at, align 4
  %z.at = getelementptr i32, ptr addrspace(1) %x.at, i64 2
  %z = load i32, ptr addrspace(1) %z.at, align 8
  %asked = icmp ne i32 %x, 0
  %x.off = icmp ne i32 %x, %bx
  %y.off = icmp ne i32 %y, %by
  %z.off = icmp ne i32 %z, %bz
  %xy.off = or i1 %x.off, %y.off
  %off = or i1 %xy.off, %z.off
  %other = and i1 %asked, %off
  %large = icmp ugt i32 %shared, {BLOCK_SHARED_LIMIT}
  %d = or i1 %over, %other
  %refused = or i1 %d, %large
  br i1 %refused, label %bad, label %good
bad:
  %error = phi i32 [ 98, %entry ], [ 9, %sizes ], [ 1, %fit ]
  ret i32 %error
good:
  ret i32 0
}
