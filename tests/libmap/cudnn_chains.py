"""cuDNN's graph API beyond convolutions: functions of single numbers, sums and products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cudnn_functions import ONE, POSITIVE, SUMS, TAN, TWO, erf, sigmoid
from tests.libmap.cudnn_graphs import (
    BOOLEAN,
    DATA_TYPE,
    DESCRIPTOR,
    DOUBLE_TYPE,
    INT64,
    OPERATION_POINTWISE,
    POINTWISE,
    PW_MODE,
    VIRTUAL,
    Graphs,
)
from tests.libmap.nets import BFLOAT16, DOUBLE, ERROR, FLOAT, HALF, INT8, INT32, NUMPY, stored

INT64_DATA, BIT, BYTE_BOOLEAN, UINT8 = 10, 11, 22, 6
MATMUL_DESC, MATMUL, REDUCTION_DESC, REDUCTION = 18, 19, 21, 22
CONCAT, RESHAPE, BAND_MASK, SOFTMAX, TRANSPOSE, SLICE = 27, 31, 44, 45, 46, 47
DATA = {**NUMPY, INT64_DATA: np.int64, BYTE_BOOLEAN: np.uint8, UINT8: np.uint8}
ADD, MUL, MIN, MAX, SUB, EXP, LOG, IDENTITY, GEN_INDEX, SELECT, LESS, GREATER_EQUAL = (
    0,
    1,
    2,
    3,
    9,
    13,
    15,
    21,
    501,
    601,
    304,
    303,
)
SUM_ADD, SUM_MAX = 0, 3


class Node:
    """A tensor of a graph: with numbers on the device, in the host's memory, or between operations."""

    def __init__(self, number: int, place: Any, shape: Sequence[int], kind: int, at: Any = None) -> None:
        self.number, self.place, self.shape, self.kind, self.at = number, place, tuple(shape), kind, at
        self.order = tuple(range(len(self.shape)))

    def now(self) -> Array:
        """In double precision."""
        found: Array = self.at.now()
        if self.kind == BFLOAT16:
            found = (found.astype(np.uint32) << 16).view(np.float32)
        inner = [self.shape[d] for d in self.order]
        return found.reshape(inner).transpose(np.argsort(self.order)).astype(np.float64)


class Chains(Graphs):
    def begin(self) -> None:
        self.ops: list[Any] = []
        self.used: dict[int, Any] = {}
        self.count = 0

    def node(self, values: Array, kind: int = FLOAT, order: Sequence[int] = ()) -> Node:
        """On the device; order: its dimensions, the innermost last."""
        self.count += 1
        inner = order or range(values.ndim)
        memory = stored(values, kind) if kind == BFLOAT16 else values.astype(DATA[kind])
        made = Node(self.count, None, values.shape, kind, self.on(memory.transpose(inner)))
        strides = [0] * values.ndim
        step = 1
        for d in reversed(tuple(inner)):
            strides[d], step = step, step * values.shape[d]
        made.order, made.place = tuple(inner), self.place(self.count, values.shape, strides, kind)
        self.used[self.count] = self.ffi.cast("void *", made.at.at[0])
        return made

    def out(self, *shape: int, kind: int = FLOAT, order: Sequence[int] = ()) -> Node:
        return self.node(np.full(shape, 3.0), kind, order)

    def virtual(self, *shape: int, kind: int = FLOAT) -> Node:
        self.count += 1
        strides = [int(np.prod(shape[d + 1 :], dtype=int)) for d in range(len(shape))]
        return Node(self.count, self.place(self.count + VIRTUAL, shape, strides, kind), shape, kind)

    def value(self, number: float, rank: int, kind: int = FLOAT) -> Node:
        """In the host's memory."""
        self.count += 1
        ones = [1] * rank
        desc = self.desc(
            17,
            (901, DATA_TYPE, [kind]),
            (902, INT64, ones),
            (903, INT64, ones),
            (906, INT64, [self.count]),
            (900, INT64, [4]),
            (908, BOOLEAN, [True]),
        )
        kept = np.array([number], DATA[kind])
        self.kept.append(kept)
        self.used[self.count] = self.client.address(kept)
        return Node(self.count, desc, ones, kind, kept)

    def op(self, kind: int, *attributes: tuple[int, int, list[Any]], **places: Any) -> None:
        parts = [(int(name[1:]), DESCRIPTOR, [node.place]) for name, node in places.items() if node]
        self.ops.append(self.desc(kind, *attributes, *parts))

    def pw(
        self,
        mode: int,
        y: Node,
        x: Node,
        b: Node | None = None,
        t: Node | None = None,
        precision: int = FLOAT,
        settings: dict[int, float] | None = None,
        **factors: float,
    ) -> Node:
        numbers = [(name, DOUBLE_TYPE, [value]) for name, value in (settings or {}).items() if name != 9]
        axis = [(9, INT64, [int(settings[9])])] if settings and 9 in settings else []
        desc = self.desc(POINTWISE, (0, PW_MODE, [mode]), (1, DATA_TYPE, [precision]), *numbers, *axis)
        scaled = [({"alpha": 754, "beta": 755}[name], DOUBLE_TYPE, [value]) for name, value in factors.items()]
        back = 200 <= mode < 300
        names = {"x": 757, "b": 751, "y": 756} if back else {"x": 751, "b": 752, "y": 753}
        places = {f"_{names[k]}": v for k, v in {"x": x, "b": b, "y": y}.items()}
        self.op(OPERATION_POINTWISE, (750, DESCRIPTOR, [desc]), *scaled, **places, _758=t)
        return y

    def matmul(self, a: Node, b: Node, c: Node, *lengths: Node | None) -> Node:
        desc = self.desc(MATMUL_DESC, (1500, DATA_TYPE, [FLOAT]))
        named = {f"_{1525 + i}": length for i, length in enumerate(lengths)}
        self.op(MATMUL, (1523, DESCRIPTOR, [desc]), _1520=a, _1521=b, _1522=c, **named)
        return c

    def reduce(self, operation: int, x: Node, y: Node) -> Node:
        desc = self.desc(REDUCTION_DESC, (1600, 18, [operation]), (1601, DATA_TYPE, [FLOAT]))
        self.op(REDUCTION, (1612, DESCRIPTOR, [desc]), _1610=x, _1611=y)
        return y

    def go(self) -> None:
        self.run_graph(self.graph(*self.ops), self.used)

    def refused(self, what: str) -> None:
        graph = self.graph(*self.ops)
        self.client.check(f"{what}: no engine", self.whole(graph, 802) == 0)
        self.desc(4, (201, DESCRIPTOR, [graph]), answer=self.not_supported)

    def right(self, what: str, node: Node, exact: Array, length: int = 1) -> None:
        whole = node.kind not in ERROR
        exact = exact.astype(np.float64)
        limit = 0.0 if whole else ERROR[node.kind] * (1 + length**0.5) * max(1.0, float(np.nanmax(abs(exact))))
        found = node.now()
        good = found.shape == exact.shape and np.allclose(found, exact, rtol=0, atol=limit, equal_nan=True)
        error = abs(found - exact).max() if found.shape == exact.shape else found.shape
        self.client.check(f"{what}: error {error}, limit {limit}", good)

    # ---- what is checked ----

    def functions(self) -> None:
        draw = self.client.draw
        for mode, function in ONE.items():
            for kind in (FLOAT, HALF) if mode == IDENTITY else (FLOAT,):
                self.begin()
                values = draw.uniform(-3, 3, (2, 3, 5, 7)) / (2.5 if mode == TAN else 1)
                x = self.node(abs(values) if mode in POSITIVE else values, kind)
                y = self.pw(mode, self.out(2, 3, 5, 7, kind=kind), x)
                self.go()
                self.right(f"function {mode}", y, function(x.now()), 4 if mode in (TAN, 22, 17) else 1)
        for mode, two in TWO.items():
            self.begin()
            whole = mode >= 300
            x, b = (
                self.node(np.round(draw.uniform(-2, 2, s))) if whole else self.node(draw.uniform(-2, 2, s))
                for s in ((2, 3, 5, 7), (2, 3, 5, 7) if 200 <= mode < 300 else (1, 3, 1, 7))
            )
            y = self.pw(mode, self.out(2, 3, 5, 7), x, b)
            self.go()
            self.right(f"function {mode} of two", y, two(x.now(), b.now()), 9)
        self.edges()

    def edges(self) -> None:
        """Infinite numbers, NaN and large ones."""
        special = np.array([-np.inf, np.inf, np.nan, -200.0, 200.0, 0.0, -0.0, 88.5])
        expected = {
            EXP: np.exp(np.where(special == 200, np.inf, special)),
            100: np.where(np.isnan(special), np.nan, np.maximum(special, 0)),
            101: np.tanh(special),
            102: sigmoid(special),
            20: erf(special),
            SUB: special - 1,
        }
        for mode, exact in expected.items():
            self.begin()
            one = self.value(1.0, 2)
            y = self.pw(mode, self.out(1, 8), self.node(special[None]), one if mode == SUB else None)
            self.go()
            found = y.now()[0]
            good = np.allclose(found, exact, rtol=1e-4, equal_nan=True)
            self.client.check(f"function {mode} of infinite numbers and NaN: {found.tolist()}", good)
        self.begin()
        leaky = {3: 0.0, 4: 6.0, 5: 0.1}
        x = self.node(self.client.draw.uniform(-9, 9, (4, 9)))
        y = self.pw(100, self.out(4, 9), x, settings=leaky)
        dx = self.pw(200, self.out(4, 9), x, x, settings=leaky)
        z = self.pw(103, self.out(4, 9), x, settings={6: 0.5})
        scaled = self.pw(ADD, self.out(4, 9), x, x, alpha=2.0, beta=-0.5)
        self.go()
        v = x.now()
        self.right("ReLU with slope and limit", y, np.where(v < 0, 0.1 * v, np.minimum(v, 6)))
        self.right("its derivative", dx, v * np.where(v > 6, 0, np.where(v > 0, 1, 0.1)), 9)
        self.right("ELU with a factor", z, np.where(v > 0, v, 0.5 * (np.exp(v) - 1)))
        self.right("a sum with factors", scaled, 1.5 * v, 9)

    def types(self) -> None:
        """What a chain reads and writes may be of several types, in several orders; what is between is f32."""
        draw = self.client.draw
        for kind in (FLOAT, DOUBLE, HALF, BFLOAT16, INT8, INT32, INT64_DATA, UINT8):
            self.begin()
            values = draw.integers(1, 9, (2, 4, 3, 5)).astype(float)
            x, b = self.node(values, kind, (0, 2, 3, 1)), self.node(draw.uniform(-1, 1, (1, 4, 1, 1)))
            between = self.pw(MUL, self.virtual(2, 4, 3, 5), x, b)
            y, same = self.out(2, 4, 3, 5, kind=HALF), self.out(2, 4, 3, 5, kind=kind, order=(3, 0, 1, 2))
            self.pw(SUB, y, between, b)
            self.pw(IDENTITY, same, x)
            self.go()
            self.right(f"type {kind}", y, x.now() * b.now() - b.now(), 9)
            self.right(f"type {kind}, another order", same, values)
        for kind, values in ((INT32, np.array([[2**30 + 1, -5]])), (INT64_DATA, np.array([[2**40 + 1, -5]]))):
            self.begin()
            x = self.node(values, kind)
            y = self.pw(ADD, self.out(1, 2, kind=kind), x, x, precision=kind)
            self.pw(MUL, z := self.out(1, 2, kind=INT64_DATA), x, x, precision=INT64_DATA)
            self.go()
            wide = values.astype(np.int64)
            self.same("whole numbers", y.at.now().ravel(), (wide + wide).astype(DATA[kind]).ravel())
            self.same("products of whole numbers", z.at.now().ravel(), (wide * wide).ravel())
        self.begin()
        y = self.pw(IDENTITY, self.out(1, 5, kind=INT8), self.node(np.array([[300.0, -300.0, 2.5, -0.4, 1.6]])))
        self.go()
        self.same("saturated", y.at.now().ravel(), np.array([127, -128, 2, 0, 2], np.int8))
        self.begin()
        x, b = self.node(draw.uniform(-1, 1, (3, 4)), DOUBLE), self.node(draw.uniform(1, 2, (3, 4)), DOUBLE)
        y = self.pw(6, self.out(3, 4, kind=DOUBLE), x, b)
        self.go()
        self.right("f64", y, x.now() / b.now())
        self.indices()

    def indices(self) -> None:
        """The mask of attention from single operations, whose results are true and false."""
        self.begin()
        shape = (2, 1, 5, 6)
        x = self.node(self.client.draw.uniform(-1, 1, shape))
        row = self.pw(GEN_INDEX, self.virtual(*shape, kind=INT32), x, settings={9: 2})
        column = self.pw(GEN_INDEX, self.virtual(*shape, kind=INT32), x, settings={9: 3})
        length = self.node(np.array([4, 6])[:, None, None, None], INT32)
        causal = self.pw(GREATER_EQUAL, self.virtual(*shape, kind=BIT), row, column, precision=BIT)
        short = self.pw(LESS, self.virtual(*shape, kind=BIT), column, length, precision=BIT)
        both = self.pw(400, self.virtual(*shape, kind=BIT), causal, short, precision=BIT)
        y = self.pw(SELECT, self.out(*shape), x, self.value(-np.inf, 4), both)
        self.pw(402, seen := self.out(*shape, kind=BYTE_BOOLEAN), both)
        self.go()
        r, c = np.indices(shape)[2:]
        inside = (r >= c) & (c < np.array([4, 6])[:, None, None, None])
        self.same("masked", y.now(), np.where(inside, x.now(), -np.inf))
        self.same("not inside", seen.now(), (~inside).astype(float))

    def sums(self) -> None:
        draw = self.client.draw
        for operation, function in SUMS.items():
            for axes in ((3,), (1,), (0, 2, 3), (0, 1, 2, 3), ()):
                self.begin()
                values = draw.uniform(0.9, 1.1, (2, 3, 9, 40)) * draw.choice([-1, 1], (2, 3, 9, 40))
                x = self.node(values, order=(0, 2, 3, 1))
                y = self.reduce(operation, x, self.out(*(1 if d in axes else n for d, n in enumerate(values.shape))))
                self.go()
                exact = function(x.now(), axis=axes, keepdims=True) if axes else abs(x.now())
                if not axes and operation in (0, 1, 2, 3, 5, 8):
                    exact = x.now()
                self.right(f"sum {operation} over {axes}", y, exact, 200)
        for kind, into in ((HALF, HALF), (BFLOAT16, FLOAT), (INT32, INT32), (DOUBLE, DOUBLE)):
            self.begin()
            x = self.node(np.round(draw.uniform(-9, 9, (3, 700))), kind)
            y = self.reduce(SUM_ADD, x, self.out(3, 1, kind=into))
            self.go()
            self.right(f"a sum of type {kind}", y, x.now().sum(1, keepdims=True), 30)

    def products(self) -> None:
        draw = self.client.draw
        orders: tuple[tuple[int, ...], ...] = ((0, 1, 2), (0, 2, 1), (2, 0, 1))
        kinds = ((FLOAT, FLOAT), (HALF, HALF), (HALF, FLOAT), (BFLOAT16, BFLOAT16), (DOUBLE, DOUBLE), (FLOAT, HALF))
        for kind, into in kinds:
            for order in orders if kind == FLOAT else orders[:1]:
                self.begin()
                a, b = (
                    self.node(draw.uniform(-1, 1, (3, 5, 7)), kind, order),
                    self.node(draw.uniform(-1, 1, (3, 7, 4)), kind),
                )
                c = self.matmul(a, b, self.out(3, 5, 4, kind=into, order=order))
                self.go()
                self.right(f"a product of {kind} in {into} {order}", c, a.now() @ b.now(), 7)
        self.begin()
        a, b = self.node(draw.integers(-5, 5, (1, 8, 16)), INT8), self.node(draw.integers(-5, 5, (1, 16, 8)), INT8)
        c = self.matmul(a, b, self.out(1, 8, 8, kind=INT32))
        self.go()
        self.right("a product of bytes", c, a.now() @ b.now())
        for shape in ((2, 6, 7, 4), (1, 6, 7, 4), (2, 1, 7, 4), (2, 3, 7, 4), (1, 1, 7, 4)):  # of fewer matrices
            self.begin()
            a, b = (
                self.node(draw.uniform(-1, 1, (2, 6, 5, 7)), order=(0, 2, 1, 3)),
                self.node(draw.uniform(-1, 1, shape)),
            )
            c = self.matmul(a, b, self.out(2, 6, 5, 4, order=(0, 2, 1, 3)))
            self.go()
            other = np.repeat(np.repeat(b.now(), 2 // shape[0], 0), 6 // shape[1], 1)
            self.right(f"a product with a batch of {shape[:2]}", c, a.now() @ other, 7)
        self.begin()  # of several types, with what is done before and after
        a, b = self.node(draw.uniform(-1, 1, (2, 5, 7)), INT8), self.node(draw.uniform(-1, 1, (2, 7, 4)), HALF)
        bias = self.node(draw.uniform(-1, 1, (1, 1, 4)), HALF)
        half = self.pw(IDENTITY, self.virtual(2, 5, 7, kind=HALF), a)
        summed = self.pw(ADD, self.virtual(2, 5, 4), self.matmul(half, b, self.virtual(2, 5, 4)), bias)
        y = self.pw(104, self.out(2, 5, 4, kind=HALF), summed)
        self.go()
        self.right("a product with bias and GELU", y, ONE[104](a.now() @ b.now() + bias.now()), 9)
        self.lengths()

    def lengths(self) -> None:
        """Rows, columns and terms beyond lengths are 0, whatever is there."""
        self.begin()
        draw = self.client.draw
        values = [draw.uniform(-1, 1, s) for s in ((2, 5, 7), (2, 7, 4))]
        m, n, k = ([3, 5], [4, 2], [6, 7])
        for i in range(2):
            values[0][i, :, k[i] :] = np.nan
            values[1][i, k[i] :] = np.nan
        a, b = (self.node(v) for v in values)
        c = self.matmul(a, b, self.out(2, 5, 4), *(self.node(np.array(x)[:, None, None], INT32) for x in (m, n, k)))
        self.go()
        exact = np.zeros((2, 5, 4))
        for i in range(2):
            exact[i, : m[i], : n[i]] = a.now()[i, : m[i], : k[i]] @ b.now()[i, : k[i], : n[i]]
        self.right("a product with lengths", c, exact, 7)
