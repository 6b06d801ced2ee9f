// A kernel of the program's own fills an image, cuDNN convolves it and applies ReLU; prints what comes out.
#include <cstdio>
#include <cudnn.h>

#define DO(call) if ((call) != 0) return printf("line %d: %d\n", __LINE__, (int)(call)), 1

__global__ void fill(float *to, float first) { to[threadIdx.x] = first + threadIdx.x; }

int main() {
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t how;
  cudnnActivationDescriptor_t relu;
  float *data, *filter, *result, out[9], one = 1, zero = 0;
  size_t size;
  void *space;
  DO(cudnnCreate(&handle));
  DO(cudnnCreateTensorDescriptor(&x));
  DO(cudnnCreateTensorDescriptor(&y));
  DO(cudnnCreateFilterDescriptor(&w));
  DO(cudnnCreateConvolutionDescriptor(&how));
  DO(cudnnCreateActivationDescriptor(&relu));
  DO(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 4));
  DO(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 3, 3));
  DO(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 2, 2));
  DO(cudnnSetConvolution2dDescriptor(how, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  DO(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
  DO(cudaMalloc(&data, 16 * sizeof *data));
  DO(cudaMalloc(&filter, 4 * sizeof *filter));
  DO(cudaMalloc(&result, sizeof out));
  fill<<<1, 16>>>(data, -8);
  fill<<<1, 4>>>(filter, 1);
  const cudnnConvolutionFwdAlgo_t algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  DO(cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, how, y, algo, &size));
  DO(cudaMalloc(&space, size + 1));
  DO(cudnnConvolutionForward(handle, &one, x, data, w, filter, how, algo, space, size, &zero, y, result));
  DO(cudnnActivationForward(handle, relu, &one, y, result, &zero, y, result));
  DO(cudaMemcpy(out, result, sizeof out, cudaMemcpyDeviceToHost));
  for (float number : out) printf("%g ", number + 0);  // -0 is as good
  DO(cudnnDestroy(handle));
}
