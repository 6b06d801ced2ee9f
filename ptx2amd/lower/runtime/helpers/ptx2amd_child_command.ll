; A copy or a fill in a stream: a record with six words, queued. A cudaError_t.
define internal i32 @ptx2amd_child_command(i64 %children, i64 %who, i32 %kind, i64 %to, i64 %pitch, i64 %from, i64 %from.pitch, i64 %width, i64 %height, i64 %stream) nounwind {
entry:
  %record = call i64 @ptx2amd_child_take(i64 %children, i64 %who, i32 %kind, i64 {launch_command})
  %none = icmp eq i64 %record, 0
  br i1 %none, label %full, label %fill
full:
  ret i32 701
fill:
  %words = add i64 %record, {launch_record}
  %here = inttoptr i64 %words to ptr addrspace(1)
  store i64 %to, ptr addrspace(1) %here, align 8
  %b = getelementptr i8, ptr addrspace(1) %here, i64 {launch_command.pitch}
  store i64 %pitch, ptr addrspace(1) %b, align 8
  %c = getelementptr i8, ptr addrspace(1) %here, i64 {launch_command.source}
  store i64 %from, ptr addrspace(1) %c, align 8
  %d = getelementptr i8, ptr addrspace(1) %here, i64 {launch_command.source_pitch}
  store i64 %from.pitch, ptr addrspace(1) %d, align 8
  %e = getelementptr i8, ptr addrspace(1) %here, i64 {launch_command.width}
  store i64 %width, ptr addrspace(1) %e, align 8
  %f = getelementptr i8, ptr addrspace(1) %here, i64 {launch_command.height}
  store i64 %height, ptr addrspace(1) %f, align 8
  %error = call i32 @ptx2amd_child_launch(i64 %children, i64 %who, i64 %words, i64 %stream)
  ret i32 %error
}
