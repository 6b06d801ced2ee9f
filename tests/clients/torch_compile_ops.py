"""Run by suites.py under `ptx2amd run`: PyTorch as PyPI has it, whose own kernels are machine code only: torch.compile
makes kernels by Triton that run; an operator in eager mode ends with an error that says why."""

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import cases
import torch
import torch.nn.functional as F
from torch import nn

# What uses kernels of PyTorch's own while it compiles: to clear a buffer between measurements, to fold constants.
torch._inductor.config.triton.autotune_pointwise = torch._inductor.config.joint_graph_constant_folding = False
torch.manual_seed(0)
x, y, k = torch.randn(64, 48), torch.randn(48, 32), torch.arange(1000)
words = torch.randint(0, 48, (4, 7))


def same(operation: Callable[..., torch.Tensor], *inputs: torch.Tensor, close: float = 1e-4) -> Callable[[], None]:
    """A case: the compiled operation gives on the GPU what it gives on the CPU in eager mode."""

    def check() -> None:
        torch._dynamo.reset()
        got = torch.compile(operation, dynamic=False)(*(value.to("cuda") for value in inputs))
        assert got.is_cuda
        torch.testing.assert_close(got.cpu(), operation(*inputs), rtol=close, atol=close)

    return check


def gradients(operation: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Callable[[], None]:
    """A case: so do its gradients."""

    def of(device: str, function: Callable[..., torch.Tensor]) -> list[Any]:
        leaves = [value.clone().to(device).requires_grad_() for value in inputs]
        result = function(*leaves)
        result.backward(torch.ones(result.shape).to(device))
        return [leaf.grad.cpu() for leaf in leaves]

    def check() -> None:
        torch._dynamo.reset()
        compiled = torch.compile(operation, dynamic=False)
        torch.testing.assert_close(of("cuda", compiled), of("cpu", operation), rtol=1e-3, atol=1e-3)

    return check


def normalized(a: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.gelu(a), (48,))


def block(a: torch.Tensor) -> torch.Tensor:
    """Products as sums, so that no library is asked for them."""
    hidden = torch.relu((a[:, :, None] * weights.to(a.device)[None]).sum(1))
    return hidden / (1 + hidden.square().mean(1, keepdim=True)).sqrt()


weights = nn.Parameter(torch.randn(48, 16)).detach()


def eager_says_why() -> None:
    try:
        print(torch.ones(4, device="cuda").add(1).cpu())
    except RuntimeError as error:
        assert "no kernel image is available" in str(error), error
    else:
        raise AssertionError("an operator of machine code ran")


def copies() -> None:
    assert torch.equal(x.to("cuda").cpu(), x) and torch.cuda.get_device_name(0)


CASES = {
    "copies": copies,
    "elementwise": same(lambda a: torch.exp(a) * torch.sin(a) + torch.sqrt(a.abs()), x),
    "broadcast": same(lambda a, b: a[:, None, :] * b.T[None, :, :], x, y),
    "half": same(lambda a: (a.half() * 2 + 1).float(), x, close=1e-2),
    "bfloat16": same(lambda a: (a.bfloat16() * 2 + 1).float(), x, close=2e-2),
    "integers": same(lambda a: (a * 7 % 13) ^ (a >> 2), k),
    "where": same(lambda a: torch.where(a > 0, a, -2 * a), x),
    "special-functions": same(lambda a: torch.erf(a) + torch.lgamma(a.abs() + 0.5), x),
    "sum": same(lambda a: a.sum(), x, close=1e-3),
    "reduce-axis": same(lambda a: a.mean(0) + a.amax(0), x),
    "variance": same(lambda a: a.var(1), x),
    "argmax": same(lambda a: a.argmax(1), x),
    "cumsum": same(lambda a: a.cumsum(0), k),
    "gather": same(lambda a, i: a[i % 64, i % 48], x, k),
    "transpose": same(lambda a: a.view(4, 16, 48).permute(2, 0, 1).contiguous() + 1, x),
    "cat": same(lambda a: torch.cat([a, a * 2], 1) + 1, x),
    "softmax": same(lambda a: a.softmax(1), x),
    "layer-norm": same(normalized, x),
    "embedding": same(lambda w, t: F.embedding(t, w) * 2, y, words),
    "block": same(block, x),
    "cross-entropy": same(lambda a, i: F.cross_entropy(a, i[:64] % 48), x, k),
    "gradient": gradients(lambda a: torch.sin(a) * a**2 + a.softmax(1), x),
    "gradient-block": gradients(block, x),
    "eager-says-why": eager_says_why,
}

cases.run(CASES)
