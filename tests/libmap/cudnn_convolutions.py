"""cuDNN's convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import BFLOAT16, CONVOLUTION, CROSS_CORRELATION, FLOAT, HALF, INT8, INT32, Nets, Tensor


@dataclass(frozen=True)
class Case:
    """Sizes of a convolution: N, C and K, those of an image and a window, and how the window moves."""

    n: int
    c: int
    k: int
    image: tuple[int, ...]
    window: tuple[int, ...]
    pad: int = 0
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    kind: int = FLOAT
    order: str = "NCHW"
    turned: bool = False  # the filter is turned round first

    @property
    def out(self) -> tuple[int, ...]:
        reach = [(w - 1) * self.dilation + 1 for w in self.window]
        return tuple(1 + (s + 2 * self.pad - r) // self.stride for s, r in zip(self.image, reach, strict=True))


def windows(case: Case) -> list[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each place of a window, and what of the padded image meets it."""
    found = []
    for place in np.ndindex(*case.window):
        starts = [p * case.dilation for p in place]
        parts = [slice(s, s + case.stride * (o - 1) + 1, case.stride) for s, o in zip(starts, case.out, strict=True)]
        found.append((place, (slice(None), slice(None), *parts)))
    return found


def padded(case: Case, x: Array) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *[(case.pad, case.pad)] * len(case.image)])


def turned(case: Case, w: Array) -> Array:
    return np.flip(w, tuple(range(2, w.ndim))) if case.turned else w


def forward(case: Case, x: Array, w: Array) -> Array:
    """In double precision, group by group."""
    x, w = padded(case, x.astype(np.float64)), turned(case, w).astype(np.float64)
    y = np.zeros((case.n, case.k, *case.out))
    for g in range(case.groups):
        ins = slice(g * case.c // case.groups, (g + 1) * case.c // case.groups)
        outs = slice(g * case.k // case.groups, (g + 1) * case.k // case.groups)
        for place, part in windows(case):
            y[:, outs] += np.einsum("nc...,kc->nk...", x[part][:, ins], w[(outs, slice(None), *place)])
    return y


def backward(case: Case, x: Array, w: Array, dy: Array) -> tuple[Array, Array]:
    """dx and dw."""
    wide, w, dy = padded(case, x.astype(np.float64)), turned(case, w).astype(np.float64), dy.astype(np.float64)
    dx, dw = np.zeros_like(wide), np.zeros_like(w)
    for g in range(case.groups):
        ins = slice(g * case.c // case.groups, (g + 1) * case.c // case.groups)
        outs = slice(g * case.k // case.groups, (g + 1) * case.k // case.groups)
        for place, part in windows(case):
            dx[part][:, ins] += np.einsum("nk...,kc->nc...", dy[:, outs], w[(outs, slice(None), *place)])
            flat = [values.reshape(*values.shape[:2], -1) for values in (dy[:, outs], wide[part][:, ins])]
            sums = np.einsum("nki,nci->kc", *flat)
            dw[(outs, slice(None), *place)] += sums
    inner = tuple(slice(case.pad, case.pad + s) for s in case.image)
    return dx[(slice(None), slice(None), *inner)], turned(case, dw)


CASES = (
    Case(2, 3, 4, (8, 7), (3, 3), pad=1),
    Case(1, 4, 6, (9, 9), (3, 2), stride=2, groups=2),
    Case(1, 2, 3, (11, 9), (3, 3), pad=2, dilation=2),
    Case(2, 8, 5, (5, 6), (1, 1)),
    Case(1, 4, 4, (8, 8), (3, 3), pad=1, kind=HALF),
    Case(1, 8, 8, (6, 6), (3, 3), pad=1, order="NHWC"),
    Case(1, 2, 3, (5, 6, 4), (3, 2, 2), pad=1),
    Case(1, 4, 4, (8, 8), (3, 3), pad=1, kind=HALF, order="NHWC", turned=True),
    Case(2, 3, 4, (8, 7), (3, 3), pad=1, turned=True),
)


class Convolutions(Nets):
    def described(self, case: Case) -> Any:
        desc = self.new("cudnnConvolutionDescriptor_t", "CreateConvolutionDescriptor")
        parts = [self.ffi.new("int[]", [v] * len(case.image)) for v in (case.pad, case.stride, case.dilation)]
        mode = CONVOLUTION if case.turned else CROSS_CORRELATION
        self.ok("SetConvolutionNdDescriptor", desc, len(case.image), *parts, mode, FLOAT)
        self.ok("SetConvolutionGroupCount", desc, case.groups)
        return desc

    def filter(self, values: Array, kind: int, order: str) -> tuple[Any, Tensor]:
        desc = self.new("cudnnFilterDescriptor_t", "CreateFilterDescriptor")
        sizes = self.ffi.new("int[]", list(values.shape))
        self.ok("SetFilterNdDescriptor", desc, kind, order == "NHWC", values.ndim, sizes)
        return desc, self.tensor(values, kind, order)

    def case(self, case: Case) -> None:
        what, kind, order = str(case), case.kind, case.order
        x = self.tensor(self.values(case.n, case.c, *case.image), kind, order)
        w_desc, w = self.filter(self.values(case.k, case.c // case.groups, *case.window), kind, order)
        y = self.tensor(self.values(case.n, case.k, *case.out), kind, order)
        conv = self.described(case)
        size = self.ffi.new("size_t *")
        expected, before = forward(case, x.exact(), w.exact()), y.exact()
        reach = case.c * int(np.prod(case.window))
        for algo, alpha, beta in ((0, 1.0, 0.0), (1, 0.5, 2.0)):
            factors = self.factors(kind, alpha, beta)
            self.call("GetConvolutionForwardWorkspaceSize", x.desc, w_desc, conv, y.desc, algo, size)
            space = self.room(size[0])
            self.call("ConvolutionForward", factors[0], x.desc, x.at, w_desc, w.at, conv, algo, space, size[0],
                      factors[1], y.desc, y.at)  # fmt: skip
            self.close(f"forward {algo}, {what}", kind, y.now(), alpha * expected + beta * before, reach)
            before = y.exact()

    def back(self, case: Case) -> None:
        what, kind, order = str(case), case.kind, case.order
        x = self.tensor(self.values(case.n, case.c, *case.image), kind, order)
        w_desc, w = self.filter(self.values(case.k, case.c // case.groups, *case.window), kind, order)
        dy = self.tensor(self.values(case.n, case.k, *case.out), kind, order)
        dx, conv, size = self.room_for(*x.shape, kind=kind, order=order), self.described(case), self.ffi.new("size_t *")
        dw_desc, dw = self.filter(np.full(w.shape, 2.0), kind, order)
        exact_dx, exact_dw = backward(case, x.exact(), w.exact(), dy.exact())
        for algo, alpha, beta in ((0, 1.0, 0.0), (1, 2.0, -1.0)):
            one, two = self.factors(kind, alpha, beta)
            before = dx.exact(), dw.exact()
            self.call("GetConvolutionBackwardDataWorkspaceSize", w_desc, dy.desc, conv, dx.desc, algo, size)
            self.call("ConvolutionBackwardData", one, w_desc, w.at, dy.desc, dy.at, conv, algo, self.room(size[0]),
                      size[0], two, dx.desc, dx.at)  # fmt: skip
            reach = case.k * int(np.prod(case.window))
            self.close(f"data {algo}, {what}", kind, dx.now(), alpha * exact_dx + beta * before[0], reach)
            self.call("GetConvolutionBackwardFilterWorkspaceSize", x.desc, dy.desc, conv, dw_desc, algo, size)
            self.call("ConvolutionBackwardFilter", one, x.desc, x.at, dy.desc, dy.at, conv, algo, self.room(size[0]),
                      size[0], two, dw_desc, dw.at)  # fmt: skip
            reach = case.n * int(np.prod(case.out))
            self.close(f"filter {algo}, {what}", kind, dw.now(), alpha * exact_dw + beta * before[1], reach)

    def lists(self) -> None:
        """Each algorithm that is listed computes the convolution within its workspace; the measured ones too."""
        case = CASES[0]
        x = self.tensor(self.values(case.n, case.c, *case.image))
        w_desc, w = self.filter(self.values(case.k, case.c, *case.window), FLOAT, "NCHW")
        y, dy = (self.tensor(self.values(case.n, case.k, *case.out)) for _ in range(2))
        dw_desc, dw = self.filter(np.zeros(w.shape), FLOAT, "NCHW")
        dx, conv = self.room_for(*x.shape), self.described(case)
        exact = (forward(case, x.exact(), w.exact()), *backward(case, x.exact(), w.exact(), dy.exact()))
        one, zero = self.factors(FLOAT, 1.0, 0.0)
        count = self.ffi.new("int *")
        directions = {
            "Forward": ("Fwd", (x.desc, w_desc, conv, y.desc), (x.desc, x.at, w_desc, w.at, conv, y.desc, y.at), y),
            "BackwardData": ("BwdData", (w_desc, dy.desc, conv, dx.desc),
                             (w_desc, w.at, dy.desc, dy.at, conv, dx.desc, dx.at), dx),
            "BackwardFilter": ("BwdFilter", (x.desc, dy.desc, conv, dw_desc),
                               (x.desc, x.at, dy.desc, dy.at, conv, dw_desc, dw.at), dw),
        }  # fmt: skip
        for (name, (short, described, data, result)), expected in zip(directions.items(), exact, strict=True):
            self.call(f"GetConvolution{name}AlgorithmMaxCount", count)
            most = count[0]
            listed = self.ffi.new(f"cudnnConvolution{short}AlgoPerf_t[]", most)
            found: dict[str, list[Any]] = {}
            for function, arguments in (
                (f"GetConvolution{name}Algorithm_v7", (*described, most, count, listed)),
                (f"FindConvolution{name}Algorithm", (*described, most, count, listed)),
                (f"FindConvolution{name}AlgorithmEx", (*data, most, count, listed, self.room(1 << 22), 1 << 22)),
            ):
                self.call(function, *arguments)
                found[function] = [(one.algo, one.memory, one.status) for one in listed[0 : count[0]]]
                times = [one.time for one in listed[0 : count[0]]]
                good = 1 <= count[0] <= most and times == sorted(times) and not any(s for *_, s in found[function])
                self.client.check(f"{function}: {found[function]}, {times}", good)
            algorithms = [{algo for algo, *_ in one} for one in found.values()]
            self.client.check(f"{name}: {algorithms}", algorithms[0] == algorithms[1] == algorithms[2])
            first, second = (data[1], data[3])
            for algo, memory, _ in next(iter(found.values())):
                room = self.room(memory)
                self.call(f"Convolution{name}", one, data[0], first, data[2], second, conv, algo, room, memory, zero,
                          described[3], result.at)  # fmt: skip
                self.close(f"{name} by {algo}", FLOAT, result.now(), expected, 100)
            self.call(f"GetConvolution{name}Algorithm_v7", *described, 1, count, listed)
            self.client.check("one is asked for", count[0] == 1)

    def with_bias(self) -> None:
        case = Case(2, 3, 4, (6, 5), (3, 3), pad=1)
        x = self.tensor(self.values(case.n, case.c, *case.image))
        w_desc, w = self.filter(self.values(case.k, case.c, *case.window), FLOAT, "NCHW")
        y, z = (self.tensor(self.values(case.n, case.k, *case.out)) for _ in range(2))
        bias, conv = self.tensor(self.values(1, case.k, 1, 1)), self.described(case)
        act = self.new("cudnnActivationDescriptor_t", "CreateActivationDescriptor")
        size = self.ffi.new("size_t *")
        self.call("GetConvolutionForwardWorkspaceSize", x.desc, w_desc, conv, y.desc, 1, size)
        product = forward(case, x.exact(), w.exact())
        for mode, alpha, beta in ((1, 1.0, 0.0), (1, 2.0, 0.5), (5, 1.0, 1.0)):
            self.ok("SetActivationDescriptor", act, mode, 0, 0.0)
            one, two = self.factors(FLOAT, alpha, beta)
            self.call("ConvolutionBiasActivationForward", one, x.desc, x.at, w_desc, w.at, conv, 1, self.room(size[0]),
                      size[0], two, z.desc, z.at, bias.desc, bias.at, act, y.desc, y.at)  # fmt: skip
            expected = alpha * product + beta * z.exact() + bias.exact()
            expected = np.maximum(expected, 0) if mode == 1 else expected
            self.close(f"bias, {mode}, {alpha}, {beta}", FLOAT, y.now(), expected, 30)
        sums = self.tensor(self.values(1, case.k, 1, 1))
        before, (one, two) = sums.exact(), self.factors(FLOAT, 1.0, 3.0)
        self.call("ConvolutionBackwardBias", one, y.desc, y.at, two, sums.desc, sums.at)
        expected = y.exact().sum((0, 2, 3), keepdims=True) + 3 * before
        self.close("bias backward", FLOAT, sums.now(), expected, 60)

    def integers(self) -> None:
        """Sums of products of 8-bit integers; those that do not fit into 8 bits again are refused."""
        case = Case(2, 4, 4, (6, 6), (3, 3), pad=1, kind=INT8)
        x = self.tensor(self.values(case.n, case.c, *case.image, kind=INT8), INT8)
        w_desc, w = self.filter(self.values(case.k, case.c, *case.window, kind=INT8), INT8, "NCHW")
        conv, size, (one, zero) = self.described(case), self.ffi.new("size_t *"), self.factors(FLOAT, 1.0, 0.0)
        for kind in (INT32, FLOAT):
            y = self.room_for(case.n, case.k, *case.out, kind=kind)
            self.call("GetConvolutionForwardWorkspaceSize", x.desc, w_desc, conv, y.desc, 1, size)
            self.call("ConvolutionForward", one, x.desc, x.at, w_desc, w.at, conv, 1, self.room(size[0]), size[0], zero,
                      y.desc, y.at)  # fmt: skip
            self.same(f"integers to {kind}", y.exact(), forward(case, x.exact(), w.exact()))
        y = self.room_for(case.n, case.k, *case.out, kind=INT8)
        asked = (self.handle, x.desc, w_desc, conv, y.desc, 1, size)
        self.answers("8 bits", self.not_supported, "GetConvolutionForwardWorkspaceSize", *asked)

    def wrong(self) -> None:
        case = CASES[0]
        x, y = self.tensor(self.values(case.n, case.c, *case.image)), self.room_for(case.n, case.k, *case.out)
        w_desc, w = self.filter(self.values(case.k, case.c, *case.window), FLOAT, "NCHW")
        other, conv = self.room_for(case.n, case.k, *case.image[:1], 1), self.described(case)
        one, zero = self.factors(FLOAT, 1.0, 0.0)
        none, size = self.ffi.NULL, self.ffi.new("size_t *")

        def run(what: str, answer: int, x_desc: Any, conv: Any, algo: int, alpha: Any, y_desc: Any, data: Any) -> None:
            self.answers(what, answer, "ConvolutionForward", self.handle, alpha, x_desc, data, w_desc, w.at, conv, algo,
                         none, 0, zero, y_desc, y.at)  # fmt: skip

        run("no tensor", self.bad_param, none, conv, 0, one, y.desc, x.at)
        run("a filter for a tensor", self.bad_param, self.ffi.cast("void *", w_desc), conv, 0, one, y.desc, x.at)
        run("no factor", self.bad_param, x.desc, conv, 0, none, y.desc, x.at)
        run("no data", self.bad_param, x.desc, conv, 0, one, y.desc, none)
        run("no such algorithm", self.bad_param, x.desc, conv, 8, one, y.desc, x.at)
        run("another size", self.bad_param, x.desc, conv, 0, one, other.desc, x.at)
        asked = (self.handle, x.desc, w_desc, conv, y.desc, 0)
        self.answers("no place", self.bad_param, "GetConvolutionForwardWorkspaceSize", *asked, none)
        self.answers("none wanted", self.bad_param, "GetConvolutionForwardAlgorithm_v7", self.handle, x.desc, w_desc,
                     conv, y.desc, 0, self.ffi.new("int *"), none)  # fmt: skip
        self.answers("no handle", self.bad_param, "GetConvolutionForwardWorkspaceSize", none, *asked[1:], size)

    def brain(self) -> None:
        """bf16: without scaling factors."""
        case = Case(1, 4, 4, (8, 8), (3, 3), pad=1, kind=BFLOAT16)
        x = self.tensor(self.values(case.n, case.c, *case.image), BFLOAT16)
        y = self.room_for(case.n, case.k, *case.out, kind=BFLOAT16)
        w_desc, w = self.filter(self.values(case.k, case.c, *case.window), BFLOAT16, "NCHW")
        conv, size, (one, two) = self.described(case), self.ffi.new("size_t *"), self.factors(FLOAT, 1.0, 0.0)
        self.call("GetConvolutionForwardWorkspaceSize", x.desc, w_desc, conv, y.desc, 0, size)
        given = (x.desc, x.at, w_desc, w.at, conv, 0, self.room(size[0]), size[0])
        self.call("ConvolutionForward", one, *given, two, y.desc, y.at)
        self.close("bf16", BFLOAT16, y.now(), forward(case, x.exact(), w.exact()))
        self.answers("bf16 with a sum", self.not_supported, "ConvolutionForward", self.handle, one, *given, one, y.desc,
                     y.at)  # fmt: skip
        self.answers("bf16 scaled", self.not_supported, "ScaleTensor", self.handle, y.desc, y.at, one)
        self.answers("bf16 added", self.not_supported, "AddTensor", self.handle, one, y.desc, y.at, one, y.desc, y.at)

    def check_all(self) -> None:
        self.brain()
        for case in CASES:
            self.case(case)
        for case in CASES:
            self.back(case)
        self.lists()
        self.with_bias()
        self.integers()
        self.wrong()
