"""Run by suites.py under `ptx2amd run`: DALI's image operators on the GPU against the same operators on the CPU."""

from collections.abc import Callable
from functools import partial

import cases
import numpy as np
from nvidia.dali import fn, pipeline_def, types

rng = np.random.default_rng(0)
y, x = np.mgrid[0:96, 0:128]
IMAGES = [
    np.stack([127 + 100 * np.sin(x / a + k) * np.cos(y / b) for a, b in ((9, 13), (17, 7), (11, 19))], -1).astype(
        np.uint8
    )
    for k in range(2)
]


@pipeline_def(batch_size=2, num_threads=1, device_id=0)
def pipeline(operator: Callable, gpu: bool) -> object:
    images = fn.external_source(source=lambda: IMAGES, layout="HWC")
    return operator(images.gpu() if gpu else images)


def outputs(operator: Callable, gpu: bool) -> list[np.ndarray]:
    built = pipeline(operator, gpu)
    built.build()
    (found,) = built.run()
    batch = found.as_cpu() if gpu else found
    return [np.array(batch.at(i)).astype(np.float64) for i in range(2)]


def agrees(operator: Callable, tolerance: float) -> None:
    """Nearly all values agree, up to rounding; at edges another neighbour may be the nearest."""
    for gpu, cpu in zip(outputs(operator, True), outputs(operator, False), strict=True):
        assert gpu.shape == cpu.shape and cpu.std() > 0.1, (gpu.shape, cpu.shape)
        assert (abs(gpu - cpu) > tolerance).mean() < 0.01, abs(gpu - cpu).max()


MEAN = {"mean": [120.0, 110.0, 100.0], "std": [50.0, 60.0, 70.0], "dtype": types.FLOAT}
cases.run(
    {
        "resize": partial(agrees, lambda i: fn.resize(i, resize_x=61, resize_y=77), 2),
        "crop, mirror, normalize": partial(
            agrees, lambda i: fn.crop_mirror_normalize(i, crop=(50, 60), mirror=1, **MEAN), 1e-4
        ),
        "gaussian blur": partial(agrees, lambda i: fn.gaussian_blur(i, window_size=7), 1),
        "rotate": partial(agrees, lambda i: fn.rotate(i, angle=25.0, fill_value=0), 2),
        "colour twist": partial(agrees, lambda i: fn.color_twist(i, hue=20.0, saturation=1.3, contrast=0.9), 2),
        "flip": partial(agrees, lambda i: fn.flip(i, horizontal=1, vertical=1), 0),
        "sum": partial(agrees, lambda i: fn.reductions.sum(i, axes=(0, 1)), 0.5),
    }
)
