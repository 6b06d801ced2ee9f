; A string among the arguments of a printf: where a record's strings end behind it, %at before. What lies in local or
; shared memory is gone when the host reads the record, so the record gets a copy, at %at, and in the argument's place
; that position with the highest bit set. Record 0: nothing is written.
define internal i32 @ptx2amd_printf_string(i64 %string, i64 %record, i32 %slot, i32 %at) nounwind {
entry:
  %from = inttoptr i64 %string to ptr
  %local = call i1 @llvm.amdgcn.is.private(ptr %from)
  %shared = call i1 @llvm.amdgcn.is.shared(ptr %from)
  %passing = or i1 %local, %shared
  %write = icmp ne i64 %record, 0
  %here = inttoptr i64 %record to ptr addrspace(1)
  br i1 %passing, label %next, label %stays
stays:
  ret i32 %at
next:
  %i = phi i32 [ 0, %entry ], [ %i1, %more ]
  %source = getelementptr i8, ptr %from, i32 %i
  %c = load i8, ptr %source, align 1
  br i1 %write, label %put, label %more
put:
  %place = add i32 %at, %i
  %target = getelementptr i8, ptr addrspace(1) %here, i32 %place
  store i8 %c, ptr addrspace(1) %target, align 1
  br label %more
more:
  %i1 = add i32 %i, 1
  %last = icmp eq i8 %c, 0
  br i1 %last, label %done, label %next
done:
  br i1 %write, label %mark, label %end
mark:
  %at64 = zext i32 %at to i64
  %position = or i64 %at64, {PRINTF_COPIED}
  %argument = add i32 %slot, {printf_record}
  %argument.at = getelementptr i8, ptr addrspace(1) %here, i32 %argument
  store i64 %position, ptr addrspace(1) %argument.at, align 8
  br label %end
end:
  %result = add i32 %at, %i1
  ret i32 %result
}
