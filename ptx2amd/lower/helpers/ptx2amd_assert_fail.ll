; What a failed device-side assert prints before the trap.
@ptx2amd_assert_format = internal addrspace(4) constant [47 x i8] c"%s:%u: %s: device-side assertion `%s' failed.\0A\00", align 8

define internal void @ptx2amd_assert_fail(i64 %message, i64 %file, i32 %line, i64 %function, i64 %buffer) nounwind {
  %args = alloca [32 x i8], align 8, addrspace(5)
  store i64 %file, ptr addrspace(5) %args, align 8
  %line.at = getelementptr i8, ptr addrspace(5) %args, i64 8
  store i32 %line, ptr addrspace(5) %line.at, align 4
  %function.at = getelementptr i8, ptr addrspace(5) %args, i64 16
  store i64 %function, ptr addrspace(5) %function.at, align 8
  %message.at = getelementptr i8, ptr addrspace(5) %args, i64 24
  store i64 %message, ptr addrspace(5) %message.at, align 8
  %generic = addrspacecast ptr addrspace(5) %args to ptr
  %pointer = ptrtoint ptr %generic to i64
  %ignored = call i32 @ptx2amd_vprintf(i64 ptrtoint (ptr addrspace(4) @ptx2amd_assert_format to i64), i64 %pointer, i64 %buffer)
  ret void
}
