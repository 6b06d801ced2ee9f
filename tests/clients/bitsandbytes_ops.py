"""Run by suites.py under `ptx2amd run`: the kernels of bitsandbytes (separate compilation: their PTX is linked) on
tensors of PyTorch, against what it computes on the CPU. PyTorch's own kernels are machine code: tensors are copies."""

from collections.abc import Callable
from typing import Any

import bitsandbytes.functional as bf
import cases
import torch

torch.manual_seed(0)
x = torch.randn(64, 256)
weight = torch.randn(96, 256) / 16
HALVES = (torch.float16, torch.bfloat16)


def close(got: torch.Tensor, want: torch.Tensor, error: float) -> None:
    """The results agree within a share of the largest."""
    assert got.is_cuda
    difference = (got.cpu().float() - want.float()).abs().max() / want.float().abs().max()
    assert difference < error, f"differs by {difference:.2%} of the largest"


def blockwise(dtype: torch.dtype) -> Callable[[], None]:
    def check() -> None:
        code = bf.create_dynamic_map()
        quantized, state = bf.quantize_blockwise(x.to(dtype).cuda(), code.cuda(), blocksize=256)
        want, known = bf.quantize_blockwise(x.to(dtype), code, blocksize=256)
        close(state.absmax, known.absmax, 1e-6)
        assert (quantized.cpu() != want).float().mean() < 0.01
        close(bf.dequantize_blockwise(quantized, state), x, 0.02)

    return check


def four_bits(kind: str, dtype: torch.dtype) -> Callable[[], None]:
    def check() -> None:
        quantized, scales = torch.ops.bitsandbytes.quantize_4bit(x.to(dtype).cuda(), 64, kind, torch.uint8)
        want, known = bf.quantize_4bit(x.to(dtype), blocksize=64, quant_type=kind)
        values = bf.dequantize_4bit(want, known)
        assert (bf.dequantize_4bit(quantized.cpu(), known) != values).float().mean() < 0.01
        close(scales, known.absmax, 1e-6)
        close(bf.dequantize_4bit(want.cuda(), moved(known)), values, 0.01)

    return check


def moved(state: Any) -> Any:
    """A copy of a quantization's state on the GPU."""
    names = ("shape", "blocksize", "quant_type", "dtype")
    return type(state)(state.absmax.cuda(), code=state.code.cuda(), **{name: getattr(state, name) for name in names})


def product(rows: int, dtype: torch.dtype) -> Callable[[], None]:
    """A product with weights of 4 bits, which the kernel expands."""

    def check() -> None:
        quantized, state = bf.quantize_4bit(weight.to(dtype), blocksize=64, quant_type="nf4")
        inputs, there = x[:rows].to(dtype), moved(state)
        want = inputs.float() @ bf.dequantize_4bit(quantized, state).float().T
        if rows == 1:
            got = bf.gemv_4bit(inputs.cuda(), quantized.cuda().t(), state=there)
        else:
            arguments = (quantized.cuda(), list(state.shape), there.absmax, state.blocksize, "nf4")
            got = torch.ops.bitsandbytes.gemm_4bit(inputs.cuda(), *arguments)
        close(got, want, 0.02)

    return check


def int8_rows() -> None:
    quantized, statistics, _ = bf.int8_vectorwise_quant(x.half().cuda())
    want = x.half().float().abs().amax(1)
    close(statistics, want, 1e-3)
    close(quantized, (x.half().float() / want[:, None] * 127).round(), 0.02)


def int8_product() -> None:
    a, b = torch.randint(-127, 128, (64, 256), dtype=torch.int8), torch.randint(-127, 128, (96, 256), dtype=torch.int8)
    close(torch.ops.bitsandbytes.int8_linear_matmul(a.cuda(), b.cuda()), a.int() @ b.int().T, 1e-9)


def int8_back() -> None:
    product, rows, columns = (
        torch.randint(-9999, 9999, (64, 96), dtype=torch.int32),
        x.abs().amax(1),
        weight.abs().amax(1),
    )
    got = bf.int8_mm_dequant(product.cuda(), rows.cuda(), columns.cuda())
    close(got, product * rows[:, None] * columns / 127**2, 0.002)


def optimizer(name: str) -> Callable[[], None]:
    """Two steps, as the definition has them."""

    def check() -> None:
        parameter, gradients = torch.randn(5000), torch.randn(2, 5000)
        there, states = parameter.cuda(), [torch.zeros(5000).cuda(), torch.zeros(5000).cuda()]
        first, second = torch.zeros(5000), torch.zeros(5000)
        for step, gradient in enumerate(gradients, 1):
            bf.optimizer_update_32bit(name, gradient.cuda(), there, states[0], 0.9, 1e-8, step, 0.01, states[1], 0.999)
            if name == "adam":
                first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
                corrected = first / (1 - 0.9**step), second / (1 - 0.999**step)
                parameter = parameter - 0.01 * corrected[0] / (corrected[1].sqrt() + 1e-8)
            else:  # momentum
                first = gradient if step == 1 else 0.9 * first + gradient
                parameter = parameter - 0.01 * first
        close(there, parameter, 1e-4)

    return check


CASES: dict[str, Callable[[], None]] = {}
for dtype in (torch.float32, *HALVES):
    word = str(dtype).removeprefix("torch.")
    CASES[f"blockwise-{word}"] = blockwise(dtype)
    CASES |= {f"{kind}-{word}": four_bits(kind, dtype) for kind in ("nf4", "fp4")}
    CASES |= {f"product-{rows}-{word}": product(rows, dtype) for rows in (1, 4)}
CASES |= {"int8-rows": int8_rows, "int8-product": int8_product, "int8-back": int8_back}
CASES |= {f"optimizer-{name}": optimizer(name) for name in ("adam", "momentum")}
cases.run(CASES)
