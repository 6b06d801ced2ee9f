; cudaGetParameterBuffer: room for so many bytes of parameters, or 0 with the thread's error set.
define internal i64 @ptx2amd_child_plain(i64 %children, i64 %who, i64 %bytes) nounwind {
entry:
  %record = call i64 @ptx2amd_child_take(i64 %children, i64 %who, i32 {RECORD_LAUNCH}, i64 %bytes)
  %none = icmp eq i64 %record, 0
  %buffer = add i64 %record, {launch_record}
  %result = select i1 %none, i64 0, i64 %buffer
  ret i64 %result
}
