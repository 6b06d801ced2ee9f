; How many bytes the arguments of a printf format take as vprintf lays them out (low half of the first result),
; and how many there are (high half). Conversions with ll, l, j, z, t, of floating point, %s and %p take
; 8 bytes, aligned; the others, and every *, take 4. The second result is %at, plus the bytes of the strings that have to
; be copied (ptx2amd_printf_string); with a record, which is not 0, they are, to that place in it and behind.
define internal { i64, i32 } @ptx2amd_printf_size(i64 %format, i64 %args, i64 %record, i32 %at) nounwind {
entry:
  br label %text
text:
  %p = phi i64 [ %format, %entry ], [ %p1, %text ], [ %q1, %percent ], [ %q1, %close ]
  %n = phi i32 [ 0, %entry ], [ %n, %text ], [ %m, %percent ], [ %total, %close ]
  %k = phi i64 [ 0, %entry ], [ %k, %text ], [ %j, %percent ], [ %k1, %close ]
  %a = phi i32 [ %at, %entry ], [ %a, %text ], [ %a, %percent ], [ %a1, %close ]
  %cp = inttoptr i64 %p to ptr addrspace(1)
  %c = load i8, ptr addrspace(1) %cp, align 1
  %p1 = add i64 %p, 1
  switch i8 %c, label %text [
    i8 0, label %done
    i8 37, label %spec
  ]
spec:
  %q = phi i64 [ %p1, %text ], [ %q1, %flag ], [ %q1, %long ], [ %q1, %star ]
  %m = phi i32 [ %n, %text ], [ %m, %flag ], [ %m, %long ], [ %after, %star ]
  %j = phi i64 [ %k, %text ], [ %j, %flag ], [ %j, %long ], [ %j1, %star ]
  %wide = phi i1 [ false, %text ], [ %wide, %flag ], [ true, %long ], [ %wide, %star ]
  %sp = inttoptr i64 %q to ptr addrspace(1)
  %s = load i8, ptr addrspace(1) %sp, align 1
  %q1 = add i64 %q, 1
  switch i8 %s, label %flag [
    i8 0, label %cut
    i8 37, label %percent
    i8 42, label %star
    i8 108, label %long
    i8 106, label %long
    i8 122, label %long
    i8 116, label %long
    i8 100, label %integer
    i8 105, label %integer
    i8 111, label %integer
    i8 117, label %integer
    i8 120, label %integer
    i8 88, label %integer
    i8 99, label %small
    i8 101, label %eight
    i8 102, label %eight
    i8 103, label %eight
    i8 97, label %eight
    i8 69, label %eight
    i8 70, label %eight
    i8 71, label %eight
    i8 65, label %eight
    i8 115, label %string
    i8 112, label %eight
    i8 110, label %eight
  ]
flag:
  br label %spec
long:
  br label %spec
star:
  %after = add i32 %m, 4
  %j1 = add i64 %j, 1
  br label %spec
percent:
  br label %text
integer:
  br i1 %wide, label %eight, label %small
small:
  %four = add i32 %m, 4
  br label %close
eight:
  %up = add i32 %m, 15
  %aligned = and i32 %up, -8
  br label %close
string:
  %start = add i32 %m, 7
  %slot = and i32 %start, -8
  %behind = add i32 %slot, 8
  %slot64 = zext i32 %slot to i64
  %value.at = add i64 %args, %slot64
  %value.p = inttoptr i64 %value.at to ptr
  %value = load i64, ptr %value.p, align 8
  %copied = call i32 @ptx2amd_printf_string(i64 %value, i64 %record, i32 %slot, i32 %a)
  br label %close
close:
  %total = phi i32 [ %four, %small ], [ %aligned, %eight ], [ %behind, %string ]
  %a1 = phi i32 [ %a, %small ], [ %a, %eight ], [ %copied, %string ]
  %k1 = add i64 %j, 1
  br label %text
cut:
  br label %done
done:
  %size = phi i32 [ %n, %text ], [ %m, %cut ]
  %count = phi i64 [ %k, %text ], [ %j, %cut ]
  %size64 = zext i32 %size to i64
  %high = shl i64 %count, 32
  %laid = or i64 %high, %size64
  %first = insertvalue { i64, i32 } poison, i64 %laid, 0
  %result = insertvalue { i64, i32 } %first, i32 %a, 1
  ret { i64, i32 } %result
}
