"""Run by suites.py under `ptx2amd run`: CV-CUDA's operators on images, against numpy and SciPy."""

import ctypes
from collections.abc import Callable
from functools import partial

import cases
import cvcuda
import numpy as np
from scipy import ndimage

HEIGHT, WIDTH = 61, 90
rng = np.random.default_rng(1)
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
COLOURS = [127 + 90 * np.sin(x / a) * np.cos(y / b) for a, b in ((9, 13), (17, 7), (11, 19))]
IMAGE = (np.stack(COLOURS, -1) + rng.integers(-30, 30, (HEIGHT, WIDTH, 3))).clip(0, 255).astype(np.uint8)
GREY = IMAGE[..., :1]
BOXES = np.array([[10, 10, 20, 20], [12, 11, 20, 20], [50, 5, 10, 12], [11, 30, 25, 8], [52, 6, 9, 12]], np.int16)
SCORES = np.array([0.9, 0.8, 0.6, 0.7, 0.95], np.float32)
driver = ctypes.CDLL("libcuda.so.1")


def host(tensor: object) -> tuple[int, np.ndarray, np.ndarray]:
    """A tensor's address, memory of its size, and that memory as an array of its shape: rows are padded."""
    found = tensor.cuda().__cuda_array_interface__
    kind, shape = np.dtype(found["typestr"]), found["shape"]
    strides = found.get("strides") or np.empty(shape, kind).strides
    size = kind.itemsize + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    memory = np.zeros(size, np.uint8)
    return found["data"][0], memory, np.ndarray(shape, kind, memory, 0, strides)


def put(array: np.ndarray, layout: str = "HWC") -> object:
    tensor = cvcuda.Tensor(array.shape, array.dtype, layout)
    address, memory, view = host(tensor)
    view[:] = array
    done = driver.cuMemcpyHtoD_v2(ctypes.c_void_p(address), ctypes.c_void_p(memory.ctypes.data), memory.nbytes)
    assert done == 0, done
    return tensor


def get(tensor: object) -> np.ndarray:
    address, memory, view = host(tensor)
    assert driver.cuCtxSynchronize() == 0
    done = driver.cuMemcpyDtoH_v2(ctypes.c_void_p(memory.ctypes.data), ctypes.c_void_p(address), memory.nbytes)
    assert done == 0, done
    return view.copy()


def agrees(got: Callable[[], object], want: np.ndarray, tolerance: float = 0) -> None:
    found = get(got())
    assert found.shape == want.shape and want.std() > 0, (found.shape, want.shape)
    error = abs(found.astype(np.float64) - want).max()
    assert error <= tolerance, error


def planes(function: Callable[[np.ndarray], np.ndarray], image: np.ndarray = IMAGE) -> np.ndarray:
    """A function of one plane, for each colour."""
    return np.stack([function(image[..., k].astype(np.float64)) for k in range(image.shape[2])], -1)


def bell(size: int, sigma: float) -> np.ndarray:
    weights = np.exp(-((np.arange(size) - size // 2) ** 2) / (2 * sigma**2))
    return weights / weights.sum()


def blurred(plane: np.ndarray) -> np.ndarray:
    for axis in (0, 1):
        plane = ndimage.correlate1d(plane, bell(5, 1.2), axis, mode="nearest")
    return plane


def resized(plane: np.ndarray, height: int, width: int, order: int) -> np.ndarray:
    """Between the centres of pixels; the nearest one is that at or before the place."""
    rows, columns = ((np.arange(n) + 0.5) * old / n for n, old in ((height, HEIGHT), (width, WIDTH)))
    if order == 0:
        return plane[np.floor(rows).astype(int)[:, None], np.floor(columns).astype(int)]
    places = np.meshgrid(rows - 0.5, columns - 0.5, indexing="ij")
    return ndimage.map_coordinates(plane, places, order=1, mode="nearest")


def shifted(plane: np.ndarray) -> np.ndarray:
    """As warped by TURN, whose inverse gives the place in the image."""
    inverse = np.linalg.inv(np.vstack([TURN, [0, 0, 1]]))
    places = np.einsum("ij,jyx->iyx", inverse[:2], np.stack([x, y, np.ones_like(x)]))
    return ndimage.map_coordinates(plane, places[::-1], order=1, mode="grid-constant", cval=0)


def equalized(plane: np.ndarray) -> np.ndarray:
    counts = np.bincount(plane.astype(int).ravel(), minlength=256)
    total = counts.cumsum() - counts[counts.nonzero()[0][0]]
    return np.rint(total / total[-1] * 255)[plane.astype(int)]


def suppressed() -> None:
    """Boxes in the order of their scores; one that overlaps a better one by more than 0.5 is dropped."""
    kept = get(cvcuda.nms(put(BOXES[None], "NWC"), put(SCORES[None], "NW"), 0.1, 0.5))
    wanted = []
    for k in np.argsort(-SCORES):
        x0, y0, w, h = BOXES[k].astype(int)
        overlaps = []
        for other in wanted:
            ox, oy, ow, oh = BOXES[other].astype(int)
            common = max(0, min(x0 + w, ox + ow) - max(x0, ox)) * max(0, min(y0 + h, oy + oh) - max(y0, oy))
            overlaps.append(common / (w * h + ow * oh - common))
        if all(o <= 0.5 for o in overlaps):
            wanted.append(k)
    assert len(wanted) == 3 and sorted(kept.ravel().nonzero()[0]) == sorted(wanted), (kept.ravel(), wanted)


TURN = np.array([[0.9, 0.2, 4.0], [-0.15, 1.1, 3.0]], np.float32)
image, grey = put(IMAGE), put(GREY)
EDGE = cvcuda.Border.REPLICATE
cases.run(
    {
        "flip": partial(agrees, lambda: cvcuda.flip(image, -1), IMAGE[::-1, ::-1]),
        "resize, nearest": partial(
            agrees,
            lambda: cvcuda.resize(image, (40, 121, 3), cvcuda.Interp.NEAREST),
            planes(lambda p: resized(p, 40, 121, 0)),
        ),
        "resize, linear": partial(
            agrees,
            lambda: cvcuda.resize(image, (130, 200, 3), cvcuda.Interp.LINEAR),
            planes(lambda p: resized(p, 130, 200, 1)),
            1,
        ),
        "warp": partial(agrees, lambda: cvcuda.warp_affine(image, TURN, cvcuda.Interp.LINEAR), planes(shifted), 1),
        "grey": partial(
            agrees,
            lambda: cvcuda.cvtcolor(image, cvcuda.ColorConversion.RGB2GRAY),
            (IMAGE @ np.array([0.299, 0.587, 0.114]))[..., None],
            1,
        ),
        "gaussian": partial(agrees, lambda: cvcuda.gaussian(image, (5, 5), (1.2, 1.2), EDGE), planes(blurred), 1),
        "average": partial(
            agrees,
            lambda: cvcuda.averageblur(image, (5, 3), border=EDGE),
            planes(lambda p: ndimage.uniform_filter(p, (3, 5), mode="nearest")),
            1,
        ),
        "median": partial(
            agrees,
            lambda: cvcuda.median_blur(image, (5, 5)),
            planes(lambda p: ndimage.median_filter(p, (5, 5), mode="nearest")),
        ),
        "dilate": partial(
            agrees,
            lambda: cvcuda.morphology(image, cvcuda.MorphologyType.DILATE, (3, 5), (-1, -1), border=EDGE),
            planes(lambda p: ndimage.maximum_filter(p, (5, 3), mode="nearest")),
        ),
        "laplacian": partial(
            agrees,
            lambda: cvcuda.laplacian(image, 1, 1.0, EDGE),
            planes(lambda p: ndimage.laplace(p, mode="nearest")).clip(0, 255),
        ),
        "border": partial(
            agrees,
            lambda: cvcuda.copymakeborder(image, cvcuda.Border.REFLECT101, (0.0,), top=4, bottom=5, left=6, right=7),
            np.pad(IMAGE, ((4, 5), (6, 7), (0, 0)), mode="reflect"),
        ),
        "crop": partial(agrees, lambda: cvcuda.customcrop(image, cvcuda.RectI(11, 7, 50, 40)), IMAGE[7:47, 11:61]),
        "convert": partial(
            agrees,
            lambda: cvcuda.convertto(image, np.float32, 1 / 255, -0.5),
            IMAGE / 255 - 0.5,
            1e-6,
        ),
        "planes": partial(agrees, lambda: cvcuda.reformat(image, "CHW"), IMAGE.transpose(2, 0, 1)),
        "equalize": partial(agrees, lambda: cvcuda.histogrameq(grey, np.uint8), planes(equalized, GREY), 1),
        "histogram": partial(
            agrees,
            lambda: cvcuda.histogram(grey),
            np.bincount(GREY.ravel(), minlength=256).reshape(1, 256, 1),
        ),
        "boxes": suppressed,
    }
)
