"""cuDNN's functions of single numbers, sums over dimensions, and regions."""

from __future__ import annotations

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import BFLOAT16, DOUBLE, FLOAT, HALF, INT8, INT32, Nets

SIGMOID, RELU, TANH, CLIPPED_RELU, ELU, IDENTITY, SWISH = range(7)
FACTORS = ((1.0, 0.0), (0.5, 2.0))
MAX, AVERAGE_WITH_PADDING, AVERAGE, MAX_DETERMINISTIC = range(4)


def activated(mode: int, coefficient: float, x: Array) -> tuple[Array, Array]:
    """The function and its slope."""
    sigmoid = 1 / (1 + np.exp(-x))
    return {
        SIGMOID: (sigmoid, sigmoid * (1 - sigmoid)),
        RELU: (np.maximum(x, 0), (x > 0) * 1.0),
        TANH: (np.tanh(x), 1 - np.tanh(x) ** 2),
        CLIPPED_RELU: (np.clip(x, 0, coefficient), ((x > 0) & (x < coefficient)) * 1.0),
        ELU: (np.where(x > 0, x, coefficient * np.expm1(x)), np.where(x > 0, 1, coefficient * np.exp(x))),
        IDENTITY: (x, np.ones_like(x)),
    }[mode]


class Elementwise(Nets):
    def activations(self) -> None:
        act = self.new("cudnnActivationDescriptor_t", "CreateActivationDescriptor")
        for mode in (SIGMOID, RELU, TANH, CLIPPED_RELU, ELU, IDENTITY):
            coefficient = {CLIPPED_RELU: 0.6, ELU: 0.8}.get(mode, 0.0)
            self.ok("SetActivationDescriptor", act, mode, 0, coefficient)
            x, dy, y, dx = (self.tensor(self.values(2, 3, 4, 5)) for _ in range(4))
            exact, slope = activated(mode, coefficient, x.exact())
            for alpha, beta in FACTORS if mode == RELU else FACTORS[:1]:
                one, two = self.factors(FLOAT, alpha, beta)
                before = y.exact(), dx.exact()
                self.call("ActivationForward", act, one, x.desc, x.at, two, y.desc, y.at)
                self.close(f"activation {mode}", FLOAT, y.now(), alpha * exact + beta * before[0])
                y_plain = self.tensor(exact)
                self.call("ActivationBackward", act, one, y_plain.desc, y_plain.at, dy.desc, dy.at, x.desc, x.at, two,
                          dx.desc, dx.at)  # fmt: skip
                expected = alpha * dy.exact() * slope + beta * before[1]
                self.close(f"activation backward {mode}", FLOAT, dx.now(), expected)
        self.ok("SetActivationDescriptor", act, SWISH, 0, 0.0)
        arguments = (act, one, x.desc, x.at, two, y.desc, y.at)
        self.answers("swish", self.not_supported, "ActivationForward", self.handle, *arguments)
        self.destroy("Activation", act)

    def softmax(self) -> None:
        for mode, axes in ((0, (1, 2, 3)), (1, (1,))):
            for algo in range(3):
                x, dy, y, dx = (self.tensor(self.values(2, 5, 3, 2) * 3) for _ in range(4))
                wide = np.exp(x.exact() - x.exact().max(axes, keepdims=True))
                exact = wide / wide.sum(axes, keepdims=True)
                one, two = self.factors(FLOAT, 1.0, 0.0)
                self.call("SoftmaxForward", algo, mode, one, x.desc, x.at, two, y.desc, y.at)
                result = np.log(exact) if algo == 2 else exact
                self.close(f"softmax {algo}, {mode}", FLOAT, y.now(), result, 10)
                self.call("SoftmaxBackward", algo, mode, one, y.desc, y.at, dy.desc, dy.at, two, dx.desc, dx.at)
                d = dy.exact()
                if algo == 2:
                    expected = d - exact * d.sum(axes, keepdims=True)
                else:
                    expected = exact * (d - (d * exact).sum(axes, keepdims=True))
                self.close(f"softmax backward {algo}, {mode}", FLOAT, dx.now(), expected, 30)
        one, two = self.factors(FLOAT, 2.0, 1.0)
        before = y.exact()
        self.call("SoftmaxForward", 1, 1, one, x.desc, x.at, two, y.desc, y.at)
        self.close("softmax, added", FLOAT, y.now(), 2 * exact + before, 10)
        asked = (self.handle, 3, 0, one, x.desc, x.at, two, y.desc, y.at)
        self.answers("no such algorithm", self.bad_param, "SoftmaxForward", *asked)

    def sums(self) -> None:
        op = self.new("cudnnOpTensorDescriptor_t", "CreateOpTensorDescriptor")
        for number, function in enumerate((np.add, np.multiply, np.minimum, np.maximum)):
            self.ok("SetOpTensorDescriptor", op, number, FLOAT, 0)
            for shape in ((2, 3, 4, 5), (1, 3, 1, 1), (2, 1, 4, 1)):
                a, c = (self.tensor(self.values(2, 3, 4, 5)) for _ in range(2))
                b, before = self.tensor(self.values(*shape)), c.exact()
                factors = self.factors(FLOAT, 2.0, -0.5, 1.5)
                self.call("OpTensor", op, factors[0], a.desc, a.at, factors[1], b.desc, b.at, factors[2], c.desc, c.at)
                expected = function(2.0 * a.exact(), -0.5 * b.exact()) + 1.5 * before
                self.close(f"op {number}, {shape}", FLOAT, c.now(), expected)
        self.ok("SetOpTensorDescriptor", op, 4, FLOAT, 0)
        asked = (self.handle, op, factors[0], a.desc, a.at, factors[1], b.desc, b.at, factors[2], c.desc, c.at)
        self.answers("square root", self.not_supported, "OpTensor", *asked)
        for kind in (FLOAT, HALF):
            for alpha, beta in ((1.0, 1.0), (2.0, 0.5), (1.0, 0.0)):
                bias, c = self.tensor(self.values(1, 3, 1, 1), kind), self.tensor(self.values(2, 3, 4, 5), kind)
                before, (one, two) = c.exact(), self.factors(kind, alpha, beta)
                self.call("AddTensor", one, bias.desc, bias.at, two, c.desc, c.at)
                self.close(f"add {kind}, {alpha}, {beta}", kind, c.now(), alpha * bias.exact() + beta * before)
        spoilt = self.tensor(np.full((2, 3, 4, 5), np.nan))
        bias, (one, two) = self.tensor(self.values(1, 3, 1, 1)), self.factors(FLOAT, 1.0, 0.0)
        self.call("AddTensor", one, bias.desc, bias.at, two, spoilt.desc, spoilt.at)
        self.close("what is multiplied by 0", FLOAT, spoilt.now(), bias.exact() + np.zeros((2, 3, 4, 5)))
        asked = (self.handle, one, c.desc, c.at, two, bias.desc, bias.at)
        self.answers("a larger one is added", self.bad_param, "AddTensor", *asked)

    def whole(self) -> None:
        """Set, scaled, in another layout."""
        for kind in (FLOAT, HALF, INT32):
            y = self.tensor(self.values(2, 3, 4, 5, kind=kind), kind, strides=(96, 24, 6, 1))
            value = self.ffi.new("int *", 7) if kind == INT32 else np.array([1.5], y.at.values.dtype)
            self.call("SetTensor", y.desc, y.at, value)
            self.same(f"set {kind}", y.now(), np.full(y.shape, 7 if kind == INT32 else 1.5).astype(y.at.values.dtype))
            self.client.check("between rows", (y.at.now() == -77).sum() == (y.at.values == -77).sum())
        gaps = (80, 24, 6, 1)
        odd = self.tensor(self.values(2, 3, 4, 5), strides=gaps)
        self.answers("odd gaps", self.not_supported, "SetTensor", self.handle, odd.desc, odd.at, np.ones(1, np.float32))
        even, (one, two) = self.room_for(2, 3, 4, 5), self.factors(FLOAT, 1.0, 0.0)
        asked = (self.handle, one, odd.desc, odd.at, two, even.desc, even.at)
        self.answers("odd gaps", self.not_supported, "TransformTensor", *asked)
        for kind in (FLOAT, HALF):
            y = self.tensor(self.values(2, 3, 4, 5), kind, strides=gaps)
            before, (factor,) = y.exact(), self.factors(kind, -2.5)
            self.call("ScaleTensor", y.desc, y.at, factor)
            self.close(f"scaled {kind}", kind, y.now(), -2.5 * before)
            for alpha, beta in FACTORS:
                x, y = self.tensor(self.values(2, 3, 4, 5), kind), self.tensor(self.values(2, 3, 4, 5), kind, "NHWC")
                before, (one, two) = y.exact(), self.factors(kind, alpha, beta)
                self.call("TransformTensor", one, x.desc, x.at, two, y.desc, y.at)
                self.close(f"another layout {kind}", kind, y.now(), alpha * x.exact() + beta * before)
        other = self.room_for(2, 3, 4, 5)
        asked = (self.handle, one, x.desc, x.at, two, other.desc, other.at)
        self.answers("another type", self.not_supported, "TransformTensor", *asked)

    def other_types(self) -> None:
        """Sums are of all types; what MIOpen would compute wrongly is refused."""
        op = self.new("cudnnOpTensorDescriptor_t", "CreateOpTensorDescriptor")
        self.ok("SetOpTensorDescriptor", op, 0, FLOAT, 0)
        for kind in (DOUBLE, INT32):
            a, b, c = (self.tensor(self.values(2, 3, 4, 5, kind=kind), kind) for _ in range(3))
            two, one, zero = self.factors(kind, 2.0, 1.0, 0.0)
            self.call("OpTensor", op, two, a.desc, a.at, one, b.desc, b.at, zero, c.desc, c.at)
            self.close(f"sum of {kind}", kind, c.now(), 2 * a.exact() + b.exact())
            before = c.exact()
            self.call("ScaleTensor", c.desc, c.at, two)
            self.close(f"scaled {kind}", kind, c.now(), 2 * before)
        for kind in (DOUBLE, INT32, INT8, BFLOAT16):
            x = self.tensor(np.zeros((2, 3, 4, 4)), kind)
            one, zero = self.factors(kind, 1.0, 0.0)
            data = (one, x.desc, x.at, zero, x.desc, x.at)
            self.answers(f"softmax of {kind}", self.not_supported, "SoftmaxForward", self.handle, 1, 1, *data)
            self.answers(f"layout of {kind}", self.not_supported, "TransformTensor", self.handle, *data)

    def check_all(self) -> None:
        self.activations()
        self.softmax()
        self.sums()
        self.whole()
        self.other_types()


REDUCTIONS = (
    lambda a, axes: a.sum(axes, keepdims=True),
    lambda a, axes: a.prod(axes, keepdims=True),
    lambda a, axes: a.min(axes, keepdims=True),
    lambda a, axes: a.max(axes, keepdims=True),
    lambda a, axes: abs(a).max(axes, keepdims=True),
    lambda a, axes: a.mean(axes, keepdims=True),
    lambda a, axes: abs(a).sum(axes, keepdims=True),
    lambda a, axes: np.sqrt((a**2).sum(axes, keepdims=True)),
)
LARGEST = 3


class Regions(Nets):
    def reductions(self) -> None:
        desc = self.new("cudnnReduceTensorDescriptor_t", "CreateReduceTensorDescriptor")
        sizes = [self.ffi.new("size_t *") for _ in range(2)]
        a = self.tensor(self.values(2, 3, 4, 5))
        for number, function in enumerate(REDUCTIONS):
            for axes in ((0, 2, 3), (3,)) if number < 2 else ((1, 2),):
                shape = [1 if d in axes else n for d, n in enumerate(a.shape)]
                alpha, beta = FACTORS[number % 2]
                c, (one, two) = self.tensor(self.values(*shape)), self.factors(FLOAT, alpha, beta)
                before, indices = c.exact(), number == LARGEST
                self.ok("SetReduceTensorDescriptor", desc, number, FLOAT, 0, indices, 0)
                self.call("GetReductionIndicesSize", desc, a.desc, c.desc, sizes[0])
                self.call("GetReductionWorkspaceSize", desc, a.desc, c.desc, sizes[1])
                places, space = (self.room(size[0]) for size in sizes)
                self.call("ReduceTensor", desc, places, sizes[0][0], space, sizes[1][0], one, a.desc, a.at, two, c.desc,
                          c.at)  # fmt: skip
                self.close(
                    f"reduction {number}, {axes}", FLOAT, c.now(), alpha * function(a.exact(), axes) + beta * before, 60
                )
                if indices:
                    moved = np.moveaxis(a.now(), (1, 2), (2, 3)).reshape(2, 5, -1)
                    found = places.now()[: 4 * c.now().size].view(np.uint32).reshape(2, 5)
                    self.same("indices", found, moved.argmax(2).astype(np.uint32))
        wrong = (desc, 9, FLOAT, 0, 0, 0)
        self.answers("no such reduction", self.bad_param, "SetReduceTensorDescriptor", *wrong)
        product = (desc, 8, FLOAT, 0, 0, 0)
        self.answers("without zeros", self.not_supported, "SetReduceTensorDescriptor", *product)

    def pooled(self, mode: int, window: int, pad: int, stride: int, x: Array, dy: Array | None) -> tuple[Array, Array]:
        """y, and dx where there is a dy."""
        n, c, *image = x.shape
        out = [1 + (s + 2 * pad - window) // stride for s in image]
        y, dx = np.zeros((n, c, *out)), np.zeros_like(x)
        for place in np.ndindex(*out):
            starts = [p * stride - pad for p in place]
            part = tuple(slice(max(s, 0), min(s + window, size)) for s, size in zip(starts, image, strict=True))
            full = (slice(None), slice(None), *part)
            seen, at = x[full].reshape(n, c, -1), (slice(None), slice(None), *place)
            count = window ** len(image) if mode == AVERAGE_WITH_PADDING else seen.shape[2]
            largest = mode in (MAX, MAX_DETERMINISTIC)
            y[at] = seen.max(2) if largest else seen.sum(2) / count
            if dy is None:
                continue
            share = np.eye(seen.shape[2])[seen.argmax(2)] if largest else np.full(seen.shape, 1 / count)
            dx[full] += (share * dy[at][..., None]).reshape(x[full].shape)
        return y, dx

    def pooling(self) -> None:
        desc, ints = self.new("cudnnPoolingDescriptor_t", "CreatePoolingDescriptor"), self.ffi.new("int[5]")
        cases = [(mode, 3, 1, 2, (2, 3, 7, 6)) for mode in range(4)] + [(MAX, 2, 0, 2, (1, 2, 4, 6, 5))]
        for mode, window, pad, stride, shape in cases:
            rank = len(shape) - 2
            parts = [self.ffi.new("int[]", [v] * rank) for v in (window, pad, stride)]
            self.ok("SetPoolingNdDescriptor", desc, mode, 0, rank, *parts)
            x = self.tensor(self.values(*shape))
            self.ok("GetPoolingNdForwardOutputDim", desc, x.desc, rank + 2, ints)
            dy = self.tensor(self.values(*list(ints[0 : rank + 2])))
            exact_y, exact_dx = self.pooled(mode, window, pad, stride, x.exact(), dy.exact())
            y, dx = self.tensor(self.values(*exact_y.shape)), self.tensor(self.values(*shape))
            for alpha, beta in FACTORS if mode == AVERAGE else FACTORS[:1]:
                before, (one, two) = (y.exact(), dx.exact()), self.factors(FLOAT, alpha, beta)
                self.call("PoolingForward", desc, one, x.desc, x.at, two, y.desc, y.at)
                self.close(f"pooling {mode}, {shape}", FLOAT, y.now(), alpha * exact_y + beta * before[0], 9)
                self.call("PoolingBackward", desc, one, y.desc, y.at, dy.desc, dy.at, x.desc, x.at, two, dx.desc, dx.at)
                self.close(f"pooling backward {mode}, {shape}", FLOAT, dx.now(), alpha * exact_dx + beta * before[1], 9)
        asked = (self.handle, desc, one, x.desc, x.at, two, x.desc, x.at)
        self.answers("another size", self.bad_param, "PoolingForward", *asked)

    def lrn(self) -> None:
        desc = self.new("cudnnLRNDescriptor_t", "CreateLRNDescriptor")
        n, alpha, beta, k = 5, 0.3, 0.75, 2.0
        self.ok("SetLRNDescriptor", desc, n, alpha, beta, k)
        x, dy, y, dx = (self.tensor(self.values(2, 7, 3, 4)) for _ in range(4))
        wide, d = x.exact(), dy.exact()
        around = np.stack([np.pad(wide**2, [(0, 0), (2, 2), (0, 0), (0, 0)])[:, i : i + 7] for i in range(n)])
        scale = k + alpha / n * around.sum(0)
        one, two = self.factors(FLOAT, 1.0, 0.0)
        self.call("LRNCrossChannelForward", desc, 0, one, x.desc, x.at, two, y.desc, y.at)
        self.close("LRN", FLOAT, y.now(), wide * scale**-beta, n)
        self.call(
            "LRNCrossChannelBackward", desc, 0, one, y.desc, y.at, dy.desc, dy.at, x.desc, x.at, two, dx.desc, dx.at
        )
        parts = np.pad(d * wide * scale ** (-beta - 1), [(0, 0), (2, 2), (0, 0), (0, 0)])
        sums = np.stack([parts[:, i : i + 7] for i in range(n)]).sum(0)
        self.close("LRN backward", FLOAT, dx.now(), d * scale**-beta - 2 * alpha * beta / n * wide * sums, n)
        asked = (self.handle, desc, 1, one, x.desc, x.at, two, y.desc, y.at)
        self.answers("no such mode", self.bad_param, "LRNCrossChannelForward", *asked)

    def dropout(self) -> None:
        size, space = self.ffi.new("size_t *"), self.ffi.new("size_t *")
        desc = self.new("cudnnDropoutDescriptor_t", "CreateDropoutDescriptor")
        x, y, dy, dx = (self.tensor(self.values(4, 8, 16, 16)) for _ in range(4))
        self.call("DropoutGetStatesSize", size)
        self.ok("DropoutGetReserveSpaceSize", x.desc, space)
        states, reserve = self.room(size[0]), self.room(space[0])
        self.ok("SetDropoutDescriptor", desc, self.handle, 0.25, states, size[0], 11)
        kept = []
        for turn in range(2):
            self.call("DropoutForward", desc, x.desc, x.at, y.desc, y.at, reserve, space[0])
            mask = y.now() != 0
            kept.append(mask)
            self.close(f"dropout {turn}", FLOAT, y.now(), mask * x.exact() / 0.75)
            share = mask.mean()
            self.client.check(f"dropout keeps {share}", abs(share - 0.75) < 0.02)
            self.call("DropoutBackward", desc, dy.desc, dy.at, dx.desc, dx.at, reserve, space[0])
            self.close(f"dropout backward {turn}", FLOAT, dx.now(), mask * dy.exact() / 0.75)
        self.client.check("each call has other numbers", (kept[0] != kept[1]).any())
        values = [self.ffi.new(kind) for kind in ("float *", "void **", "unsigned long long *")]
        self.ok("GetDropoutDescriptor", desc, self.handle, *values)
        self.client.check("dropout's settings", values[0][0] == 0.25 and values[2][0] == 11)
        self.ok("RestoreDropoutDescriptor", desc, self.handle, 0.5, states, size[0], 11)
        self.call("DropoutForward", desc, x.desc, x.at, y.desc, y.at, reserve, space[0])
        self.client.check("after restoring", abs((y.now() != 0).mean() - 0.5) < 0.02)
        twice = self.tensor(self.values(4, 8, 16, 16, kind=DOUBLE), DOUBLE)
        asked = (self.handle, desc, twice.desc, twice.at, twice.desc, twice.at, reserve, space[0])
        self.answers("dropout of f64", self.not_supported, "DropoutForward", *asked)
        wrong = (desc, self.handle, 1.5, states, size[0], 11)
        self.answers("more than all", self.bad_param, "SetDropoutDescriptor", *wrong)
        self.destroy("Dropout", desc)

    def check_all(self) -> None:
        self.reductions()
        self.pooling()
        self.lrn()
        self.dropout()
