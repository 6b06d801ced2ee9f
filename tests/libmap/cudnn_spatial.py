"""cuDNN's spatial transformers, compared with numpy in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import DOUBLE, FLOAT, HALF, INT8, NUMPY, Nets

IMAGES, CHANNELS, ROWS, COLUMNS, IN_ROWS, IN_COLUMNS = 2, 3, 5, 7, 6, 4


def _bases(rows: int, columns: int) -> Array:
    """(x, y, 1) of each place of a result."""
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    return np.stack([x, y, np.ones_like(x)], -1)


def _sampled(x: Array, grid: Array) -> Array:
    """Bilinear samples; zeros outside."""
    images, channels, rows, columns = x.shape
    padded = np.zeros((images, channels, rows + 4, columns + 4))
    padded[:, :, 2:-2, 2:-2] = x
    at = (grid + 1) * (np.array([columns, rows]) - 1) / 2
    at = np.clip(at, -1.5, [columns + 0.5, rows + 0.5])  # where all is zero
    low = np.floor(at).astype(int)
    part = at - low
    out = np.zeros((images, channels, *grid.shape[1:3]))
    for n in range(images):
        for dy in (0, 1):
            for dx in (0, 1):
                weight = abs(1 - dx - part[n, ..., 0]) * abs(1 - dy - part[n, ..., 1])
                out[n] += weight * padded[n][:, low[n, ..., 1] + dy + 2, low[n, ..., 0] + dx + 2]
    return out


class Spatial(Nets):
    def transformer(self, kind: int, *shape: int) -> Any:
        desc = self.new("cudnnSpatialTransformerDescriptor_t", "CreateSpatialTransformerDescriptor")
        self.ok("SetSpatialTransformerNdDescriptor", desc, 0, kind, 4, np.array(shape, np.int32))
        return desc

    def grids(self, kind: int) -> None:
        st, theta = self.transformer(kind, IMAGES, CHANNELS, ROWS, COLUMNS), self.values(IMAGES, 2, 3, kind=kind)
        grid = self.on(np.zeros((IMAGES, ROWS, COLUMNS, 2), NUMPY[kind]))
        self.call("SpatialTfGridGeneratorForward", st, self.on(theta), grid)
        exact = np.einsum("nik,hwk->nhwi", theta.astype(np.float64), _bases(ROWS, COLUMNS))
        self.close("a grid", kind, grid.now(), exact.ravel(), 3)
        slope, result = self.values(IMAGES, ROWS, COLUMNS, 2, kind=kind), self.on(np.ones_like(theta))
        self.call("SpatialTfGridGeneratorBackward", st, self.on(slope), result)
        exact = np.einsum("nhwi,hwk->nik", slope.astype(np.float64), _bases(ROWS, COLUMNS))
        self.close("its gradient", kind, result.now(), exact.ravel(), ROWS * COLUMNS)
        self.destroy("SpatialTransformer", st)

    def samples(self, kind: int, order: str) -> None:
        """Points inside of images, outside, and on the edge, with and without what is there."""
        st, x = (
            self.transformer(kind, IMAGES, CHANNELS, ROWS, COLUMNS),
            self.values(IMAGES, CHANNELS, IN_ROWS, IN_COLUMNS, kind=kind),
        )
        grid = (1.4 * self.client.draw.uniform(-1, 1, (IMAGES, ROWS, COLUMNS, 2))).astype(NUMPY[kind])
        grid[0, 0, 0], grid[0, 0, 1], grid[0, 0, 2] = (30, 0), (-1, 1), (0, -60)
        exact = _sampled(x.astype(np.float64), grid.astype(np.float64))
        old = self.values(IMAGES, CHANNELS, ROWS, COLUMNS, kind=kind)
        for alpha, beta in ((1.0, 0.0), (0.5, -2.0)):
            first, place = self.tensor(x, kind, order), self.tensor(old, kind, order)
            one, other = self.factors(kind, alpha, beta)
            on = self.on(grid)
            self.call("SpatialTfSamplerForward", st, one, first.desc, first.at, on, other, place.desc, place.at)
            self.close(f"samples {order}", kind, place.exact(), alpha * exact + beta * old.astype(np.float64), 5)
            self.back(kind, order, st, (x, grid), (alpha, beta))
        self.destroy("SpatialTransformer", st)

    def back(self, kind: int, order: str, st: Any, given: tuple[Array, Array], factors: tuple[float, float]) -> None:
        """Samples are linear in x; by the grid, differences are taken."""
        x, grid = (part.astype(np.float64) for part in given)
        dy, (alpha, beta) = self.values(IMAGES, CHANNELS, ROWS, COLUMNS, kind=kind), factors
        exact = np.zeros_like(x)
        for at in np.ndindex(*x.shape):
            unit = np.zeros_like(x)
            unit[at] = 1
            exact[at] = (_sampled(unit, grid) * dy).sum()
        step, slope = 1e-7, np.zeros_like(grid)
        for axis in (0, 1):
            moved = np.eye(2)[axis] * step
            more = _sampled(x, grid + moved) - _sampled(x, grid)
            slope[..., axis] = (more * dy).sum(1) / step
        old, old_grid = self.values(*x.shape, kind=kind), self.values(*grid.shape, kind=kind)
        first, result, gradient = (
            self.tensor(given[0], kind, order),
            self.tensor(dy, kind, order),
            self.tensor(old, kind, order),
        )
        one, other, third, fourth = self.factors(kind, alpha, beta, 2 * alpha, beta / 2)
        on = self.on(old_grid)
        places = (one, first.desc, first.at, other, gradient.desc, gradient.at, third, result.desc, result.at)
        self.call("SpatialTfSamplerBackward", st, *places, self.on(given[1]), fourth, on)
        self.close(f"gradients {order}", kind, gradient.exact(), alpha * exact + beta * old.astype(np.float64), 12)
        expected = 2 * alpha * slope + beta / 2 * old_grid.astype(np.float64)
        kinks = abs(((grid + 1) * (np.array([IN_COLUMNS, IN_ROWS]) - 1) / 2) % 1) < 1e-3  # which have two slopes
        found = on.now().reshape(grid.shape).astype(np.float64)
        self.close(
            f"by the grid {order}",
            kind if kind != DOUBLE else FLOAT,
            np.where(kinks, 0, found),
            np.where(kinks, 0, expected),
            12,
        )

    def wrong(self) -> None:
        place, null = self.room(64), self.ffi.NULL
        st = self.new("cudnnSpatialTransformerDescriptor_t", "CreateSpatialTransformerDescriptor")
        sizes = np.array([1, 1, 2, 2], np.int32)
        self.answers("not set", self.bad_param, "SpatialTfGridGeneratorForward", self.handle, st, place, place)
        self.answers("null", self.bad_param, "CreateSpatialTransformerDescriptor", null)
        name = "SetSpatialTransformerNdDescriptor"
        self.answers("a sampler", self.bad_param, name, st, 1, FLOAT, 4, sizes)
        self.answers("no size", self.bad_param, name, st, 0, FLOAT, 4, 0 * sizes)
        self.answers("three dimensions", self.not_supported, name, st, 0, FLOAT, 5, np.ones(5, np.int32))
        self.answers("a type", self.not_supported, name, st, 0, INT8, 4, sizes)
        self.ok(name, st, 0, FLOAT, 4, sizes)
        self.answers("no grid", self.bad_param, "SpatialTfGridGeneratorForward", self.handle, st, place, null)
        x, one = self.tensor(self.values(1, 2, 2, 2)), self.factors(FLOAT, 1)[0]
        given = (st, one, x.desc, x.at, place, one, x.desc, x.at)
        self.answers("other channels", self.bad_param, "SpatialTfSamplerForward", self.handle, *given)
        self.destroy("SpatialTransformer", st)
        self.ok("DestroySpatialTransformerDescriptor", null)

    def check_all(self) -> None:
        for kind in (FLOAT, DOUBLE, HALF):
            self.grids(kind)
            self.samples(kind, "NCHW")
        self.samples(FLOAT, "NHWC")
        self.wrong()
