"""cuDNN's graph API: normalisation and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cudnn_chains import Chains, Node
from tests.libmap.nets import BFLOAT16, DOUBLE, FLOAT, HALF

NORM, NORM_BACK, NORM_MODE, PHASE = 29, 30, 27, 28
LAYER, INSTANCE, BATCH, GROUP, RMS = range(5)
INFERENCE, TRAINING = range(2)
EPSILON = 2.0**-10


class NormChains(Chains):
    CASES = (
        (LAYER, (4, 6, 5), (1, 6, 5), (4, 1, 1)),
        (RMS, (4, 3, 33), (1, 1, 33), (4, 3, 1)),
        (INSTANCE, (2, 3, 4, 5), (1, 3, 1, 1), (2, 3, 1, 1)),
        (BATCH, (3, 4, 5, 6), (1, 4, 1, 1), (1, 4, 1, 1)),
    )

    @staticmethod
    def _normal(mode: int, x: Array, axes: tuple[int, ...]) -> tuple[Array, Array, Array]:
        mean = np.zeros(()) if mode == RMS else x.mean(axes, keepdims=True)
        variance = ((x - mean) ** 2).mean(axes, keepdims=True)
        return mean, variance, 1 / np.sqrt(variance + EPSILON)

    def norms(self) -> None:
        for kind in (FLOAT, HALF, BFLOAT16, DOUBLE):
            for case in self.CASES if kind != DOUBLE else self.CASES[:1]:
                self.norm(kind, *case)
        self.inference()

    def norm(
        self, kind: int, mode: int, shape: tuple[int, ...], weights: tuple[int, ...], stats: tuple[int, ...]
    ) -> None:
        draw = self.client.draw
        self.begin()
        axes = tuple(d for d, n in enumerate(stats) if n != shape[d])
        order = (0, *range(2, len(shape)), 1) if mode in (INSTANCE, BATCH) else ()
        wide = DOUBLE if kind == DOUBLE else FLOAT
        x = self.node(draw.uniform(-2, 3, shape), kind, order)
        scale, bias = (self.node(draw.uniform(0.5, 2, weights), wide) for _ in range(2))
        mean, inverse, y = (
            (None if mode == RMS else self.out(*stats, kind=wide)),
            self.out(*stats, kind=wide),
            self.out(*shape, kind=kind, order=order),
        )
        running: dict[str, Any] = {}
        if mode == BATCH:
            old = [self.node(draw.uniform(1, 2, stats)) for _ in range(2)]
            new = [self.out(*stats) for _ in range(2)]
            running = {
                "_2009": old[0],
                "_2010": old[1],
                "_2011": new[0],
                "_2012": new[1],
                "_2008": self.value(0.1, len(shape)),
            }
        self.op(
            NORM,
            (2000, NORM_MODE, [mode]),
            (2001, PHASE, [TRAINING]),
            _2002=x,
            _2003=mean,
            _2004=inverse,
            _2005=scale,
            _2006=bias,
            _2007=self.value(EPSILON, len(shape)),
            _2013=y,
            **running,
        )
        self.go()
        what, v = f"norm {mode} of type {kind}", x.now()
        exact_mean, variance, exact_inverse = self._normal(mode, v, axes)
        normal = (v - exact_mean) * exact_inverse
        self.right(what, y, normal * scale.now() + bias.now(), 4)
        self.right(f"{what}: deviation", inverse, exact_inverse, 4)
        if mean:
            self.right(f"{what}: mean", mean, exact_mean, 4)
        if mode == BATCH:
            n = v.size // 4
            self.right(f"{what}: running mean", new[0], 0.9 * old[0].now() + 0.1 * exact_mean, 4)
            self.right(f"{what}: running variance", new[1], 0.9 * old[1].now() + 0.1 * variance * n / (n - 1), 4)
        self.back(what, mode, x, scale, mean, inverse, axes)

    def back(
        self, what: str, mode: int, x: Node, scale: Node, mean: Node | None, inverse: Node, axes: tuple[int, ...]
    ) -> None:
        """With what the forward pass has computed; the derivative of sum(dy y) by x, scale and bias."""
        v, w = x.now(), scale.now()
        nodes = [x, scale, *([mean] if mean else []), inverse]
        self.begin()
        again = [self.node(node.now(), node.kind, node.order) for node in nodes]
        gx, gscale, ginverse = again[0], again[1], again[-1]
        dy = self.node(self.client.draw.uniform(-1, 1, x.shape), x.kind, x.order)
        dx, dscale, dbias = self.out(*x.shape, kind=x.kind, order=x.order), self.out(*w.shape), self.out(*w.shape)
        self.op(
            NORM_BACK,
            (2100, NORM_MODE, [mode]),
            _2101=gx,
            _2102=again[2] if mean else None,
            _2103=ginverse,
            _2104=dy,
            _2105=gscale,
            _2107=dscale,
            _2108=dbias,
            _2109=dx,
        )
        self.go()
        exact_mean, _, deviation = self._normal(mode, v, axes)
        d, normal = dy.now(), (v - exact_mean) * deviation
        summed = tuple(i for i, n in enumerate(w.shape) if n != x.shape[i])
        g = d * w
        level = 0 if mode == RMS else g.mean(axes, keepdims=True)
        exact = deviation * (g - level - normal * (g * normal).mean(axes, keepdims=True))
        self.right(f"{what}: dx", dx, exact, 9)
        self.right(f"{what}: dscale", dscale, (d * normal).sum(summed, keepdims=True), 100)
        self.right(f"{what}: dbias", dbias, d.sum(summed, keepdims=True), 100)

    def inference(self) -> None:
        """Batch normalisation with known statistics; layer normalisation that keeps none."""
        self.begin()
        draw, c = self.client.draw, (1, 3, 1, 1)
        x, y = self.node(draw.uniform(-1, 1, (2, 3, 4, 4)), HALF), self.out(2, 3, 4, 4, kind=HALF)
        mean, inverse, scale, bias = (self.node(draw.uniform(0.5, 2, c)) for _ in range(4))
        self.op(
            NORM,
            (2000, NORM_MODE, [BATCH]),
            (2001, PHASE, [INFERENCE]),
            _2002=x,
            _2003=mean,
            _2004=inverse,
            _2005=scale,
            _2006=bias,
            _2013=y,
        )
        rows, weights, z = self.node(draw.uniform(-1, 1, (4, 9))), self.node(draw.uniform(1, 2, (1, 9))), self.out(4, 9)
        self.op(
            NORM,
            (2000, NORM_MODE, [LAYER]),
            (2001, PHASE, [INFERENCE]),
            _2002=rows,
            _2005=weights,
            _2007=self.value(EPSILON, 2),
            _2013=z,
        )
        self.go()
        self.right("with known statistics", y, (x.now() - mean.now()) * inverse.now() * scale.now() + bias.now(), 9)
        m, _, deviation = self._normal(LAYER, rows.now(), (1,))
        self.right("without statistics", z, (rows.now() - m) * deviation * weights.now(), 4)
