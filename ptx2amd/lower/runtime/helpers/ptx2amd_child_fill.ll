; Writes into a record what it launches.
define internal void @ptx2amd_child_fill(i64 %record, i64 %kernel, i32 %gx, i32 %gy, i32 %gz, i32 %bx, i32 %by, i32 %bz, i32 %shared) nounwind {
entry:
  %here = inttoptr i64 %record to ptr addrspace(1)
  %kernel.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.kernel}
  store i64 %kernel, ptr addrspace(1) %kernel.at, align 8
  %gx.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.grid}
  store i32 %gx, ptr addrspace(1) %gx.at, align 8
  %gy.at = getelementptr i32, ptr addrspace(1) %gx.at, i64 1
  store i32 %gy, ptr addrspace(1) %gy.at, align 4
  %gz.at = getelementptr i32, ptr addrspace(1) %gx.at, i64 2
  store i32 %gz, ptr addrspace(1) %gz.at, align 8
  %bx.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.block}
  store i32 %bx, ptr addrspace(1) %bx.at, align 4
  %by.at = getelementptr i32, ptr addrspace(1) %bx.at, i64 1
  store i32 %by, ptr addrspace(1) %by.at, align 8
  %bz.at = getelementptr i32, ptr addrspace(1) %bx.at, i64 2
  store i32 %bz, ptr addrspace(1) %bz.at, align 4
  %shared.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.shared}
  store i32 %shared, ptr addrspace(1) %shared.at, align 8
  ret void
}
