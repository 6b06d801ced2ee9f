; cudaGetErrorName (`name`) and cudaGetErrorString of the errors that functions of the device's runtime give: the
; address of a text.
@ptx2amd_error.0.name = private unnamed_addr addrspace(4) constant [12 x i8] c"cudaSuccess\00", align 1
@ptx2amd_error.0.text = private unnamed_addr addrspace(4) constant [9 x i8] c"no error\00", align 1
@ptx2amd_error.1.name = private unnamed_addr addrspace(4) constant [22 x i8] c"cudaErrorInvalidValue\00", align 1
@ptx2amd_error.1.text = private unnamed_addr addrspace(4) constant [17 x i8] c"invalid argument\00", align 1
@ptx2amd_error.2.name = private unnamed_addr addrspace(4) constant [26 x i8] c"cudaErrorMemoryAllocation\00", align 1
@ptx2amd_error.2.text = private unnamed_addr addrspace(4) constant [14 x i8] c"out of memory\00", align 1
@ptx2amd_error.9.name = private unnamed_addr addrspace(4) constant [30 x i8] c"cudaErrorInvalidConfiguration\00", align 1
@ptx2amd_error.9.text = private unnamed_addr addrspace(4) constant [31 x i8] c"invalid configuration argument\00", align 1
@ptx2amd_error.65.name = private unnamed_addr addrspace(4) constant [32 x i8] c"cudaErrorLaunchMaxDepthExceeded\00", align 1
@ptx2amd_error.65.text = private unnamed_addr addrspace(4) constant [53 x i8] c"launch would exceed maximum depth of nested launches\00", align 1
@ptx2amd_error.98.name = private unnamed_addr addrspace(4) constant [31 x i8] c"cudaErrorInvalidDeviceFunction\00", align 1
@ptx2amd_error.98.text = private unnamed_addr addrspace(4) constant [24 x i8] c"invalid device function\00", align 1
@ptx2amd_error.101.name = private unnamed_addr addrspace(4) constant [23 x i8] c"cudaErrorInvalidDevice\00", align 1
@ptx2amd_error.101.text = private unnamed_addr addrspace(4) constant [23 x i8] c"invalid device ordinal\00", align 1
@ptx2amd_error.400.name = private unnamed_addr addrspace(4) constant [31 x i8] c"cudaErrorInvalidResourceHandle\00", align 1
@ptx2amd_error.400.text = private unnamed_addr addrspace(4) constant [24 x i8] c"invalid resource handle\00", align 1
@ptx2amd_error.701.name = private unnamed_addr addrspace(4) constant [30 x i8] c"cudaErrorLaunchOutOfResources\00", align 1
@ptx2amd_error.701.text = private unnamed_addr addrspace(4) constant [40 x i8] c"too many resources requested for launch\00", align 1
@ptx2amd_error.801.name = private unnamed_addr addrspace(4) constant [22 x i8] c"cudaErrorNotSupported\00", align 1
@ptx2amd_error.801.text = private unnamed_addr addrspace(4) constant [24 x i8] c"operation not supported\00", align 1
@ptx2amd_error.999.name = private unnamed_addr addrspace(4) constant [17 x i8] c"cudaErrorUnknown\00", align 1
@ptx2amd_error.999.text = private unnamed_addr addrspace(4) constant [14 x i8] c"unknown error\00", align 1
@ptx2amd_error.other = private unnamed_addr addrspace(4) constant [24 x i8] c"unrecognized error code\00", align 1
define internal i64 @ptx2amd_error_text(i32 %error, i1 %name) nounwind {
entry:
  switch i32 %error, label %other [
    i32 0, label %e0
    i32 1, label %e1
    i32 2, label %e2
    i32 9, label %e9
    i32 65, label %e65
    i32 98, label %e98
    i32 101, label %e101
    i32 400, label %e400
    i32 701, label %e701
    i32 801, label %e801
    i32 999, label %e999
  ]
e0:
  %text0 = select i1 %name, ptr addrspace(4) @ptx2amd_error.0.name, ptr addrspace(4) @ptx2amd_error.0.text
  br label %done
e1:
  %text1 = select i1 %name, ptr addrspace(4) @ptx2amd_error.1.name, ptr addrspace(4) @ptx2amd_error.1.text
  br label %done
e2:
  %text2 = select i1 %name, ptr addrspace(4) @ptx2amd_error.2.name, ptr addrspace(4) @ptx2amd_error.2.text
  br label %done
e9:
  %text9 = select i1 %name, ptr addrspace(4) @ptx2amd_error.9.name, ptr addrspace(4) @ptx2amd_error.9.text
  br label %done
e65:
  %text65 = select i1 %name, ptr addrspace(4) @ptx2amd_error.65.name, ptr addrspace(4) @ptx2amd_error.65.text
  br label %done
e98:
  %text98 = select i1 %name, ptr addrspace(4) @ptx2amd_error.98.name, ptr addrspace(4) @ptx2amd_error.98.text
  br label %done
e101:
  %text101 = select i1 %name, ptr addrspace(4) @ptx2amd_error.101.name, ptr addrspace(4) @ptx2amd_error.101.text
  br label %done
e400:
  %text400 = select i1 %name, ptr addrspace(4) @ptx2amd_error.400.name, ptr addrspace(4) @ptx2amd_error.400.text
  br label %done
e701:
  %text701 = select i1 %name, ptr addrspace(4) @ptx2amd_error.701.name, ptr addrspace(4) @ptx2amd_error.701.text
  br label %done
e801:
  %text801 = select i1 %name, ptr addrspace(4) @ptx2amd_error.801.name, ptr addrspace(4) @ptx2amd_error.801.text
  br label %done
e999:
  %text999 = select i1 %name, ptr addrspace(4) @ptx2amd_error.999.name, ptr addrspace(4) @ptx2amd_error.999.text
  br label %done
other:
  br label %done
done:
  %text = phi ptr addrspace(4) [ %text0, %e0 ], [ %text1, %e1 ], [ %text2, %e2 ], [ %text9, %e9 ], [ %text65, %e65 ], [ %text98, %e98 ], [ %text101, %e101 ], [ %text400, %e400 ], [ %text701, %e701 ], [ %text801, %e801 ], [ %text999, %e999 ], [ @ptx2amd_error.other, %other ]
  %at = ptrtoint ptr addrspace(4) %text to i64
  ret i64 %at
}
