/* 2-D fills: HIP has bytes only; wider elements go row by row. */
#include "shim.h"

bool fill_fits(CUdeviceptr to, size_t pitch, unsigned element, size_t width, size_t height) {
  const struct box box = {.width = size_times(width, element), .height = height, .depth = 1, .pitch = pitch};
  size_t first, end;
  return box_extent(&box, &first, &end) && allocation_holds(to, end);
}

static CUresult fill_rows(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                          CUstream hStream, bool wait) {
  hipStream_t stream;
  if (!stream_hip(hStream, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (!width || !height) return CUDA_SUCCESS;
  if (to % element || !fill_fits(to, pitch, element, width, height)) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && (pitch < width * element || pitch % element)) return CUDA_ERROR_INVALID_VALUE;
  int error = 0;
  if (height > 1 && pitch == width * element) width *= height, height = 1;
  for (size_t row = 0; row < height && !error; row++, to += pitch)
    error = element == 1   ? hip.MemsetD8Async((void *)to, (unsigned char)value, width, stream)
            : element == 2 ? hip.MemsetD16Async((void *)to, (unsigned short)value, width, stream)
                           : hip.MemsetD32Async((void *)to, (int)value, width, stream);
  if (!error && wait) error = stream_wait(stream);
  return from_hip(error);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill_rows(dstDevice, dstPitch, uc, 1, Width, Height, NULL, true);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
  return fill_rows(dstDevice, dstPitch, us, 2, Width, Height, NULL, true);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill_rows(dstDevice, dstPitch, ui, 4, Width, Height, NULL, true);
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream) {
  return fill_rows(dstDevice, dstPitch, uc, 1, Width, Height, hStream, false);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill_rows(dstDevice, dstPitch, us, 2, Width, Height, hStream, false);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill_rows(dstDevice, dstPitch, ui, 4, Width, Height, hStream, false);
}
