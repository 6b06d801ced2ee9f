; Remembers a thread's error (0: nothing to remember) in the launch's records, for cudaGetLastError; returns it.
; Layout: ptx2amd/interface/launches.py. Of errors beyond the list, the last one is kept for all threads.
define internal i32 @ptx2amd_child_error(i64 %children, i64 %who, i32 %error) nounwind {
entry:
  %good = icmp eq i32 %error, 0
  br i1 %good, label %done, label %bad
bad:
  %head = inttoptr i64 %children to ptr addrspace(1)
  %count.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.error_count}
  %n = atomicrmw add ptr addrspace(1) %count.at, i32 1 monotonic, align 4, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %fits = icmp ult i32 %n, {LAUNCH_ERRORS}
  br i1 %fits, label %keep, label %beyond
keep:
  %list.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.errors}
  %list = load i64, ptr addrspace(1) %list.at, align 8
  %entries = inttoptr i64 %list to ptr addrspace(1)
  %n64 = zext i32 %n to i64
  %offset = mul i64 %n64, {launch_error}
  %here = getelementptr i8, ptr addrspace(1) %entries, i64 %offset
  %error.at = getelementptr i8, ptr addrspace(1) %here, i64 {launch_error.error}
  store i32 %error, ptr addrspace(1) %error.at, align 8
  %owner = add i64 %who, 1
  store i64 %owner, ptr addrspace(1) %here, align 8
  br label %done
beyond:
  %other.at = getelementptr i8, ptr addrspace(1) %head, i64 {launch_records.other_error}
  store i32 %error, ptr addrspace(1) %other.at, align 4
  br label %done
done:
  ret i32 %error
}
