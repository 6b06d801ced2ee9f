; The thread's last error, 0 for none; `clear`: which it forgets.
define internal i32 @ptx2amd_child_last_error(i64 %children, i64 %who, i1 %clear) nounwind {
entry:
  %head = inttoptr i64 %children to ptr addrspace(1)
  %count.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.error_count}
  %n = load atomic i32, ptr addrspace(1) %count.at monotonic, align 4
  %many = icmp ugt i32 %n, {LAUNCH_ERRORS}
  %count = select i1 %many, i32 {LAUNCH_ERRORS}, i32 %n
  %other.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.other_error}
  %other = load i32, ptr addrspace(1) %other.at, align 4
  %list.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.errors}
  %list = load i64, ptr addrspace(1) %list.at, align 8
  %entries = inttoptr i64 %list to ptr addrspace(1)
  %owner = add i64 %who, 1
  br label %loop
loop:
  %left = phi i32 [ %count, %entry ], [ %i, %next ]
  %error = phi i32 [ 0, %entry ], [ %newest, %next ]
  %over = icmp eq i32 %left, 0
  br i1 %over, label %done, label %look
look:
  %i = add i32 %left, -1
  %i64 = zext i32 %i to i64
  %offset = mul i64 %i64, {launch_error}
  %here = getelementptr i8, ptr addrspace(1) %entries, i64 %offset
  %whose = load i64, ptr addrspace(1) %here, align 8
  %mine = icmp eq i64 %whose, %owner
  br i1 %mine, label %found, label %next
found:
  %error.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_error.error}
  %it = load i32, ptr addrspace(1) %error.at, align 8
  %first = icmp eq i32 %error, 0
  %chosen = select i1 %first, i32 %it, i32 %error
  br i1 %clear, label %forget, label %next
forget:
  store i64 0, ptr addrspace(1) %here, align 8
  br label %next
next:
  %newest = phi i32 [ %error, %look ], [ %chosen, %found ], [ %chosen, %forget ]
  br label %loop
done:
  %none = icmp eq i32 %error, 0
  %result = select i1 %none, i32 %other, i32 %error
  ret i32 %result
}
