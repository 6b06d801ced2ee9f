"""Run by suites.py under `ptx2amd run`: JPEG, JPEG 2000 and TIFF files decoded and encoded by nvImageCodec's GPU code
(nvJPEG, nvJPEG2000, nvTIFF), against Pillow."""

import io
import tempfile
from functools import partial
from pathlib import Path

import cases
import numpy as np
from nvidia import nvimgcodec
from PIL import Image

DECODER = nvimgcodec.Decoder(
    backends=[
        nvimgcodec.Backend(kind) for kind in (nvimgcodec.BackendKind.GPU_ONLY, nvimgcodec.BackendKind.HYBRID_CPU_GPU)
    ]
)
ENCODER = nvimgcodec.Encoder()
Y, X = np.mgrid[0:120, 0:200]
PICTURE = np.stack([128 + 100 * np.sin(X / 20), 128 + 100 * np.cos(Y / 15 + X / 50), (X + Y) % 256 * 0.8], -1)
PICTURE = PICTURE.clip(0, 255).astype(np.uint8)
GREY, DEEP = PICTURE[..., :1], (PICTURE[..., 0].astype(np.uint16) * 250 + (X * 7 + Y) % 250).astype(np.uint16)
LOSSY = {"irreversible": True, "quality_mode": "rates", "quality_layers": [8]}


def file(pixels: np.ndarray, kind: str, **options: object) -> bytes:
    written = io.BytesIO()
    Image.fromarray(pixels.squeeze()).save(written, kind, **options)
    return written.getvalue()


def by_pillow(content: bytes) -> np.ndarray:
    pixels = np.asarray(Image.open(io.BytesIO(content)))
    return pixels if pixels.ndim == 3 else pixels[..., None]


def near(got: nvimgcodec.Image, want: np.ndarray, far: int) -> None:
    pixels = np.asarray(got.cpu()).astype(int)
    assert pixels.shape == want.shape, (pixels.shape, want.shape)
    assert np.abs(pixels - want).max() <= far, np.abs(pixels - want).max()


def decoded(pixels: np.ndarray, kind: str, far: int, **options: object) -> None:
    """far: how much colours may differ, of decoders that may round otherwise."""
    content = file(pixels, kind, **options)
    as_it_is = nvimgcodec.DecodeParams(color_spec=nvimgcodec.ColorSpec.UNCHANGED, allow_any_depth=True)
    want = by_pillow(content)
    near(DECODER.decode(content, params=as_it_is if pixels.shape[2:] != (3,) else None), want, far)


def together() -> None:
    """Several images of several sizes at once."""
    contents = [file(PICTURE[: 40 + 8 * n, : 60 + 5 * n], "JPEG", quality=90) for n in range(8)]
    for got, content in zip(DECODER.decode(contents), contents, strict=True):
        near(got, by_pillow(content), 4)


def region() -> None:
    content = file(PICTURE, "JPEG2000", tile_size=(64, 64))
    part = nvimgcodec.Region(start=(10, 20), end=(90, 150))
    near(DECODER.decode(nvimgcodec.CodeStream(content).get_sub_code_stream(region=part)), PICTURE[10:90, 20:150], 0)


def encoded(kind: str, far: int, parameters: nvimgcodec.EncodeParams) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "written"
        ENCODER.write(str(path), nvimgcodec.as_image(PICTURE).cuda(), kind, params=parameters)
        content = path.read_bytes()
    assert len(content) < PICTURE.size, len(content)
    distance = np.abs(by_pillow(content).astype(int) - PICTURE).max()
    assert distance <= far, distance


LOSSLESS = nvimgcodec.EncodeParams(quality_type=nvimgcodec.QualityType.LOSSLESS)
MIXED = nvimgcodec.Jpeg2kEncodeParams(mct_mode=1)
QUALITY = nvimgcodec.EncodeParams(
    quality_type=nvimgcodec.QualityType.QUALITY,
    quality_value=95,
    jpeg2k_encode_params=MIXED,
    chroma_subsampling=nvimgcodec.ChromaSubsampling.CSS_444,
)
cases.run(
    {
        "JPEG": partial(decoded, PICTURE, "JPEG", 4, quality=90),
        "JPEG, progressive": partial(decoded, PICTURE, "JPEG", 4, quality=90, progressive=True),
        "JPEG, colours in full": partial(decoded, PICTURE, "JPEG", 4, quality=80, subsampling=0),
        "JPEG, half the columns of colours": partial(decoded, PICTURE, "JPEG", 4, quality=80, subsampling=1),
        "JPEG, restart markers": partial(decoded, PICTURE, "JPEG", 4, quality=80, restart_marker_rows=1),
        "JPEG, grey": partial(decoded, GREY, "JPEG", 2, quality=90),
        "several JPEGs": together,
        "JPEG 2000": partial(decoded, PICTURE, "JPEG2000", 0),
        "JPEG 2000, tiles": partial(decoded, PICTURE, "JPEG2000", 0, tile_size=(64, 64)),
        "JPEG 2000, lossy": partial(decoded, PICTURE, "JPEG2000", 1, **LOSSY),
        "JPEG 2000, grey": partial(decoded, GREY, "JPEG2000", 0),
        "JPEG 2000, 16 bits": partial(decoded, DEEP, "JPEG2000", 0),
        "JPEG 2000, a region": region,
        "TIFF": partial(decoded, PICTURE, "TIFF", 0),
        "TIFF, LZW": partial(decoded, PICTURE, "TIFF", 0, compression="tiff_lzw"),
        "TIFF, PackBits": partial(decoded, PICTURE, "TIFF", 0, compression="packbits"),
        "TIFF, 16 bits": partial(decoded, DEEP, "TIFF", 0, compression="tiff_lzw"),
        "to JPEG": partial(encoded, "jpeg", 30, QUALITY),
        "to JPEG 2000": partial(encoded, "jpeg2k", 0, LOSSLESS),
        "to JPEG 2000, lossy": partial(encoded, "jpeg2k", 30, QUALITY),
    }
)
