; What a failed device-side assert prints before the trap, on standard error.
@ptx2amd_assert_format = internal addrspace(4) constant [73 x i8] c"%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\0A\00", align 8

define internal void @ptx2amd_assert_fail(i64 %message, i64 %file, i32 %line, i64 %function, <6 x i32> %place, i64 %buffer) noinline nounwind {
  %args = alloca [56 x i8], align 8, addrspace(5)
  store i64 %file, ptr addrspace(5) %args, align 8
  %line.at = getelementptr i8, ptr addrspace(5) %args, i64 8
  store i32 %line, ptr addrspace(5) %line.at, align 8
  %function.at = getelementptr i8, ptr addrspace(5) %args, i64 16
  store i64 %function, ptr addrspace(5) %function.at, align 8
  %place.at = getelementptr i8, ptr addrspace(5) %args, i64 24
  store <6 x i32> %place, ptr addrspace(5) %place.at, align 8
  %message.at = getelementptr i8, ptr addrspace(5) %args, i64 48
  store i64 %message, ptr addrspace(5) %message.at, align 8
  %generic = addrspacecast ptr addrspace(5) %args to ptr
  %pointer = ptrtoint ptr %generic to i64
  %ignored = call i32 @ptx2amd_vprintf(i64 ptrtoint (ptr addrspace(4) @ptx2amd_assert_format to i64), i64 %pointer, i64 %buffer, i32 {PRINTF_ASSERTION})
  ret void
}
