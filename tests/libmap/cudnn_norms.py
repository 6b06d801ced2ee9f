"""cuDNN's batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import FLOAT, HALF, Nets, Tensor

RELU = 1
PER_ACTIVATION, SPATIAL, SPATIAL_PERSISTENT = range(3)
OPS_BN, OPS_BN_ACTIVATION, OPS_BN_ADD_ACTIVATION = range(3)
EPSILON, MOMENTUM = 1e-3, 0.25


class Norms(Nets):
    def parameters(self, mode: int, x: Tensor) -> list[Tensor]:
        """scale, bias, running mean and variance, saved mean and variance."""
        derived = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor")
        self.ok("DeriveBNTensorDescriptor", derived, x.desc, mode)
        ints = [self.ffi.new("int[8]") for _ in range(3)]
        self.ok("GetTensorNdDescriptor", derived, 8, ints[0], ints[1], ints[2], self.ffi.new("int[8]"))
        shape = list(ints[2][0 : ints[1][0]])
        expected = [n if d == 1 or (d and mode == PER_ACTIVATION) else 1 for d, n in enumerate(x.shape)]
        self.client.check(f"derived sizes {shape}", shape == expected and ints[0][0] == FLOAT)
        made = [self.tensor(self.values(*shape) + shift) for shift in (1.5, 0, 0, 2, 0, 0)]
        for one in made:
            one.desc = derived
        return made

    def case(self, mode: int, shape: tuple[int, ...], kind: int, alpha: float, beta: float) -> None:
        what = f"batch norm {mode}, {shape}, {kind}, {alpha}, {beta}"
        axes = (0,) if mode == PER_ACTIVATION else (0, *range(2, len(shape)))
        x, y, dy, dx = (self.tensor(self.values(*shape), kind) for _ in range(4))
        scale, bias, mean, variance, saved_mean, saved_inverse = self.parameters(mode, x)
        running = mean.exact(), variance.exact()
        one, two = self.factors(kind, alpha, beta)
        before, wide = y.exact(), x.exact()
        count = np.prod([shape[d] for d in axes])
        m, v = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
        hat = (wide - m) / np.sqrt(v + EPSILON)
        self.call("BatchNormalizationForwardTraining", mode, one, two, x.desc, x.at, y.desc, y.at, scale.desc, scale.at,
                  bias.at, MOMENTUM, mean.at, variance.at, EPSILON, saved_mean.at, saved_inverse.at)  # fmt: skip
        expected = scale.exact() * hat + bias.exact()
        self.close(f"{what}: training", kind, y.now(), alpha * expected + beta * before, 40)
        self.close(f"{what}: mean", FLOAT, mean.now(), MOMENTUM * m + (1 - MOMENTUM) * running[0], 40)
        unbiased = v * count / (count - 1)
        self.close(f"{what}: variance", FLOAT, variance.now(), MOMENTUM * unbiased + (1 - MOMENTUM) * running[1], 40)
        self.close(f"{what}: saved mean", FLOAT, saved_mean.now(), m, 40)
        self.close(f"{what}: saved deviation", FLOAT, saved_inverse.now(), 1 / np.sqrt(v + EPSILON), 200)

        before = y.exact()
        self.call("BatchNormalizationForwardInference", mode, one, two, x.desc, x.at, y.desc, y.at, scale.desc,
                  scale.at, bias.at, mean.at, variance.at, EPSILON)  # fmt: skip
        known = scale.exact() * (wide - mean.exact()) / np.sqrt(variance.exact() + EPSILON) + bias.exact()
        self.close(f"{what}: inference", kind, y.now(), alpha * known + beta * before, 40)

        d_scale, d_bias = (self.tensor(self.values(*scale.shape)) for _ in range(2))
        before, d = (dx.exact(), d_scale.exact(), d_bias.exact()), dy.exact()
        self.call("BatchNormalizationBackward", mode, one, two, one, two, x.desc, x.at, dy.desc, dy.at, dx.desc, dx.at,
                  scale.desc, scale.at, d_scale.at, d_bias.at, EPSILON, saved_mean.at, saved_inverse.at)  # fmt: skip
        exact = self.slopes(axes, hat, d, scale.exact(), v)
        for name, found, found_before, one_exact in zip(
            ("x", "scale", "bias"), (dx, d_scale, d_bias), before, exact, strict=True
        ):
            self.close(f"{what}: d{name}", kind, found.now(), alpha * one_exact + beta * found_before, 100)

    def slopes(self, axes: tuple[int, ...], hat: Array, d: Array, scale: Array, v: Array) -> tuple[Array, Array, Array]:
        d_scale, d_bias = (d * hat).sum(axes, keepdims=True), d.sum(axes, keepdims=True)
        mean, product = d.mean(axes, keepdims=True), (d * hat).mean(axes, keepdims=True)
        return scale / np.sqrt(v + EPSILON) * (d - mean - hat * product), d_scale, d_bias

    def extended(self) -> None:
        """With a sum and an activation."""
        axes, none, size = (0, 2, 3), self.ffi.NULL, self.ffi.new("size_t *")
        act = self.new("cudnnActivationDescriptor_t", "CreateActivationDescriptor")
        self.ok("SetActivationDescriptor", act, RELU, 0, 0.0)
        for ops in (OPS_BN, OPS_BN_ACTIVATION, OPS_BN_ADD_ACTIVATION):
            x, z, y, dy, dx, dz = (self.tensor(self.values(3, 4, 5, 2)) for _ in range(6))
            scale, bias, mean, variance, saved_mean, saved_inverse = self.parameters(SPATIAL, x)
            one, two = self.factors(FLOAT, 1.0, 0.0)
            z_desc = z.desc if ops == OPS_BN_ADD_ACTIVATION else none
            asked = (SPATIAL, ops, x.desc, z_desc, y.desc, scale.desc, act, size)
            self.call("GetBatchNormalizationForwardTrainingExWorkspaceSize", *asked)
            self.call("GetBatchNormalizationTrainingExReserveSpaceSize", SPATIAL, ops, act, x.desc, size)
            self.call("BatchNormalizationForwardTrainingEx", SPATIAL, ops, one, two, x.desc, x.at, z_desc, z.at, y.desc,
                      y.at, scale.desc, scale.at, bias.at, MOMENTUM, mean.at, variance.at, EPSILON, saved_mean.at,
                      saved_inverse.at, act, none, 0, none, 0)  # fmt: skip
            wide = x.exact()
            v = wide.var(axes, keepdims=True)
            hat = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(v + EPSILON)
            exact = scale.exact() * hat + bias.exact() + (z.exact() if ops == OPS_BN_ADD_ACTIVATION else 0)
            exact = exact if ops == OPS_BN else np.maximum(exact, 0)
            self.close(f"batch norm with {ops}", FLOAT, y.now(), exact, 40)
            d_scale, d_bias = (self.tensor(self.values(*scale.shape)) for _ in range(2))
            asked = (SPATIAL, ops, x.desc, y.desc, dy.desc, z_desc, dx.desc, scale.desc, act, size)
            self.call("GetBatchNormalizationBackwardExWorkspaceSize", *asked)
            self.call("BatchNormalizationBackwardEx", SPATIAL, ops, one, two, one, two, x.desc, x.at, y.desc, y.at,
                      dy.desc, dy.at, z_desc, dz.at, dx.desc, dx.at, scale.desc, scale.at, bias.at, d_scale.at,
                      d_bias.at, EPSILON, saved_mean.at, saved_inverse.at, act, none, 0, none, 0)  # fmt: skip
            d = dy.exact() * (1 if ops == OPS_BN else exact > 0)
            found = dx.now(), d_scale.now(), d_bias.now()
            for name, values, one_exact in zip("xsb", found, self.slopes(axes, hat, d, scale.exact(), v), strict=True):
                self.close(f"batch norm with {ops}: d{name}", FLOAT, values, one_exact, 100)
            if ops == OPS_BN_ADD_ACTIVATION:
                self.close("batch norm: dz", FLOAT, dz.now(), d)

    def wrong(self) -> None:
        x, y = (self.tensor(self.values(2, 3, 4, 4)) for _ in range(2))
        scale = self.parameters(SPATIAL, x)[0]
        one, two = self.factors(FLOAT, 1.0, 0.0)
        head = (self.handle, 3, one, two, x.desc, x.at, y.desc, y.at, scale.desc, scale.at, scale.at)
        self.answers(
            "no such mode", self.bad_param, "BatchNormalizationForwardInference", *head, scale.at, scale.at, 1e-3
        )
        head = (self.handle, SPATIAL, *head[2:])
        none: Any = self.ffi.NULL
        self.answers("no mean", self.bad_param, "BatchNormalizationForwardInference", *head, none, scale.at, 1e-3)

    def check_all(self) -> None:
        self.case(SPATIAL, (4, 3, 5, 6), FLOAT, 1.0, 0.0)
        self.case(SPATIAL_PERSISTENT, (3, 2, 4, 4), FLOAT, 2.0, 0.5)
        self.case(PER_ACTIVATION, (6, 3, 2, 2), FLOAT, 1.0, 0.0)
        self.case(SPATIAL, (4, 3, 5, 6), HALF, 1.0, 0.0)
        self.case(SPATIAL, (2, 3, 4, 3, 2), FLOAT, 1.0, 0.0)
        self.extended()
        self.wrong()
