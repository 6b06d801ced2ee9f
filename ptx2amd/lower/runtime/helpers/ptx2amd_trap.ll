; A trap in a function of its own. For gfx11 LLVM 22 makes several blocks of a trap and then leaves the pseudo
; instructions of the blocks behind it as they are: here there are none.
define internal void @ptx2amd_trap() noinline nounwind cold {
  call void @llvm.trap()
  unreachable
}
