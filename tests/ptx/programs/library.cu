// Kernels of the CUB library.
#include <cub/cub.cuh>

__global__ void blocks(int *data, int *out) {
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ union { Sort::TempStorage sort; Scan::TempStorage scan; Reduce::TempStorage reduce; } storage;
  int items[4];
  cub::LoadDirectStriped<128>(threadIdx.x, data, items);
  Sort(storage.sort).Sort(items);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  float total = Reduce(storage.reduce).Sum(float(items[0]));
  cub::StoreDirectBlocked(threadIdx.x, out, items);
  if (threadIdx.x == 0) out[1000] = int(total);
}

void device(void *scratch, size_t &size, int *in, int *out, int n) {
  cub::DeviceReduce::Sum(scratch, size, in, out, n);
  cub::DeviceScan::InclusiveSum(scratch, size, in, out, n);
  cub::DeviceRadixSort::SortKeys(scratch, size, in, out, n);
}
