; CUDA's vprintf(format, arguments): appends a record to the printf buffer; the host formats it.
; Returns the number of arguments, or -1 when there is no buffer or no room. The first record that does not
; fit leaves a 0 where its size would stand. The capacity is a multiple of 8.
; Layout: ptx2amd/interface/printf.py.
define internal i32 @ptx2amd_vprintf(i64 %format, i64 %args, i64 %buffer, i32 %kind) nounwind {
entry:
  %nobuffer = icmp eq i64 %buffer, 0
  %noformat = icmp eq i64 %format, 0
  %nothing = or i1 %nobuffer, %noformat
  br i1 %nothing, label %lost, label %start
start:
  %measured = call { i64, i32 } @ptx2amd_printf_size(i64 %format, i64 %args, i64 0, i32 0)
  %laid = extractvalue { i64, i32 } %measured, 0
  %strings = extractvalue { i64, i32 } %measured, 1
  %count = lshr i64 %laid, 32
  %count32 = trunc i64 %count to i32
  %size = trunc i64 %laid to i32
  %sum = add i32 %size, %strings
  %with = add i32 %sum, {printf_record}
  %padded = add i32 %with, 7
  %record = and i32 %padded, -8
  %head = inttoptr i64 %buffer to ptr addrspace(1)
  %cursor = getelementptr i8, ptr addrspace(1) %head, i64 {printf_buffer.position}
  %capacity = load i32, ptr addrspace(1) %head, align 4
  %at = atomicrmw add ptr addrspace(1) %cursor, i32 %record monotonic, align 4, !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0
  %end = add i32 %at, %record
  %overflow = icmp ult i32 %end, %at
  %beyond = icmp ugt i32 %end, %capacity
  %full = or i1 %overflow, %beyond
  %at64 = zext i32 %at to i64
  %records = getelementptr i8, ptr addrspace(1) %head, i64 {printf_buffer}
  %here = getelementptr i8, ptr addrspace(1) %records, i64 %at64
  br i1 %full, label %nofit, label %write
nofit:
  %inside = icmp ult i32 %at, %capacity
  br i1 %inside, label %mark, label %lost
mark:
  store i32 0, ptr addrspace(1) %here, align 8
  br label %lost
write:
  store i32 %record, ptr addrspace(1) %here, align 8
  %kind.at = getelementptr i8, ptr addrspace(1) %here, i64 {printf_record.kind}
  store i32 %kind, ptr addrspace(1) %kind.at, align 4
  %place = getelementptr i8, ptr addrspace(1) %here, i64 {printf_record.format}
  store i64 %format, ptr addrspace(1) %place, align 8
  %to = getelementptr i8, ptr addrspace(1) %here, i64 {printf_record}
  %from = inttoptr i64 %args to ptr
  br label %copy
copy:
  %i = phi i32 [ 0, %write ], [ %next, %word ]
  %more = icmp ult i32 %i, %size
  br i1 %more, label %word, label %done
word:
  %source = getelementptr i8, ptr %from, i32 %i
  %v = load i32, ptr %source, align 4
  %target = getelementptr i8, ptr addrspace(1) %to, i32 %i
  store i32 %v, ptr addrspace(1) %target, align 4
  %next = add i32 %i, 4
  br label %copy
done:
  %no.strings = icmp eq i32 %strings, 0
  br i1 %no.strings, label %finish, label %copies
copies:
  %behind = add i32 %size, {printf_record}
  %record64 = ptrtoint ptr addrspace(1) %here to i64
  call { i64, i32 } @ptx2amd_printf_size(i64 %format, i64 %args, i64 %record64, i32 %behind)
  br label %finish
finish:
  ret i32 %count32
lost:
  ret i32 -1
}
