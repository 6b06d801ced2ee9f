"""Run by suites.py under `ptx2amd run`: PyTorch's eager operators on the GPU, each checked against the CPU."""

from collections.abc import Callable
from typing import Any

import cases
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
x, y, v = torch.randn(64, 48), torch.randn(48, 32), torch.randn(5000)
batch, image = torch.randn(4, 16, 48), torch.randn(2, 3, 16, 16)
k = torch.arange(1000)
spd = x.T @ x + 10 * torch.eye(48)
words = torch.randint(0, 20, (4, 7))
Case = Callable[[], None]


def on(device: str, value: Any) -> Any:
    return value.to(device) if isinstance(value, torch.Tensor) else value


def same(operation: Callable[..., Any], *inputs: Any, rtol: float = 1e-4, atol: float = 1e-4) -> Case:
    """A case: the operation gives on the GPU what it gives on the CPU."""

    def check() -> None:
        got, want = (operation(*(on(device, value) for value in inputs)) for device in ("cuda", "cpu"))
        assert got.is_cuda
        torch.testing.assert_close(got.cpu(), want, rtol=rtol, atol=atol)

    return check


def gradients(operation: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> Case:
    """A case: so do the gradients of the result's sum."""

    def of(device: str) -> list[torch.Tensor]:
        leaves = [value.clone().to(device).requires_grad_() for value in inputs]
        operation(*leaves).square().sum().backward()
        return [leaf.grad.cpu() for leaf in leaves]

    def check() -> None:
        torch.testing.assert_close(of("cuda"), of("cpu"), rtol=1e-3, atol=1e-3)

    return check


def trained(
    model: Callable[[], nn.Module], optimizer: Callable[..., torch.optim.Optimizer], data: torch.Tensor
) -> Case:
    """A case: a few steps of training end with the CPU's losses, which fall."""
    wanted = (data.flatten(1)[:, 0] > 0).long() + (data.flatten(1)[:, 1] > 0)

    def losses(device: str) -> list[float]:
        torch.manual_seed(1)
        network = model().to(device)
        steps, inputs, labels, result = optimizer(network.parameters()), data.to(device), wanted.to(device), []
        for _ in range(4):
            steps.zero_grad()
            loss = F.cross_entropy(network(inputs), labels)
            loss.backward()
            steps.step()
            result.append(loss.item())
        return result

    def check() -> None:
        got, want = losses("cuda"), losses("cpu")
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
        assert got[-1] < got[0]

    return check


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(48, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 3))


def convolutional() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(8 * 49, 3))  # fmt: skip


def random_numbers() -> None:
    drawn = torch.randn(100_000, device="cuda")
    assert abs(drawn.mean().item()) < 0.02 and abs(drawn.std().item() - 1) < 0.02
    assert len(torch.randperm(1000, device="cuda").unique()) == 1000
    even = torch.rand(100_000, device="cuda")
    assert 0 <= even.min().item() < 0.01 and 0.99 < even.max().item() <= 1


def dropout() -> None:
    kept = F.dropout(torch.ones(100_000, device="cuda"), 0.25)
    assert abs((kept > 0).float().mean().item() - 0.75) < 0.01 and abs(kept.max().item() - 4 / 3) < 1e-5


def copies() -> None:
    stream, there = torch.cuda.Stream(), v.pin_memory()
    with torch.cuda.stream(stream):
        copied = there.to("cuda", non_blocking=True) + 1
    stream.synchronize()
    assert torch.equal(copied.cpu(), v + 1)


def graph() -> None:
    """A captured graph replays with new inputs."""
    static = x.cuda()
    torch.sin(static).mul_(2)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = torch.sin(static) * 2
    static.copy_(x + 1)
    captured.replay()
    torch.testing.assert_close(result.cpu(), torch.sin(x + 1) * 2, rtol=1e-4, atol=1e-4)


def automatic_mixed() -> None:
    linear = nn.Linear(48, 32)
    want = linear(x)
    with torch.autocast("cuda", dtype=torch.float16):
        got = linear.cuda()(x.cuda())
    assert got.dtype == torch.float16
    torch.testing.assert_close(got.float().cpu(), want, rtol=2e-2, atol=2e-2)


def to_bfloat(a: torch.Tensor) -> torch.Tensor:
    return (a.bfloat16() * 2 + 1).float()


CASES = {
    "elementwise": same(lambda a: torch.exp(a) * torch.sin(a) + torch.sqrt(a.abs()), x),
    "broadcast": same(lambda a, b: a[:, None, :] * b.T[None, :, :], x, y),
    "special-functions": same(lambda a: torch.erf(a) + torch.lgamma(a.abs() + 0.5) + torch.special.i0(a), x),
    "double": same(lambda a: torch.tanh(a.double()) ** 2 / 3, x),
    "half": same(lambda a: (a.half() * 2 + 1).float(), x),
    "bfloat16": same(to_bfloat, x),
    "complex": same(lambda a: torch.view_as_real(torch.view_as_complex(a.view(-1, 24, 2)) ** 2), x),
    "integers": same(lambda a: (a * 7 % 13) ^ (a >> 2), k),
    "where": same(lambda a: torch.where(a > 0, a, -2 * a), x),
    "clamp": same(lambda a: a.clamp(-0.5, 0.5), x),
    "sum": same(lambda a: a.sum(), x),
    "sum-axis": same(lambda a: a.sum(0) + a.mean(0), x),
    "var-norm": same(lambda a: torch.stack([a.var(), a.norm(), a.max(), a.min()]), x),
    "argmax": same(lambda a: a.argmax(1), x),
    "logsumexp": same(lambda a: torch.logsumexp(a, 1), x),
    "any-all": same(lambda a: torch.stack([(a > 3).any(), (a < 9).all()]), x),
    "cumsum": same(lambda a: a.cumsum(0), k),
    "cumprod-axis": same(lambda a: a.cumprod(1), x / 2),
    "sort": same(lambda a: a.sort(1).values, x),
    "sort-long": same(lambda a: a.sort().values, v),
    "argsort": same(lambda a: a.argsort(), v),
    "topk": same(lambda a: a.topk(5, 1).values, x),
    "median": same(lambda a: a.median(1).values, x),
    "unique": same(lambda a: (a % 17).unique(), k),
    "bincount": same(lambda a: torch.bincount(a % 16), k),
    "histogram": same(lambda a: torch.histc(a, 10, -2, 2), v),
    "searchsorted": same(lambda a: torch.searchsorted(a.sort().values, a[:9]), v),
    "gather": same(lambda a, i: a.gather(1, i[:64, None] % 48), x, k),
    "index": same(lambda a, i: a[i % 64, i % 48], x, k),
    "index-put": same(lambda a, i: a.clone().index_put_((i % 64,), a[i % 64], accumulate=False), x, k[:64]),
    "scatter-add": same(lambda a, i: torch.zeros_like(a).scatter_add_(0, i % 64, a[: len(i)]), v[:1000], k),
    "index-add": same(lambda a, i: torch.zeros_like(a).index_add_(0, i[:64] % 7, a), x, k),
    "masked": same(lambda a: a[a > 0.5], x),
    "nonzero": same(lambda a: a.nonzero(), x > 1),
    "cat": same(lambda a: torch.cat([a, a * 2, a.flip(0)], 1), x),
    "permute": same(lambda a: a.permute(2, 0, 1).contiguous(), batch),
    "roll-tril": same(lambda a: a.roll(3, 1).tril(), x),
    "foreach": same(lambda a: torch.cat(torch._foreach_mul([a, a + 1], 3.0)), x),
    "matmul": same(torch.matmul, x, y),
    "matmul-half": same(lambda a, b: (a.half() @ b.half()).float(), x, y, rtol=2e-2, atol=2e-2),
    "matmul-bfloat16": same(lambda a, b: (a.bfloat16() @ b.bfloat16()).float(), x, y, rtol=5e-2, atol=1e-1),
    "matmul-double": same(lambda a, b: a.double() @ b.double(), x, y),
    "matrix-vector": same(lambda a: a @ a[0], x),
    "batched-matmul": same(lambda a: torch.bmm(a, a.transpose(1, 2)), batch),
    "linear": same(lambda a, b: F.linear(a, b.T, b[0]), x, y),
    "einsum": same(lambda a: torch.einsum("bij,bkj->ik", a, a), batch, atol=1e-3),
    "cholesky": same(torch.linalg.cholesky, spd, rtol=1e-3, atol=1e-3),
    "solve": same(lambda a, b: torch.linalg.solve(a, b), spd, y, rtol=1e-3, atol=1e-3),
    "inverse-det": same(lambda a: torch.linalg.inv(a) + torch.linalg.slogdet(a).logabsdet, spd, rtol=1e-3, atol=1e-3),
    "eigenvalues": same(torch.linalg.eigvalsh, spd, rtol=1e-3, atol=1e-3),
    "singular-values": same(torch.linalg.svdvals, x, rtol=1e-3, atol=1e-3),
    "fft": same(lambda a: torch.view_as_real(torch.fft.fft(a)), x, atol=1e-3),
    "softmax": same(lambda a: a.softmax(1), x),
    "layer-norm": same(lambda a: F.layer_norm(a, (48,)), x),
    "group-norm": same(lambda a: F.group_norm(a, 3), image),
    "embedding": same(F.embedding, words, y),
    "cross-entropy": same(lambda a, t: F.cross_entropy(a, t[:64] % 48), x, k),
    "pooling": same(lambda a: F.max_pool2d(a, 2) + F.avg_pool2d(a, 2) + F.adaptive_avg_pool2d(a, 8), image),
    "interpolate": same(lambda a: F.interpolate(a, scale_factor=1.7, mode="bilinear"), image),
    "grid-sample": same(lambda a: F.grid_sample(a, a.permute(0, 2, 3, 1)[..., :2], align_corners=False), image),
    "convolution": same(lambda a: F.conv2d(a, a[:, :, :3, :3]), image),  # cuDNN
    "depthwise": same(lambda a: F.conv2d(a, a[:1, :, :3, :3].transpose(0, 1), groups=3), image),
    "attention": same(lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), batch[:, None]),
    "sparse": same(lambda a: torch.sparse.mm((a * (a > 1)).to_sparse(), a.T), x),
    "random": random_numbers,
    "dropout": dropout,
    "streams": copies,
    "graph": graph,
    "autocast": automatic_mixed,
    "gradient": gradients(lambda a: torch.sin(a) * a**2 + a.softmax(1).log(), x),
    "gradient-matmul": gradients(lambda a, b: torch.relu(a @ b), x, y),
    "gradient-embedding": gradients(lambda a: F.embedding(words.to(a.device), a), y),
    "gradient-attention": gradients(lambda a: F.scaled_dot_product_attention(a, a, a), batch[:, None]),
    "training-sgd": trained(perceptron, lambda p: torch.optim.SGD(p, lr=0.3, momentum=0.9), x),
    "training-adam": trained(perceptron, lambda p: torch.optim.AdamW(p, lr=0.02), x),
    "training-convolution": trained(convolutional, lambda p: torch.optim.SGD(p, lr=0.01), torch.randn(8, 3, 16, 16)),
}  # fmt: skip

cases.run(CASES)
