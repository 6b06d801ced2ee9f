"""cuDNN's graph API with ragged tensors: samples of different lengths, one behind the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cudnn_attention import Attention, _softmax
from tests.libmap.cudnn_chains import ADD, DATA, EXP, MUL, Node
from tests.libmap.cudnn_graphs import DATA_TYPE, DESCRIPTOR, INT64
from tests.libmap.nets import FLOAT, HALF, INT32, stored

TENSOR, OFFSETS, MULTIPLIER = 17, 913, 914
GUARD = 77.0


class Ragged(Attention):
    """Tensors are (samples, heads, rows, columns); in memory, of each sample its own rows, each with all heads."""

    def tokens(self, lengths: Sequence[int], width: int, kind: int = INT32) -> Node:
        """Where samples begin, and the last one's end, in numbers."""
        made = self.node(np.zeros((len(lengths) + 1, 1, 1, 1)), kind)
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64) * width
        made.at = self.on(ends.astype(DATA[kind]))
        self.used[made.number] = made.at.pointer
        return made

    def ragged(self, values: Array, lengths: Sequence[int], kind: int, offsets: Node, unit: int = 0) -> Node:
        """A tensor with numbers; behind the last there is memory that nobody may write."""
        _, heads, rows, columns = values.shape
        parts = [values[i, :, :n].transpose(1, 0, 2).ravel() for i, n in enumerate(lengths)]
        memory = self.on(stored(np.concatenate([*parts, np.full(heads * rows * columns, GUARD)]), kind))
        self.count += 1
        more = [(MULTIPLIER, INT64, [unit])] if unit else []
        strides = [rows * heads * columns, columns, heads * columns, 1]
        place = self.desc(TENSOR, (901, DATA_TYPE, [kind]), (902, INT64, list(values.shape)), (903, INT64, strides),
                          (906, INT64, [self.count]), (OFFSETS, DESCRIPTOR, [offsets.place]), *more)  # fmt: skip
        self.used[self.count] = memory.pointer
        made = Node(self.count, place, values.shape, kind, memory)
        made.lengths = tuple(lengths)  # type: ignore[attr-defined]
        return made

    def rows_of(self, node: Node) -> Array:
        """With zeros behind each sample."""
        _, heads, _, columns = node.shape
        found, out, at = node.at.now().astype(np.float64), np.zeros(node.shape), 0
        for i, n in enumerate(node.lengths):  # type: ignore[attr-defined]
            out[i, :, :n] = found[at : at + n * heads * columns].reshape(n, heads, columns).transpose(1, 0, 2)
            at += n * heads * columns
        self.client.check("nothing behind the last sample", (found[at:] == GUARD).all())
        return out

    def fits(self, what: str, node: Node, exact: Array, length: int = 1) -> None:
        self.close(what, node.kind, self.rows_of(node), exact, length)

    def alive(self, lengths: Sequence[int], rows: int) -> Array:
        return (np.arange(rows) < np.array(lengths)[:, None])[:, None, :, None]

    def numbers_of(self) -> None:
        """Functions of ragged and other tensors; offsets of both types, and in units."""
        lengths, shape, draw = (3, 0, 5, 1), (4, 2, 5, 6), self.client.draw
        here = self.alive(lengths, 5)
        for kind, offset_kind, unit in ((FLOAT, INT32, 0), (HALF, 10, 0), (FLOAT, INT32, 12)):
            self.begin()
            offsets = self.tokens(lengths, 1 if unit else 12, offset_kind)
            x, y = (draw.uniform(-1, 1, shape).astype(DATA[kind]).astype(np.float64) for _ in "xy")
            a = self.ragged(x, lengths, kind, offsets, unit)
            b, plain = self.node(y, kind), self.out(*shape, kind=kind)
            out = self.ragged(np.zeros(shape), lengths, kind, offsets, unit)
            self.pw(ADD, plain, a, b)
            self.pw(EXP, out, self.pw(MUL, self.virtual(*shape), a, b))
            self.go()
            self.close("ragged and whole", kind, plain.now(), np.where(here, x, 0) + y)
            self.fits("a ragged result", out, np.where(here, np.exp(x * y), 0))

    def ragged_attention(self, one: bool, kind: int) -> None:
        """Queries and keys of different lengths; as one operation, or as several."""
        q_lens, k_lens, h, q, k, d = (3, 5), (7, 4), 2, 5, 7, 8
        draw, b = self.client.draw, len(q_lens)
        self.begin()
        q_at, k_at = self.tokens(q_lens, h * d), self.tokens(k_lens, h * d)
        stats_at = self.tokens(q_lens, h)
        values = [draw.uniform(-2, 2, (b, h, s, d)).astype(DATA[kind]).astype(np.float64) for s in (q, k, k)]
        given = [(values[0], q_lens, q_at), (values[1], k_lens, k_at), (values[2], k_lens, k_at)]
        queries, keys, numbers = (self.ragged(v, n, kind, at) for v, n, at in given)
        output = self.ragged(np.zeros((b, h, q, d)), q_lens, kind, q_at)
        stats = self.ragged(np.zeros((b, h, q, 1)), q_lens, FLOAT, stats_at)
        lens = [self.node(np.array(n)[:, None, None, None], INT32) for n in (q_lens, k_lens)]
        if one:
            self.op(41, _2800=queries, _2801=keys, _2802=numbers, _2803=output, _2804=stats, _2805=self.value(0.3, 4),
                    _2809=lens[0], _2810=lens[1])  # fmt: skip
            scores = np.where(
                self.alive(k_lens, k).swapaxes(-1, -2), 0.3 * values[0] @ values[1].swapaxes(-1, -2), -np.inf
            )
        else:
            full = (b, h, q, k)
            turned = self.turned(keys, k_at)
            scaled = self.pw(MUL, self.virtual(*full), self.matmul(queries, turned, self.virtual(*full)),
                             self.value(0.3, 4))  # fmt: skip
            shares = self.virtual(*full, kind=kind)
            self.by_steps(scaled, shares, stats)
            self.matmul(shares, numbers, output)
            inside = self.alive(k_lens, k)
            scores = 0.3 * values[0] @ np.where(inside, values[1], 0).swapaxes(-1, -2)
            values[2] = np.where(inside, values[2], 0)
        self.go()
        exact, logarithm = _softmax(scores)
        here, what = self.alive(q_lens, q), f"ragged attention of {kind}, {'one' if one else 'several'}"
        self.fits(what, output, np.where(here, exact @ values[2], 0), 9)
        self.fits(f"{what}: statistics", stats, np.where(here, logarithm, 0), 9)

    def turned(self, node: Node, offsets: Node) -> Node:
        """The same tensor with its last dimensions exchanged."""
        samples, heads, rows, columns = node.shape
        self.count += 1
        strides = [rows * heads * columns, columns, 1, heads * columns]
        place = self.desc(TENSOR, (901, DATA_TYPE, [node.kind]), (902, INT64, [samples, heads, columns, rows]),
                          (903, INT64, strides), (906, INT64, [self.count]),
                          (OFFSETS, DESCRIPTOR, [offsets.place]))  # fmt: skip
        self.used[self.count] = node.at.pointer
        return Node(self.count, place, (samples, heads, columns, rows), node.kind, node.at)

    def wrong_offsets(self) -> None:
        x = np.ones((2, 2, 3, 4))
        for what, lengths, kind in (("a sample too many", (1, 2, 3), INT32), ("numbers", (1, 2), FLOAT)):
            self.begin()
            offsets = self.tokens(lengths, 8, kind)
            self.pw(ADD, self.out(2, 2, 3, 4), self.ragged(x, (1, 2), FLOAT, offsets), self.node(x))
            self.refused(what)

    def check_all(self) -> None:
        self.numbers_of()
        for kind in (HALF, FLOAT):
            for one in (True, False):
                self.ragged_attention(one, kind)
        self.wrong_offsets()
