"""whisper.cpp's encoder and decoder with random weights: the GPU's logits against those of the library's CPU code.
Arguments: the library, one with Node's functions, and a file for the model."""

import ctypes
import struct
import sys
from collections.abc import Iterator
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

MAGIC, WORDS, AUDIO, STATE, HEADS, LAYERS, TEXT, MELS = 0x67676D6C, 51864, 64, 128, 2, 4, 32, 80
F32, F16, Q8_0 = 0, 1, 8
FILE_TYPES = {F32: 0, F16: 1, Q8_0: 7}
TOKENS = (50257, 11, 400, 50362, 1234)  # the start of a transcript, and some others
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(sys.argv[1])
rng = np.random.default_rng(1)


class Settings(ctypes.Structure):
    _fields_ = (
        ("use_gpu", c_bool), ("flash_attn", c_bool), ("device", c_int), ("timestamps", c_bool), ("preset", c_int),
        ("top", c_int), ("heads", c_size_t), ("aheads", c_void_p), ("size", c_size_t),
    )  # fmt: skip


def function(name: str, result: object, *arguments: object) -> Any:
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


load = function("whisper_init_from_file_with_params", c_void_p, c_char_p, Settings)
set_mel = function("whisper_set_mel", c_int, c_void_p, c_void_p, c_int, c_int)
encode = function("whisper_encode", c_int, c_void_p, c_int, c_int)
decode = function("whisper_decode", c_int, c_void_p, POINTER(c_int), c_int, c_int, c_int)
get_logits = function("whisper_get_logits", POINTER(c_float), c_void_p)


def tensors(kind: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Names, types and shapes (the last index runs fastest) of a model's tensors."""
    convolution = F32 if kind == F32 else F16
    yield ("encoder.positional_embedding", F32, (AUDIO, STATE))
    yield ("decoder.positional_embedding", F32, (TEXT, STATE))
    yield from [("encoder.conv1.weight", convolution, (STATE, MELS, 3)), ("encoder.conv1.bias", F32, (STATE, 1))]
    yield from [("encoder.conv2.weight", convolution, (STATE, STATE, 3)), ("encoder.conv2.bias", F32, (STATE, 1))]
    yield from norm("encoder.ln_post")
    yield from norm("decoder.ln")
    yield ("decoder.token_embedding.weight", kind, (WORDS, STATE))
    for layer in range(LAYERS):
        for part in ("encoder", "decoder"):
            block = f"{part}.blocks.{layer}"
            for attention in ("attn", "cross_attn")[: 1 + (part == "decoder")]:
                yield from norm(f"{block}.{attention}_ln")
                for name in ("query", "key", "value", "out"):
                    yield (f"{block}.{attention}.{name}.weight", kind, (STATE, STATE))
                    if name != "key":
                        yield (f"{block}.{attention}.{name}.bias", F32, (STATE,))
            yield from norm(f"{block}.mlp_ln")
            for number, shape in ((0, (4 * STATE, STATE)), (2, (STATE, 4 * STATE))):
                yield (f"{block}.mlp.{number}.weight", kind, shape)
                yield (f"{block}.mlp.{number}.bias", F32, shape[:1])


def norm(name: str) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(f"{name}.weight", F32, (STATE,)), (f"{name}.bias", F32, (STATE,))]


def stored(values: np.ndarray, kind: int) -> bytes:
    """The bytes of a tensor in one of ggml's types; Q8_0: blocks of 32 bytes behind their scale."""
    if kind != Q8_0:
        return values.astype(np.float16 if kind == F16 else np.float32).tobytes()
    blocks = values.reshape(-1, 32)
    scales = (np.abs(blocks).max(1, keepdims=True) / 127).astype(np.float16)
    quants = np.rint(blocks / scales.astype(np.float32)).astype(np.int8)
    return np.hstack([scales.view(np.int8), quants]).tobytes()


def write(path: Path, kind: int) -> None:
    with path.open("wb") as file:
        sizes = (WORDS, AUDIO, STATE, HEADS, LAYERS, TEXT, STATE, HEADS, LAYERS, MELS, FILE_TYPES[kind])
        file.write(struct.pack("<12i", MAGIC, *sizes))
        file.write(struct.pack("<2i", MELS, 201) + bytes(4 * MELS * 201))  # filters, which only sound needs
        file.write(struct.pack("<i", 0))  # words
        for name, form, shape in tensors(kind):
            head = struct.pack(f"<{3 + len(shape)}i", len(shape), len(name), form, *reversed(shape))
            file.write(head + name.encode())
            about = 1.0 if name.endswith(("ln.weight", "post.weight")) else 0.0
            file.write(stored(rng.normal(about, 0.1, shape).astype(np.float32), form))


def logits(path: Path, mel: np.ndarray, **settings: bool) -> np.ndarray:
    """Of the word after all tokens, and then after one more."""
    context = load(str(path).encode(), Settings(**settings))
    assert context and set_mel(context, mel.ctypes.data, mel.shape[1], MELS) == 0 and encode(context, 0, 2) == 0
    found, done = [], 0
    for step in (TOKENS[:-1], TOKENS[-1:]):
        assert decode(context, (c_int * len(step))(*step), len(step), done, 2) == 0
        done += len(step)
        found.append(np.ctypeslib.as_array(get_logits(context), (WORDS,)).copy())
    return np.array(found)


mel = rng.normal(0, 1, (MELS, 2 * AUDIO)).astype(np.float32)
# Activations become 16-bit floats or, for Q8_0, bytes, and are rounded at other places on the CPU.
for kind, limit in ((F32, 4e-3), (F16, 8e-3), (Q8_0, 4e-2)):
    path = Path(sys.argv[3])
    write(path, kind)
    for flash in (False, True):  # it pads keys with zeros, on the CPU, too
        want = logits(path, mel, use_gpu=False, flash_attn=flash)
        assert want.std() > 0.1, "nothing to compare"
        error = (logits(path, mel, use_gpu=True, flash_attn=flash) - want).std() / want.std()
        print(f"type {kind}, flash attention {flash}: {error:.2e} of the logits' deviation", flush=True)
        assert error < limit
print("right")
