"""Run by suites.py under `ptx2amd run`: vLLM's kernels for decoding, against PyTorch on the CPU.

The extension modules alone: the package itself imports a model server. PyTorch only allocates and copies, since its own
kernels have no PTX.
"""

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cases
import torch
import torch.nn.functional as F

TOKENS, HEADS, KEY_HEADS, SIZE, BLOCK, BLOCKS = 7, 8, 2, 64, 16, 12
LENGTHS = [5, 33, 16, 1, 48, 20, 27]


def extension(name: str) -> object:
    (path,) = next(Path(p) for p in sys.path if (Path(p) / "vllm").is_dir()).glob(f"vllm/{name}.*.so")
    found = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


vllm = extension("_C")
experts = extension("_moe_C")
torch.manual_seed(1)


def near(got: torch.Tensor, want: torch.Tensor, tolerance: float) -> None:
    assert want.float().std() > 0
    torch.testing.assert_close(got.cpu().float(), want.float(), rtol=tolerance, atol=tolerance)


def gated(operation: Callable, activation: Callable, kind: torch.dtype, tolerance: float) -> Callable:
    def case() -> None:
        x = torch.randn(TOKENS, 2 * 96).to(kind)
        out = torch.empty(TOKENS, 96, dtype=kind, device="cuda")
        operation(out, x.cuda())
        near(out, activation(x[:, :96].float()) * x[:, 96:].float(), tolerance)

    return case


def norm() -> None:
    x, weight = torch.randn(TOKENS, 256).half(), torch.randn(256).half()
    out = torch.empty_like(x, device="cuda")
    vllm.ops.rms_norm(out, x.cuda(), weight.cuda(), 1e-6)
    wide = x.float()
    near(out, wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * weight.float(), 1e-2)


def norm_of_sum() -> None:
    x, residual, weight = torch.randn(TOKENS, 256), torch.randn(TOKENS, 256), torch.randn(256)
    on_gpu, sum_on_gpu = x.cuda(), residual.cuda()
    vllm.ops.fused_add_rms_norm(on_gpu, sum_on_gpu, weight.cuda(), 1e-6)
    total = x + residual
    near(sum_on_gpu, total, 1e-6)
    near(on_gpu, total * torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-6) * weight, 1e-5)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def rotary() -> None:
    angles = torch.outer(torch.arange(64.0), 10000 ** (-torch.arange(0, SIZE, 2) / SIZE))
    table = torch.cat([angles.cos(), angles.sin()], -1)
    places = torch.randint(0, 64, (TOKENS,))
    query, key = torch.randn(TOKENS, HEADS * SIZE), torch.randn(TOKENS, KEY_HEADS * SIZE)
    turned = query.cuda(), key.cuda()
    vllm.ops.rotary_embedding(places.cuda(), *turned, SIZE, table.cuda(), True)
    cos, sin = (f[places][:, None] for f in (angles.cos(), angles.sin()))
    for got, x, heads in zip(turned, (query, key), (HEADS, KEY_HEADS), strict=True):
        near(got, rotated(x.view(TOKENS, heads, SIZE), cos, sin).flatten(1), 1e-5)


def cache() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Keys and values of BLOCKS blocks, as [block, place, head, element] and in the order of the kernels."""
    keys, values = (torch.randn(BLOCKS * 2, BLOCK, KEY_HEADS, SIZE).half() for _ in range(2))
    packed = keys.view(BLOCKS * 2, BLOCK, KEY_HEADS, SIZE // 8, 8).permute(0, 2, 3, 1, 4).contiguous()
    return keys, values, packed, values.permute(0, 2, 3, 1).contiguous()


def stored() -> None:
    _, _, packed, values = cache()
    key, value = (torch.randn(TOKENS, KEY_HEADS, SIZE).half() for _ in range(2))
    slots = torch.randperm(BLOCKS * BLOCK)[:TOKENS]
    got_keys, got_values = packed.cuda(), values.cuda()
    vllm.cache_ops.reshape_and_cache(key.cuda(), value.cuda(), got_keys, got_values, slots.cuda(), "auto", 1.0)
    for token, slot in enumerate(slots.tolist()):
        packed[slot // BLOCK, :, :, slot % BLOCK] = key[token].view(KEY_HEADS, SIZE // 8, 8)
        values[slot // BLOCK, :, :, slot % BLOCK] = value[token]
    near(got_keys, packed, 0)
    near(got_values, values, 0)


def attention(partitions: int) -> Callable:
    def case() -> None:
        keys, values, packed, turned = cache()
        query = torch.randn(TOKENS, HEADS, SIZE).half()
        tables = torch.stack([torch.randperm(BLOCKS * 2)[:3] for _ in LENGTHS]).int()
        scale = SIZE**-0.5
        out = torch.empty_like(query, device="cuda")
        common = (query.cuda(), packed.cuda(), turned.cuda(), KEY_HEADS, scale, tables.cuda())
        common = (*common, torch.tensor(LENGTHS, dtype=torch.int32).cuda(), BLOCK, max(LENGTHS), None, "auto", 1.0)
        common = (*common, 0, 0, 0, 64, 0)  # no blocks are left out
        if partitions:
            sums, largest = (torch.empty(TOKENS, HEADS, partitions, device="cuda") for _ in range(2))
            parts = torch.empty(TOKENS, HEADS, partitions, SIZE, dtype=torch.half, device="cuda")
            vllm.ops.paged_attention_v2(out, sums, largest, parts, *common)
        else:
            vllm.ops.paged_attention_v1(out, *common)
        for k, length in enumerate(LENGTHS):
            held = [f[tables[k].long()].flatten(0, 1)[:length].float() for f in (keys, values)]
            ours, theirs = (h.repeat_interleave(HEADS // KEY_HEADS, 1).transpose(0, 1) for h in held)
            weights = (query[k].float()[:, None] @ ours.transpose(1, 2) * scale).softmax(-1)
            near(out[k], (weights @ theirs)[:, 0], 2e-3)

    return case


def quantized() -> None:
    x = torch.randn(TOKENS, 128)
    out = torch.empty(TOKENS, 128, dtype=torch.int8, device="cuda")
    vllm.ops.static_scaled_int8_quant(out, x.cuda(), torch.tensor([0.02]).cuda())
    near(out, (x / 0.02).round().clamp(-128, 127), 1)


def chosen() -> None:
    scores = torch.randn(TOKENS, 8)
    weights = torch.empty(TOKENS, 2, device="cuda")
    indices, rows = (torch.empty(TOKENS, 2, dtype=torch.int32, device="cuda") for _ in range(2))
    experts.topk_softmax(weights, indices, rows, scores.cuda())
    want = scores.softmax(-1).topk(2)
    near(weights, want.values, 1e-5)
    near(indices, want.indices, 0)


cases.run(
    {
        "silu": gated(vllm.ops.silu_and_mul, F.silu, torch.half, 5e-3),
        "gelu": gated(vllm.ops.gelu_and_mul, F.gelu, torch.float, 1e-5),
        "gelu of tanh": gated(vllm.ops.gelu_tanh_and_mul, partial(F.gelu, approximate="tanh"), torch.bfloat16, 2e-2),
        "norm": norm,
        "norm of a sum": norm_of_sum,
        "rotary": rotary,
        "cache": stored,
        "attention": attention(0),
        "attention in parts": attention(1),
        "int8": quantized,
        "experts": chosen,
    }
)
