; cudaLaunchDevice: launches with a buffer that was taken before the kernel was known. A cudaError_t: 1 where the
; buffer is too small as well.
define internal i32 @ptx2amd_child_launch_plain(i64 %children, i64 %who, i64 %kernel, i64 %buffer, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared, i64 %stream) nounwind {
entry:
  %wrong = call i32 @ptx2amd_child_check(i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared)
  %bad = icmp ne i32 %wrong, 0
  br i1 %bad, label %refused, label %buffered
buffered:
  %none = icmp eq i64 %buffer, 0
  br i1 %none, label %refused, label %measure
measure:
  %record = sub i64 %buffer, {launch_record}
  %here = inttoptr i64 %record to ptr addrspace(1)
  %bytes.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.bytes}
  %bytes = load i32, ptr addrspace(1) %bytes.at, align 4
  %facts = inttoptr i64 %kernel to ptr addrspace(1)
  %needed.at = getelementptr i8, ptr addrspace(1) %facts, i64 {launch_facts.bytes}
  %needed = load i32, ptr addrspace(1) %needed.at, align 4
  %small = icmp ult i32 %bytes, %needed
  br i1 %small, label %refused, label %good
refused:
  %error = phi i32 [ %wrong, %entry ], [ 1, %buffered ], [ 1, %measure ]
  call i32 @ptx2amd_child_error(i64 %children, i64 %who, i32 %error)
  ret i32 %error
good:
  call void @ptx2amd_child_fill(i64 %record, i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared)
  %result = call i32 @ptx2amd_child_launch(i64 %children, i64 %who, i64 %buffer, i64 %stream)
  ret i32 %result
}
