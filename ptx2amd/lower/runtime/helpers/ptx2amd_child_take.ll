; A new record with room for so many bytes behind its head: its address, or 0 where there is no room left (then
; cudaErrorLaunchOutOfResources is the thread's error). Layout: ptx2amd/interface/launches.py.
define internal i64 @ptx2amd_child_take(i64 %children, i64 %who, i32 %kind, i64 %bytes) nounwind {
entry:
  %head = inttoptr i64 %children to ptr addrspace(1)
  %capacity = load i64, ptr addrspace(1) %head, align 8
  %count.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.count}
  %count = load atomic i64, ptr addrspace(1) %count.at monotonic, align 8
  %full = icmp uge i64 %count, %capacity
  br i1 %full, label %none, label %take
take:
  %room.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.room}
  %room = load i64, ptr addrspace(1) %room.at, align 8
  %used.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.used}
  %with = add i64 %bytes, {launch_record}
  %padded = add i64 %with, 15
  %size = and i64 %padded, -16
  %at = atomicrmw add ptr addrspace(1) %used.at, i64 %size monotonic, align 8, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %end = add i64 %at, %size
  %beyond = icmp ugt i64 %end, %room
  br i1 %beyond, label %none, label %give
give:
  %pool.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.pool}
  %pool = load i64, ptr addrspace(1) %pool.at, align 8
  %record = add i64 %pool, %at
  %here = inttoptr i64 %record to ptr addrspace(1)
  %kind.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.kind}
  store i32 %kind, ptr addrspace(1) %kind.at, align 8
  %bytes.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.bytes}
  %bytes32 = trunc i64 %bytes to i32
  store i32 %bytes32, ptr addrspace(1) %bytes.at, align 4
  %who.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_record.who}
  store i64 %who, ptr addrspace(1) %who.at, align 8
  ret i64 %record
none:
  call i32 @ptx2amd_child_error(i64 %children, i64 %who, i32 701)
  ret i64 0
}
