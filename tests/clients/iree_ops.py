"""Run by suites.py under `ptx2amd run`: IREE compiles MLIR to PTX and runs it by the driver API; numpy's results."""

from collections.abc import Callable

import cases
import iree.compiler as compiler
import iree.runtime as runtime
import numpy as np

rng = np.random.default_rng(0)
a = rng.standard_normal((64, 48)).astype(np.float32)
b = rng.standard_normal((48, 32)).astype(np.float32)
whole = rng.integers(-9, 9, (32, 32)).astype(np.int32)
image = rng.standard_normal((1, 3, 16, 16)).astype(np.float32)
kernel = rng.standard_normal((4, 3, 3, 3)).astype(np.float32)


def compiled(function: str, *inputs: np.ndarray) -> Callable[[], np.ndarray]:
    """What `func @f` gives for the inputs, on the GPU."""

    def result() -> np.ndarray:
        code = compiler.compile_str(
            f"func.func @f{function}",
            target_backends=["cuda"],
            extra_args=["--iree-cuda-target=sm_80"],
        )
        return np.asarray(runtime.load_vm_flatbuffer(code, driver="cuda").f(*inputs))

    return result


MATMUL = """(%a: tensor<64x48xf32>, %b: tensor<48x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x32xf32>) outs(%start : tensor<64x32xf32>)
    -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}"""
ROWS = "  %c0 = arith.constant 0 : index\n  %rows = tensor.dim %a, %c0 : tensor<?x48xf32>\n  %zero ="
DYNAMIC = MATMUL.replace("64x48x", "?x48x").replace("64x32x", "?x32x").replace("empty()", "empty(%rows)")
DYNAMIC = DYNAMIC.replace("  %zero =", ROWS, 1)
HALF = """(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>)
    -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}"""
ELEMENTWISE = """(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %e = math.exp %a : tensor<64x48xf32>
  %s = math.sin %a : tensor<64x48xf32>
  %t = math.tanh %s : tensor<64x48xf32>
  %r = arith.mulf %e, %t : tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}"""
SUM = """(%a: tensor<64x48xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<64x48xf32>) outs(%start : tensor<64xf32>) dimensions = [1]
  return %r : tensor<64xf32>
}"""
SOFTMAX = """(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %empty = tensor.empty() : tensor<64x48xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<64x48xf32>) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}"""
TRANSPOSE = """(%a: tensor<64x48xf32>) -> tensor<48x64xf32> {
  %empty = tensor.empty() : tensor<48x64xf32>
  %r = linalg.transpose ins(%a : tensor<64x48xf32>) outs(%empty : tensor<48x64xf32>) permutation = [1, 0]
  return %r : tensor<48x64xf32>
}"""
CONVOLUTION = """(%a: tensor<1x3x16x16xf32>, %k: tensor<4x3x3x3xf32>) -> tensor<1x4x14x14xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x14x14xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x14x14xf32>) -> tensor<1x4x14x14xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%a, %k : tensor<1x3x16x16xf32>, tensor<4x3x3x3xf32>)
    outs(%start : tensor<1x4x14x14xf32>) -> tensor<1x4x14x14xf32>
  return %r : tensor<1x4x14x14xf32>
}"""
INTEGERS = """(%a: tensor<32x32xi32>) -> tensor<32x32xi32> {
  %c = arith.constant dense<7> : tensor<32x32xi32>
  %m = arith.muli %a, %c : tensor<32x32xi32>
  %r = arith.maxsi %m, %c : tensor<32x32xi32>
  return %r : tensor<32x32xi32>
}"""


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def convolved() -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))
    return np.einsum("nchwij,fcij->nfhw", windows, kernel)


half = rng.standard_normal((2, 64, 64)).astype(np.float16)
CASES = {
    "matmul": cases.agree(compiled(MATMUL, a, b), a @ b),
    "dynamic-shape": cases.agree(compiled(DYNAMIC, a[:37], b), a[:37] @ b),
    "half-matmul": cases.agree(compiled(HALF, *half), half[0].astype("f4") @ half[1].astype("f4"), 1e-2, 1e-2),
    "elementwise": cases.agree(compiled(ELEMENTWISE, a), np.exp(a) * np.tanh(np.sin(a))),
    "sum": cases.agree(compiled(SUM, a), a.sum(1)),
    "softmax": cases.agree(compiled(SOFTMAX, a), softmax(a)),
    "transpose": cases.agree(compiled(TRANSPOSE, a), a.T),
    "convolution": cases.agree(compiled(CONVOLUTION, image, kernel), convolved()),
    "integers": cases.agree(compiled(INTEGERS, whole), np.maximum(whole * 7, 7)),
}

cases.run(CASES)
