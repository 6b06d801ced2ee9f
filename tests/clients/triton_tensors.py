"""Run by suites.py under `ptx2amd run` as a device of capability 9.0: Triton's tensor descriptors, which are tensor
maps and tensor copies (TMA), and its products of warp groups (wgmma)."""

import cases
import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_array import Array, start


class Element(str):
    """A dtype that knows its size, as PyTorch's do."""

    itemsize = 2


class Scratch:
    """Device memory for the descriptors that kernels make."""

    def __init__(self, size: int, align: int) -> None:
        self.memory = Array(np.zeros(size + align, "u1"))
        self.address = -(-self.memory.data_ptr() // align) * align

    def data_ptr(self) -> int:
        return self.address


kept = []


def allocate(size: int, align: int, _: object) -> Scratch:
    kept.append(Scratch(size, align))
    return kept[-1]


@triton.jit
def multiply(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total.to(tl.float16))


@triton.jit
def multiply_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_tensor = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_tensor = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c_tensor = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    multiply(a_tensor, b_tensor, c_tensor, K, BM, BN, BK)


M, N, K = 96, 80, 112
rng = np.random.default_rng(1)
A, B = (rng.integers(-4, 5, size).astype("f2") for size in ((M, K), (K, N)))


def by_pointers(bk: int) -> np.ndarray:
    c = Array(np.zeros((M, N), "f2"))
    multiply_pointers[(2, 2)](Array(A), Array(B), c, M, N, K, BM=64, BN=64, BK=bk)
    return c.numpy()


def by_descriptors(bk: int) -> np.ndarray:
    arrays = [Array(host) for host in (A, B, np.zeros((M, N), "f2"))]
    for array in arrays:
        array.dtype = Element(array.dtype)
    blocks = ([64, bk], [bk, 64], [64, 64])
    tensors = [
        TensorDescriptor(array, list(array.host.shape), [array.host.shape[1], 1], block)
        for array, block in zip(arrays, blocks, strict=True)
    ]
    multiply[(2, 2)](*tensors, K, BM=64, BN=64, BK=bk)
    return arrays[2].numpy()


start()
triton.set_allocator(allocate)
cases.run(
    {
        f"{name}-{bk}": cases.agree(lambda make=make, bk=bk: make(bk), A.astype("f4") @ B.astype("f4"))
        for name, make in (("made-by-kernels", by_pointers), ("made-by-the-host", by_descriptors))
        for bk in (16, 32, 64)
    }
)
