"""Run by suites.py under `ptx2amd run`: COLMAP extracts features and matches images on the GPU as on the CPU."""

import struct
import tempfile
import zlib
from pathlib import Path

import cases
import numpy as np
import pycolmap

FOLDER = Path(tempfile.mkdtemp(prefix="colmap-"))
SIZE, SHIFT = 160, 9


def png(path: Path, pixels: np.ndarray) -> None:
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    made = (struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(made))


def scene() -> None:
    """Two views of smooth blobs, shifted."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:SIZE, 0 : SIZE + SHIFT]
    blobs = sum(
        height * np.exp(-((x - u) ** 2 + (y - v) ** 2) / (2 * width**2))
        for u, v, width, height in zip(
            rng.uniform(0, SIZE, 120),
            rng.uniform(0, SIZE, 120),
            rng.uniform(2, 6, 120),
            rng.uniform(-100, 100, 120),
            strict=True,
        )
    )
    pixels = np.clip(128 + blobs, 0, 255).astype(np.uint8)
    (FOLDER / "images").mkdir()
    png(FOLDER / "images" / "a.png", np.ascontiguousarray(pixels[:, :SIZE]))
    png(FOLDER / "images" / "b.png", np.ascontiguousarray(pixels[:, SHIFT:]))


def features(device: pycolmap.Device) -> list[np.ndarray]:
    path = FOLDER / f"{device.name}.db"
    pycolmap.extract_features(path, FOLDER / "images", device=device)
    with pycolmap.Database.open(path) as database:
        return [np.array(database.read_keypoints(image.image_id))[:, :2] for image in database.read_all_images()]


def extraction() -> None:
    """Most key points of the GPU lie where the CPU finds one."""
    for gpu, cpu in zip(features(pycolmap.Device.cuda), features(pycolmap.Device.cpu), strict=True):
        assert min(len(gpu), len(cpu)) > 40, (len(gpu), len(cpu))
        distance = np.sqrt(((gpu[:, None] - cpu[None]) ** 2).sum(-1)).min(1)
        assert (distance < 1.5).mean() > 0.7, (len(gpu), len(cpu), float((distance < 1.5).mean()))


def matching() -> None:
    """Matched points are shifted as the images are."""
    path = FOLDER / "cuda.db"
    pycolmap.match_exhaustive(path, device=pycolmap.Device.cuda)
    with pycolmap.Database.open(path) as database:
        first, second = (image.image_id for image in database.read_all_images())
        pairs = np.array(database.read_matches(first, second))
        a, b = (np.array(database.read_keypoints(image))[:, :2] for image in (first, second))
    assert len(pairs) > 20, len(pairs)
    shift = a[pairs[:, 0]] - b[pairs[:, 1]]
    assert (abs(shift - [SHIFT, 0]).max(1) < 1).mean() > 0.9, shift


scene()
cases.run({"extraction": extraction, "matching": matching})
