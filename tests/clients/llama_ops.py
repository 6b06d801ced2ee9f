"""Run by suites.py under `ptx2amd run`: text from llama.cpp (in GPT4All's wheel, as PTX alone) on the GPU and by its
CPU code, for models with weights in all of its formats."""

import sys
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from pathlib import Path

import cases
import llama_model
from gpt4all import GPT4All

FOLDER = Path(sys.argv[1])
PROMPTS = ("ab", "aabb the capital of france is", "abcdefgh" * 4, "abcgeheh" * 15)  # more words: other kernels
WORDS = 8
EXACT = ("F32", "F16", "BF16")
FORMATS = (*EXACT, "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", *llama_model.SCALES)


def texts(device: str, model: Path) -> list[list[int]]:
    """The words that a model goes on with after each prompt, each the likeliest."""
    llm = GPT4All(model.name, model_path=str(FOLDER), device=device, allow_download=False, n_ctx=256)
    found: list[list[int]] = []
    for prompt in PROMPTS:
        found.append([])
        llm.generate(prompt, max_tokens=WORDS, temp=0, callback=lambda word, _: found[-1].append(word) or True)
    llm.close()
    return found


def _equal(pair: tuple[int, int]) -> bool:
    return pair[0] == pair[1]


def same(write: Callable[[Path, str], None], kind: str, least: float) -> None:
    """least: how much of the text has to agree. Products of quantised weights round their other factor to 8 bits, on
    the GPU in other blocks than on the CPU: where two words are as likely, what follows differs. What is computed
    wrongly agrees in one word of 500."""
    model = FOLDER / f"{write.__name__}.{kind}.gguf"
    write(model, kind)
    gpu, cpu = (texts(device, model) for device in ("cuda", "cpu"))
    assert len({word for text in cpu for word in text}) > WORDS, cpu
    alike = sum(len(list(takewhile(_equal, zip(*pair, strict=False)))) for pair in zip(gpu, cpu, strict=True))
    assert alike >= least * sum(map(len, cpu)), f"{gpu}, on the CPU {cpu}"


FOLDER.mkdir(exist_ok=True)
models = {kind: partial(same, llama_model.llama, kind, 1 if kind in EXACT else 0.6) for kind in FORMATS}
models["falcon"] = partial(same, llama_model.falcon, "F16", 1)
cases.run(models)
