"""Run by rocm_clients.py: text from Debian's llama.cpp on the GPU (its ROCm backend) and on the CPU, for models with
weights of several formats. Words: the folder of the release's libraries."""

import os
import shlex
import subprocess
import sys
import tempfile
from functools import partial
from itertools import takewhile
from pathlib import Path

import cases
import llama_model

PROGRAM, BACKENDS = shlex.split(os.environ["PROGRAM"]), Path(sys.argv[1], "ggml", "backends0")
PROMPTS = ("ab", "aabb the capital of france is", "abcdefgh" * 4)
EXACT = ("F32", "F16", "BF16")
SETTINGS = ("-n", "8", "--temp", "0", "-no-cnv", "--no-warmup")


def text(model: Path, prompt: str, *device: str) -> bytes:
    """What the model goes on with: the likeliest words."""
    command = [*PROGRAM, "-m", model, "-p", prompt, *SETTINGS, *device]
    done = subprocess.run(command, cwd=BACKENDS, capture_output=True, check=True)
    if device[0] == "-ngl":
        assert b"ROCm :" in done.stderr, done.stderr[-1000:]
    return done.stdout


def same(kind: str) -> None:
    """As in clients/llama_ops.py: products of quantised weights differ in rounding, and then what follows does."""
    with tempfile.TemporaryDirectory() as folder:
        llama_model.llama(model := Path(folder) / f"{kind}.gguf", kind)
        texts = [(text(model, prompt, "-ngl", "99"), text(model, prompt, "--device", "none")) for prompt in PROMPTS]
    said = [(gpu.split(prompt.encode(), 1)[1], cpu.split(prompt.encode(), 1)[1])
            for prompt, (gpu, cpu) in zip(PROMPTS, texts, strict=True)]  # fmt: skip
    alike = sum(len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))) for texts in said)
    whole = sum(len(cpu) for _, cpu in said)
    assert len({cpu for _, cpu in said}) == len(PROMPTS) and alike >= (1 if kind in EXACT else 0.6) * whole, said


cases.run({kind: partial(same, kind) for kind in (*EXACT, "Q4_0", "Q5_1", "Q8_0")})
