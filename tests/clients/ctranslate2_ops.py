"""Run by suites.py under `ptx2amd run`: a small decoder with random weights in CTranslate2 on the GPU, in each of its
types, against the CPU in float32."""

import sys
from functools import cache, partial
from pathlib import Path

import cases
import ctranslate2
import numpy as np
from ctranslate2.specs import common_spec, transformer_spec

FOLDER = Path(sys.argv[1])
# cuBLAS has its products of bytes over fewer than 128 terms as machine code only: models are wider.
WIDTH, INNER, WORDS, LAYERS, HEADS, SHARED = 128, 256, 104, 2, 4, 2
TOLERANCES = {"float32": 1e-4, "float16": 0.03, "bfloat16": 0.2, "int8_float32": 0.3, "int8_float16": 0.3}
SEQUENCES = [[1, *range(5, 25)], [1, *range(40, 60)]]
STARTS = [["<s>", "w5", "w7"], ["<s>", "w9", "w1"]]


def write() -> None:
    random = np.random.default_rng(0)

    def matrix(rows: int, columns: int, scale: float = 0) -> np.ndarray:
        return (random.standard_normal((rows, columns)) * (scale or columns**-0.5)).astype(np.float32)

    def norm() -> np.ndarray:
        return (1 + 0.1 * random.standard_normal(WIDTH)).astype(np.float32)

    spec = transformer_spec.TransformerDecoderModelSpec.from_config(
        LAYERS, HEADS, activation=common_spec.Activation.SWISH, ffn_glu=True, rms_norm=True, rotary_dim=0,
        rotary_interleave=False, num_heads_kv=SHARED,
    )  # fmt: skip
    decoder = spec.decoder
    decoder.embeddings.weight, decoder.scale_embeddings = matrix(WORDS, WIDTH, 1), False
    decoder.layer_norm.gamma, decoder.projection.weight = norm(), matrix(WORDS, WIDTH)
    for layer in decoder.layer:
        attention, forward = layer.self_attention, layer.ffn
        attention.layer_norm.gamma, forward.layer_norm.gamma = norm(), norm()
        attention.linear[0].weight = matrix(WIDTH + 2 * SHARED * WIDTH // HEADS, WIDTH)
        attention.linear[1].weight = matrix(WIDTH, WIDTH)
        forward.linear_0.weight, forward.linear_0_noact.weight = matrix(INNER, WIDTH), matrix(INNER, WIDTH)
        forward.linear_1.weight = matrix(WIDTH, INNER)
    spec.register_vocabulary(["<unk>", "<s>", "</s>", *(f"w{word}" for word in range(WORDS - 3))])
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.layer_norm_epsilon = 1e-5
    spec.validate()
    FOLDER.mkdir(exist_ok=True)
    spec.save(str(FOLDER))


def scores(device: str, kind: str) -> np.ndarray:
    found = ctranslate2.Generator(str(FOLDER), device=device, compute_type=kind).forward_batch(SEQUENCES)
    plain = found.to(ctranslate2.DataType.float32).to_device(ctranslate2.Device.cpu)
    return np.array(plain)[..., :WORDS]


@cache
def texts(device: str, beams: int) -> list[list[int]]:
    generator = ctranslate2.Generator(str(FOLDER), device=device, compute_type="float32")
    found = generator.generate_batch(STARTS, max_length=20, beam_size=beams)
    return [result.sequences_ids[0] for result in found]


def close(kind: str) -> None:
    np.testing.assert_allclose(scores("cuda", kind), scores("cpu", "float32"), rtol=0, atol=TOLERANCES[kind])


def same_text(beams: int) -> None:
    assert texts("cuda", beams) == texts("cpu", beams)
    assert len({word for text in texts("cpu", beams) for word in text}) > 4


write()
searches = {"greedy search": partial(same_text, 1), "beam search": partial(same_text, 4)}
cases.run({f"scores in {kind}": partial(close, kind) for kind in TOLERANCES} | searches)
