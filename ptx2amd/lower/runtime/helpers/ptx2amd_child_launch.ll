; cudaLaunchDeviceV2: puts the record before a parameter buffer into the queue. A cudaError_t, which is the thread's as
; well: 1 no buffer, 400 no stream, 65 too deep (but in the tail: that is not deeper), 701 the queue is full.
define internal i32 @ptx2amd_child_launch(i64 %children, i64 %who, i64 %buffer, i64 %stream) nounwind {
entry:
  %head = inttoptr i64 %children to ptr addrspace(1)
  %nothing = icmp eq i64 %buffer, 0
  br i1 %nothing, label %bad, label %which
which:
  %builtin = icmp ult i64 %stream, 5
  %last.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.next_stream}
  %last = load atomic i64, ptr addrspace(1) %last.at monotonic, align 8
  %number = sub i64 %stream, {FIRST_STREAM}
  %made = sub i64 %last, {FIRST_STREAM}
  %own = icmp ult i64 %number, %made
  %known = or i1 %builtin, %own
  br i1 %known, label %level, label %bad
level:
  %depth.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.depth}
  %depth = load i32, ptr addrspace(1) %depth.at, align 8
  %deepest = icmp uge i32 %depth, {LAUNCH_DEPTH}
  %inside = icmp ne i64 %stream, {STREAM_TAIL}
  %deep = and i1 %deepest, %inside
  br i1 %deep, label %bad, label %queue
queue:
  %record = sub i64 %buffer, {launch_record}
  %here = inttoptr i64 %record to ptr addrspace(1)
  %stream.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.stream}
  store i64 %stream, ptr addrspace(1) %stream.at, align 8
  %capacity = load i64, ptr addrspace(1) %head, align 8
  %count.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.count}
  %n = atomicrmw add ptr addrspace(1) %count.at, i64 1 monotonic, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %full = icmp uge i64 %n, %capacity
  br i1 %full, label %bad, label %put
put:
  %pool.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.pool}
  %pool = load i64, ptr addrspace(1) %pool.at, align 8
  %offset = sub i64 %record, %pool
  %queue.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.queue}
  %list = load i64, ptr addrspace(1) %queue.at, align 8
  %places = inttoptr i64 %list to ptr addrspace(1)
  %place = getelementptr i64, ptr addrspace(1) %places, i64 %n
  store i64 %offset, ptr addrspace(1) %place, align 8
  ret i32 0
bad:
  %error = phi i32 [ 1, %entry ], [ 400, %which ], [ 65, %level ], [ 701, %queue ]
  call i32 @ptx2amd_child_error(i64 %children, i64 %who, i32 %error)
  ret i32 %error
}
