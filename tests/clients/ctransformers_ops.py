"""Run by suites.py under `ptx2amd run`: logits and text from ctransformers (an early llama.cpp, its kernels as PTX),
all layers on the GPU or by its CPU code, for models with weights in all of its formats."""

import sys
from functools import partial
from pathlib import Path

import cases
import llama_model
import numpy as np
from ctransformers import LLM, AutoModelForCausalLM

FOLDER = Path(sys.argv[1])
PROMPTS = ("ab", "aabb the capital of france is", "abcgeheh" * 15)  # more words: other kernels
WORDS = 6
#: How far logits may be from the CPU's, relative to their size: products of quantised weights round their other factor
#: to 8 bits, on the GPU in other blocks than on the CPU.
FAR = {"F16": 0.01} | dict.fromkeys(
    ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"), 0.1
)


def logits(llm: LLM, prompt: str) -> list[np.ndarray]:
    """Of the word behind the prompt, and behind each of the likeliest words that follow."""
    found = []
    llm.eval(llm.tokenize(prompt))
    for _ in range(WORDS):
        found.append(np.array(llm.logits))
        llm.eval([int(found[-1].argmax())])
    return found


def compare(cpu: LLM, gpu: LLM, prompt: str, far: float) -> int:
    """How many words are the same, before another word was as likely."""
    for n, (got, want) in enumerate(zip(logits(gpu, prompt), logits(cpu, prompt), strict=True)):
        distance = np.linalg.norm(got - want) / np.linalg.norm(want)
        assert distance < far, (prompt, n, distance)
        if got.argmax() != want.argmax():
            return n
    return WORDS


def same(kind: str, far: float) -> None:
    model = FOLDER / f"{kind}.gguf"
    llama_model.llama(model, kind)
    content = bytearray(model.read_bytes())
    content[4] = 2  # the version that this llama.cpp knows; little-endian files are the same in both
    model.write_bytes(content)
    load = partial(AutoModelForCausalLM.from_pretrained, str(model), model_type="llama", threads=2)
    words = 0
    for prompt in PROMPTS:  # in new states: an old one has the words before
        words += compare(load(gpu_layers=0), load(gpu_layers=100), prompt, far)
    assert "lib/cuda/libctransformers.so" in Path("/proc/self/maps").read_text()
    assert words >= len(PROMPTS) * WORDS // 2, words


FOLDER.mkdir(exist_ok=True)
cases.run({kind: partial(same, kind, far) for kind, far in FAR.items()})
