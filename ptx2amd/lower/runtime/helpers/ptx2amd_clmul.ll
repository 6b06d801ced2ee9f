; The lower 64 bits of a carry-less product.
define internal i64 @ptx2amd_clmul(i64 %a, i64 %b) {
entry:
  br label %loop
loop:
  %x = phi i64 [ %a, %entry ], [ %x.next, %loop ]
  %y = phi i64 [ %b, %entry ], [ %y.next, %loop ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %loop ]
  %bit = and i64 %x, 1
  %mask = sub i64 0, %bit
  %part = and i64 %y, %mask
  %sum.next = xor i64 %sum, %part
  %x.next = lshr i64 %x, 1
  %y.next = shl i64 %y, 1
  %more = icmp ne i64 %x.next, 0
  br i1 %more, label %loop, label %end
end:
  ret i64 %sum.next
}
