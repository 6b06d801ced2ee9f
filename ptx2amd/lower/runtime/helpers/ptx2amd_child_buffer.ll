; cudaGetParameterBufferV2: where the caller writes the parameters of a launch, or 0 with the thread's error set.
define internal i64 @ptx2amd_child_buffer(i64 %children, i64 %who, i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared) nounwind {
entry:
  %error = call i32 @ptx2amd_child_check(i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared)
  %bad = icmp ne i32 %error, 0
  br i1 %bad, label %refused, label %good
refused:
  call i32 @ptx2amd_child_error(i64 %children, i64 %who, i32 %error)
  ret i64 0
good:
  %facts = inttoptr i64 %kernel to ptr addrspace(1)
  %bytes.at = getelementptr i8, ptr addrspace(1) %facts, i64 {launch_facts.bytes}
  %bytes32 = load i32, ptr addrspace(1) %bytes.at, align 4
  %bytes = zext i32 %bytes32 to i64
  %record = call i64 @ptx2amd_child_take(i64 %children, i64 %who, i32 {RECORD_LAUNCH}, i64 %bytes)
  %none = icmp eq i64 %record, 0
  br i1 %none, label %full, label %fill
full:
  ret i64 0
fill:
  call void @ptx2amd_child_fill(i64 %record, i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared)
  %buffer = add i64 %record, {launch_record}
  ret i64 %buffer
}
