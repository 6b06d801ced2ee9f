"""cuDNN's graph API: softmax, masks, attention, what only moves numbers; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cudnn_chains import (
    ADD,
    BAND_MASK,
    BIT,
    CONCAT,
    EXP,
    GREATER_EQUAL,
    LOG,
    MATMUL_DESC,
    MUL,
    RESHAPE,
    SLICE,
    SOFTMAX,
    SUB,
    SUM_ADD,
    SUM_MAX,
    TRANSPOSE,
    Node,
)
from tests.libmap.cudnn_graphs import DESCRIPTOR, DOUBLE_TYPE, HANDLE, INT64, POINTER, TANH, VIRTUAL
from tests.libmap.cudnn_norm_graphs import EPSILON, GROUP, NORM, NORM_MODE, NormChains
from tests.libmap.nets import BFLOAT16, DOUBLE, FLOAT, HALF, INT32

DIV, GREATER, PW_TYPE, RESHAPE_MODE = 6, 302, 14, 31


def _softmax(x: Array) -> tuple[Array, Array]:
    """And the logarithm of its sums."""
    most = x.max(-1, keepdims=True)
    powers = np.exp(x - most)
    total = powers.sum(-1, keepdims=True)
    return powers / total, most + np.log(total)


class Attention(NormChains):
    # ---- what only moves numbers ----

    def movement(self) -> None:
        draw = self.client.draw
        for kind in (FLOAT, HALF):
            self.begin()
            x = self.node(draw.uniform(-1, 1, (2, 3, 4, 5)), kind, (0, 2, 3, 1))
            rows, moved, part = (
                self.out(6, 20, kind=kind),
                self.out(5, 2, 3, 4, kind=kind),
                self.out(1, 3, 2, 3, kind=kind),
            )
            both = self.out(2, 7, 4, 5, kind=kind, order=(3, 2, 1, 0))
            self.op(RESHAPE, (2202, RESHAPE_MODE, [1]), _2200=x, _2201=rows)
            self.op(TRANSPOSE, (3202, INT64, [3, 0, 1, 2]), _3200=x, _3201=moved)
            self.op(
                SLICE,
                (3302, INT64, [1, 0, 0, 1]),
                (3303, INT64, [2, 3, 3, 4]),
                (3304, INT64, [1, 1, 2, 1]),
                _3300=x,
                _3301=part,
            )
            other = self.node(draw.uniform(-1, 1, (2, 4, 4, 5)), kind)
            self.op(CONCAT, (1800, INT64, [1]), (1801, DESCRIPTOR, [x.place, other.place]), _1803=both)
            self.go()
            v = x.now()
            self.same("reshaped", rows.now(), v.reshape(6, 20))
            self.same("transposed", moved.now(), v.transpose(3, 0, 1, 2))
            self.same("a slice", part.now(), v[1:2, :, 0:3:2, 1:4])
            self.same("concatenated", both.now(), np.concatenate([v, other.now()], 1))
        self.begin()
        x, view = self.node(draw.uniform(-1, 1, (6, 4))), self.out(4, 3, 2)
        self.op(RESHAPE, _2200=x, _2201=view)
        self.go()
        self.same("the same memory", view.now(), x.now().reshape(4, 3, 2))

    # ---- softmax and attention ----

    def softmaxes(self) -> None:
        draw = self.client.draw
        for kind in (FLOAT, HALF):
            self.begin()
            values = draw.uniform(-5, 5, (2, 3, 4, 70))
            values[0, 0, 0, :60] = -np.inf
            x, y = self.node(values, kind), self.out(2, 3, 4, 70, kind=kind)
            stats, most, total = (self.out(2, 3, 4, 1) for _ in range(3))
            self.op(SOFTMAX, _3100=x, _3101=y, _3102=stats, _3103=most, _3104=total)
            self.go()
            exact, logarithm = _softmax(x.now())
            self.right(f"softmax of {kind}", y, exact)
            self.right("its logarithm", stats, logarithm, 4)
            self.right("the largest", most, x.now().max(-1, keepdims=True))
            self.right("the sum", total, np.exp(x.now() - x.now().max(-1, keepdims=True)).sum(-1, keepdims=True), 20)
        self.begin()
        x, sink = self.node(draw.uniform(-5, 5, (1, 2, 3, 9))), self.node(draw.uniform(-5, 5, (1, 2, 1, 1)))
        self.op(SOFTMAX, _3100=x, _3101=(y := self.out(1, 2, 3, 9)), _3105=sink)
        self.op(SOFTMAX, _3100=self.node(np.full((1, 1, 2, 5), -np.inf)), _3101=(none := self.out(1, 1, 2, 5)))
        self.go()
        more = np.concatenate([x.now(), np.broadcast_to(sink.now(), (1, 2, 3, 1))], -1)
        self.right("softmax with a sink", y, _softmax(more)[0][..., :-1])
        self.same("a row without anything", none.now(), np.zeros((1, 1, 2, 5)))
        self.begin()
        self.op(SOFTMAX, _3100=self.node(np.array([[[[1.0, np.inf, 2.0]]]])), _3101=(lost := self.out(1, 1, 1, 3)))
        self.go()
        self.client.check("a row with infinity is NaN", np.isnan(lost.now()).all())

    def attention(self) -> None:
        """As cudnn-frontend builds it: products, a factor, a mask, softmax of single operations or as one; with fewer
        heads of keys than of queries."""
        for kind, heads, one in ((HALF, 4, True), (HALF, 2, False), (BFLOAT16, 1, True), (FLOAT, 4, False)):
            draw, b, h, q, k, d = self.client.draw, 2, 4, 5, 7, 8
            self.begin()
            queries = self.node(draw.uniform(-2, 2, (b, h, q, d)), kind, (0, 2, 1, 3))
            keys = self.node(draw.uniform(-2, 2, (b, heads, d, k)), kind, (0, 3, 1, 2))  # transposed by its strides
            values = self.node(draw.uniform(-2, 2, (b, heads, k, d)), kind, (0, 2, 1, 3))
            output, stats = self.out(b, h, q, d, kind=kind, order=(0, 2, 1, 3)), self.out(b, h, q, 1)
            full = (b, h, q, k)
            scaled = self.pw(
                MUL, self.virtual(*full), self.matmul(queries, keys, self.virtual(*full)), self.value(0.3, 4)
            )
            masked = self.virtual(*full)
            self.op(
                BAND_MASK,
                (3007, PW_TYPE, [GREATER_EQUAL]),
                _3000=scaled,
                _3004=self.value(2, 4, INT32),
                _3005=self.value(-np.inf, 4),
                _3006=masked,
            )
            shares = self.virtual(*full, kind=kind)
            if one:
                self.op(SOFTMAX, _3100=masked, _3101=shares, _3102=stats)
            else:
                self.by_steps(masked, shares, stats)
            self.matmul(shares, values, output)
            self.go()
            each = h // heads
            scores = 0.3 * queries.now() @ np.repeat(keys.now(), each, 1)
            row, column = np.indices((q, k))
            exact, logarithm = _softmax(np.where(row + 2 >= column, scores, -np.inf))
            what = f"attention of {kind}, {heads} heads of keys"
            self.right(what, output, exact @ np.repeat(values.now(), each, 1), 9)
            self.right(f"{what}: statistics", stats, logarithm, 9)
        self.masks()

    def as_one(self) -> None:
        """Attention as one operation, with lengths, and with a graph for what is done with the products."""
        for lengths, inner in ((False, False), (True, False), (False, True)):
            draw, b, h, q, k, d = self.client.draw, 2, 2, 5, 7, 8
            self.begin()
            queries, keys, values = (self.node(draw.uniform(-2, 2, (b, h, s, d)), HALF) for s in (q, k, k))
            output, stats, full = self.out(b, h, q, d, kind=HALF), self.out(b, h, q, 1), (b, h, q, k)
            given: dict[str, Node] = {"_2805": self.value(0.3, 4)}
            attributes: list[tuple[int, int, list[Any]]] = []
            q_lens, k_lens = (np.array(lens)[:, None, None, None] for lens in ((3, 5), (7, 4)))
            if lengths:
                given |= {"_2809": self.node(q_lens, INT32), "_2810": self.node(k_lens, INT32), "_2804": stats}
            else:
                softmax = self.desc(SOFTMAX, *((name, DESCRIPTOR, [node.place]) for name, node in (
                    (3100, self.virtual(*full)), (3101, self.virtual(*full)), (3102, stats))))  # fmt: skip
                attributes.append((2814, DESCRIPTOR, [softmax]))
            bias = self.node(draw.uniform(-2, 2, (1, h, q, k)))
            if inner:
                before, after, outer = self.virtual(*full), self.virtual(*full), self.ops
                self.ops = []
                self.pw(ADD, after, before, bias)
                subgraph, self.ops = self.graph(*self.ops), outer
                uids = ((name, INT64, [node.number + VIRTUAL]) for name, node in ((2812, before), (2813, after)))
                attributes += [(2811, DESCRIPTOR, [subgraph]), *uids]
            self.op(41, *attributes, _2800=queries, _2801=keys, _2802=values, _2803=output, **given)
            self.go()
            scores = 0.3 * queries.now() @ keys.now().swapaxes(-1, -2) + (bias.now() if inner else 0)
            columns, rows = np.arange(k), np.arange(q)[:, None]
            exact, logarithm = _softmax(np.where(columns < k_lens if lengths else True, scores, -np.inf))
            alive = rows < q_lens if lengths else np.array(True)
            what = f"attention as one{', lengths' * lengths}{', a graph' * inner}"
            self.right(what, output, np.where(alive, exact @ values.now(), 0), 9)
            self.right(f"{what}: statistics", stats, logarithm, 9)

    def by_steps(self, x: Node, y: Node, stats: Node) -> None:
        row = (*x.shape[:-1], 1)
        most = self.reduce(SUM_MAX, x, self.virtual(*row))
        powers = self.pw(EXP, self.virtual(*x.shape), self.pw(SUB, self.virtual(*x.shape), x, most))
        total = self.reduce(SUM_ADD, powers, self.virtual(*row))
        self.pw(ADD, stats, most, self.pw(LOG, self.virtual(*row), total))
        self.pw(DIV, y, powers, total)

    def masks(self) -> None:
        """Left and right bounds, with lengths."""
        shape, row, column = (2, 1, 5, 6), *np.indices((5, 6))
        queries, keys = np.array([3, 5])[:, None, None, None], np.array([6, 4])[:, None, None, None]
        cases: dict[str, tuple[dict[str, Any], int, Array]] = {
            "right": ({}, GREATER_EQUAL, row >= column),
            "right, with lengths": ({"_3001": keys, "_3002": queries}, GREATER_EQUAL, row + keys - queries >= column),
            "left": ({"_3003": 2}, GREATER, column + 2 > row),
            "left, with lengths": (
                {"_3003": 2, "_3001": keys, "_3002": queries},
                GREATER,
                column + 2 - keys + queries > row,
            ),
        }
        for what, (given, comparison, inside) in cases.items():
            self.begin()
            x, y = self.node(self.client.draw.uniform(-1, 1, shape)), self.out(*shape)
            nodes = {
                name: self.value(v, 4, INT32) if isinstance(v, int) else self.node(v, INT32)
                for name, v in given.items()
            }
            self.op(BAND_MASK, (3007, PW_TYPE, [comparison]), _3000=x, _3005=self.value(-9.0, 4), _3006=y, **nodes)
            self.go()
            self.right(f"mask, {what}", y, np.where(np.broadcast_to(inside, shape), x.now(), -9.0))

    def overlapping(self) -> None:
        """Strides of tensors between operations mean nothing: cudnn-frontend declares some that overlap."""
        self.begin()
        x, y = self.node(self.client.draw.uniform(-1, 1, (2, 3, 4, 5))), self.out(2, 3, 4, 5)
        between = Node(50, self.place(50 + VIRTUAL, x.shape, [60, 20, 15, 1], FLOAT), x.shape, FLOAT)
        self.pw(EXP, y, self.pw(ADD, between, x, x))
        self.go()
        self.right("between operations", y, np.exp(2 * x.now()), 4)

    def captured(self) -> None:
        """A plan's kernels and products in a graph of the driver, launched after its tensors have changed."""
        cuda, ffi, draw = self.client.cuda, self.ffi, self.client.draw
        self.begin()
        a, b, y = (
            self.node(draw.uniform(-1, 1, (2, 5, 7))),
            self.node(draw.uniform(-1, 1, (2, 7, 4))),
            self.out(2, 5, 4),
        )
        self.pw(TANH, y, self.matmul(a, b, self.virtual(2, 5, 4)))
        plan, pack, _ = self.planned(self.graph(*self.ops), self.used)
        stream, captured, made = ffi.new("cudaStream_t *"), ffi.new("void **"), ffi.new("void **")
        assert not cuda.cuStreamCreate(stream, 1)
        self.call("SetStream", stream[0])
        assert not cuda.cuStreamBeginCapture_v2(stream[0], 1)
        self.call("BackendExecute", plan, pack)
        assert not cuda.cuStreamEndCapture(stream[0], captured)
        assert not cuda.cuGraphInstantiateWithFlags(made, captured[0], 0)
        other = draw.uniform(-1, 1, a.at.values.shape).astype(np.float32)
        assert not cuda.cuMemcpyHtoD_v2(a.at.at[0], self.client.address(other), other.nbytes)
        assert not cuda.cuGraphLaunch(made[0], stream[0]) and not cuda.cuStreamSynchronize(stream[0])
        self.right("a captured plan", y, np.tanh(a.now() @ b.now()), 9)
        self.call("SetStream", ffi.NULL)

    # ---- what is refused ----

    def refusals(self) -> None:
        x = np.ones((2, 3, 4))
        for what in (
            "other sizes",
            "twice",
            "bits",
            "group",
            "no product",
            "padding",
            "precision",
            "missing",
            "empty",
            "negative",
            "power",
        ):
            self.begin()
            node, y = self.node(x), self.out(2, 3, 4)
            if what == "other sizes":
                self.pw(ADD, y, node, self.node(np.ones((2, 3, 2))))
            elif what == "twice":
                self.pw(ADD, self.pw(ADD, y, node, node), node, node)
            elif what == "bits":
                self.pw(GREATER, y, node, self.place_only(BIT, (2, 3, 4)))
            elif what == "group":
                self.op(NORM, (2000, NORM_MODE, [GROUP]), _2002=node, _2007=self.value(EPSILON, 3), _2013=y)
            elif what == "no product":
                self.matmul(node, node, y)
            elif what == "padding":
                desc = self.desc(MATMUL_DESC, (1503, DOUBLE_TYPE, [-1.0]))
                b = self.node(np.ones((2, 4, 4)))
                self.op(19, (1523, DESCRIPTOR, [desc]), _1520=node, _1521=b, _1522=y)
            elif what == "precision":  # there is no exponential function in f64
                self.pw(EXP, y, self.node(x, DOUBLE))
            elif what in ("empty", "negative"):
                shape, strides = ([0, 3, 4], [12, 4, 1]) if what == "empty" else ([2, 3, 4], [12, 4, -1])
                self.pw(ADD, Node(60, self.place(60, tuple(shape), strides, FLOAT), shape, FLOAT), node, node)
            elif what == "power":
                self.pw(8, y, node, node)
            else:
                self.op(SOFTMAX, _3100=node)
            self.refused(what)
            if what == "power":
                said = self.ffi.new("char[]", 200)
                self.client.library.cudnnGetLastErrorString(said, 200)
                self.same("its name", np.array(self.ffi.string(said)), np.array(b"CUDNN_POINTWISE_POW"))

    def place_only(self, kind: int, shape: tuple[int, ...]) -> Node:
        self.count += 1
        return Node(self.count, self.place(self.count, shape, [12, 4, 1], kind), shape, kind)

    def missing_pointer(self) -> None:
        """Execution without a pointer, and without a workspace."""
        self.begin()
        x, y = self.node(np.ones((2, 3))), self.out(2, 3)
        self.pw(EXP, y, self.pw(ADD, self.virtual(2, 3), x, x))
        graph = self.graph(*self.ops)
        engine = self.desc(2, (1300, DESCRIPTOR, [graph]), (1301, INT64, [0]))
        config = self.desc(3, (300, DESCRIPTOR, [engine]))
        plan = self.desc(5, (401, DESCRIPTOR, [config]), (400, HANDLE, [self.handle]))
        space = self.room(self.whole(plan, 402))
        pointers = [self.used[x.number], self.used[y.number]]
        for ids, given, room in ((1, 1, [space.pointer]), (2, 2, [])):
            parts = [(1003, POINTER, room)] if room else []
            pack = self.desc(16, (1000, INT64, [x.number, y.number][:ids]), (1001, POINTER, pointers[:given]), *parts)
            self.answers("a missing pointer", self.bad_param, "BackendExecute", self.handle, plan, pack)

    def check_all(self) -> None:
        for part in (
            self.functions,
            self.types,
            self.sums,
            self.products,
            self.movement,
            self.norms,
            self.softmaxes,
            self.attention,
            self.as_one,
            self.overlapping,
            self.captured,
            self.refusals,
            self.missing_pointer,
        ):
            part()
