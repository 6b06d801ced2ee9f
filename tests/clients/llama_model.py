"""Small language models with random weights as GGUF files, which llama.cpp reads: no download of gigabytes, and all of
its kernels."""

from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase

import gguf
import numpy as np

BYTES = 256
SPECIAL = ("<unk>", "<s>", "</s>")
# Formats that have no quantiser in gguf: any bytes are weights, but for a scale (f16) at this place of a block, and the
# other behind it: what is subtracted, so many times as large that the mean is 0.
SCALES = {
    "Q2_K": (80, 1.5), "Q3_K": (108, 0), "Q4_K": (0, 7.5), "Q5_K": (0, 15.5), "Q6_K": (208, 0), "IQ4_NL": (0, 0),
    "IQ4_XS": (0, 0),
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Of a model: numbers of values, layers and heads."""

    width: int = 256
    inner: int = 512
    layers: int = 2
    heads: int = 4
    shared_heads: int = 2  # for keys and values
    words: int = 512


class Writer:
    """Writes one model; its matrices in `kind`, a format of gguf."""

    def __init__(self, path: Path, architecture: str, kind: str, shape: Shape) -> None:
        self.file = gguf.GGUFWriter(str(path), architecture)
        self.kind, self.shape = kind, shape
        self.random = np.random.default_rng(1)

    def matrix(self, name: str, rows: int, columns: int, scale: float = 0) -> None:
        """scale: of the random values; by default, a product with it keeps its factor's size."""
        kind = gguf.GGMLQuantizationType[self.kind]
        if self.kind in SCALES:
            values = self._blocks(rows, columns, scale or columns**-0.5)
        else:
            values = self.random.standard_normal((rows, columns), np.float32) * np.float32(scale or columns**-0.5)
            values = gguf.quants.quantize(values, kind)
        self.file.add_tensor(name, values, raw_dtype=kind)

    def _blocks(self, rows: int, columns: int, scale: float) -> np.ndarray:
        kind = gguf.GGMLQuantizationType[self.kind]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = self.random.integers(0, 256, (rows * columns // values, size), np.uint8)
        at, offset = SCALES[self.kind]
        for factor in (1.0, None):  # to see how large the values are; as wanted
            factor = factor or scale / gguf.quants.dequantize(blocks, kind).std()
            scales = np.array([factor, factor * offset][: 2 if offset else 1], np.float16)
            blocks[:, at : at + scales.nbytes] = scales.view(np.uint8)
        return blocks.reshape(rows, -1)

    def norm(self, name: str, bias: bool = False) -> None:
        around = 0.1 * self.random.standard_normal((2, self.shape.width), np.float32)
        self.file.add_tensor(f"{name}.weight", 1 + around[0])
        if bias:
            self.file.add_tensor(f"{name}.bias", around[1])

    def vocabulary(self) -> None:
        """As SentencePiece has it: special words, bytes, words of two letters."""
        shape, special = self.shape, len(SPECIAL)
        names = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(BYTES)), "\N{LOWER ONE EIGHTH BLOCK}"]
        words = [a + b for a in ascii_lowercase for b in ascii_lowercase][: shape.words - len(names)]
        self.file.add_tokenizer_model("llama")
        self.file.add_token_list([*names, *words])
        self.file.add_token_scores([0.0] * len(names) + [-float(rank) for rank in range(len(words))])
        self.file.add_token_types([2, 3, 3] + [6] * BYTES + [1] * (shape.words - special - BYTES))
        self.file.add_bos_token_id(1)
        self.file.add_eos_token_id(self.shape.words - 1)
        self.file.add_unk_token_id(0)

    def sizes(self, context: int) -> None:
        shape, file = self.shape, self.file
        file.add_name("random")
        file.add_file_type(1)
        file.add_context_length(context)
        file.add_embedding_length(shape.width)
        file.add_block_count(shape.layers)
        file.add_feed_forward_length(shape.inner)
        file.add_head_count(shape.heads)
        file.add_head_count_kv(shape.shared_heads)
        file.add_rope_dimension_count(shape.width // shape.heads)
        file.add_vocab_size(shape.words)

    def close(self) -> None:
        self.file.write_header_to_file()
        self.file.write_kv_data_to_file()
        self.file.write_tensors_to_file()
        self.file.close()


def begun(path: Path, architecture: str, kind: str, shape: Shape, means: bool) -> Writer:
    """A model with all but its layers. means: its norms take the mean away, and have biases."""
    writer = Writer(path, architecture, kind, shape)
    writer.sizes(512)
    (writer.file.add_layer_norm_eps if means else writer.file.add_layer_norm_rms_eps)(1e-5)
    writer.vocabulary()
    writer.matrix("token_embd.weight", shape.words, shape.width, 1.0)
    writer.norm("output_norm", bias=means)
    writer.matrix("output.weight", shape.words, shape.width)
    return writer


def llama(path: Path, kind: str, shape: Shape = Shape()) -> None:
    """Root mean square norms, gated feed-forward, shared heads, rotary positions."""
    writer = begun(path, "llama", kind, shape, means=False)
    width, keys = shape.width, shape.width * shape.shared_heads // shape.heads
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        writer.norm(block + "attn_norm")
        writer.norm(block + "ffn_norm")
        for name, rows in (("attn_q", width), ("attn_k", keys), ("attn_v", keys), ("attn_output", width)):
            writer.matrix(f"{block}{name}.weight", rows, width)
        for name in ("ffn_gate", "ffn_up"):
            writer.matrix(f"{block}{name}.weight", shape.inner, width)
        writer.matrix(block + "ffn_down.weight", width, shape.inner)
    writer.close()


def falcon(path: Path, kind: str, shape: Shape = Shape()) -> None:
    """Norms with means, one matrix for queries, keys and values, attention and feed-forward side by side, GELU."""
    writer = begun(path, "falcon", kind, shape, means=True)
    width, keys = shape.width, shape.width * shape.shared_heads // shape.heads
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        writer.norm(block + "attn_norm", bias=True)
        writer.matrix(block + "attn_qkv.weight", width + 2 * keys, width)
        writer.matrix(block + "attn_output.weight", width, width)
        writer.matrix(block + "ffn_up.weight", shape.inner, width)
        writer.matrix(block + "ffn_down.weight", width, shape.inner)
    writer.close()
