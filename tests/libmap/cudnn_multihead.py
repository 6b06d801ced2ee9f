"""cuDNN's multi-head attention in three passes, compared with numpy in double precision; gradients with differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.nets import DOUBLE, FLOAT, HALF, INT8, MARGIN, NUMPY, Nets

TIME, BATCH, BEAM, VECTOR = range(4)
ONE_TO_ONE, BIASES = 1, 2
ADD, SET = range(2)
KINDS = range(8)  # matrices of queries, keys, values and results, then biases


@dataclass
class Case:
    """sizes: of queries, keys, values; projected: those and the result, 0: not; axes: the order in memory."""

    kind: int
    mode: int
    heads: int
    sizes: tuple[int, int, int]
    projected: tuple[int, int, int, int]
    batch: int = 2
    beams: int = 2
    queries: int = 3
    keys: int = 4
    axes: tuple[int, ...] = (TIME, BATCH, BEAM, VECTOR)
    scale: float = 0.7

    @property
    def key_beams(self) -> int:
        return self.beams if self.mode & ONE_TO_ONE else 1

    def length(self, operand: int) -> int:
        if self.projected[operand]:
            return self.projected[operand]
        return self.heads * self.length(2) if operand == 3 else self.sizes[operand]

    def matrix(self, kind: int) -> tuple[int, int, int]:
        """Heads, rows and columns of a matrix or bias."""
        operand = kind % 4
        if not self.projected[operand] or (kind > 3 and not self.mode & BIASES):
            return (0, 0, 0)
        if kind > 3:
            return (1 if operand == 3 else self.heads, self.projected[operand], 1)
        return (self.heads, self.projected[operand], self.length(2) if operand == 3 else self.sizes[operand])

    def shape(self, operand: int) -> tuple[int, int, int, int]:
        """As numpy has it: batch, beam, time, vector."""
        whose = operand in (0, 3)
        beams = self.beams if whose else self.key_beams
        return (
            self.batch,
            beams,
            self.queries if whose else self.keys,
            self.length(3) if operand == 3 else self.sizes[operand],
        )


def attend(
    case: Case, x: list[Array], w: list[Array], ends: tuple[Array, Array], windows: tuple[Array, Array]
) -> Array:
    """The results; zeros behind the ends of queries."""
    heads = []
    projected = []
    for operand in range(3):
        seen = np.repeat(x[operand], case.beams // x[operand].shape[1], axis=1)
        if w[operand].size:
            made = np.einsum("hrc,nbtc->hnbtr", w[operand], seen)
            made = made + (w[4 + operand][:, None, None, None, :, 0] if w[4 + operand].size else 0)
        else:
            made = np.broadcast_to(seen, (case.heads, *seen.shape))
        projected.append(made)
    q, k, v = projected
    scores = case.scale * np.einsum("hnbir,hnbjr->hnbij", q, k)
    key, time = np.arange(case.keys), np.arange(case.queries)
    key_ends = np.repeat(ends[1], case.beams // case.key_beams, axis=1)
    inside = (key >= windows[0][:, None]) & (key < windows[1][:, None]) & (key < key_ends[:, :, None, None])
    shares = np.where(inside, np.exp(np.where(inside, scores, 0)), 0)
    total = shares.sum(-1, keepdims=True)
    shares = shares / np.where(total == 0, 1, total)
    heads = np.einsum("hnbij,hnbjr->nbihr", shares, v)
    if w[3].size:
        out = np.einsum("hrc,nbihc->nbir", w[3], heads) + (w[7][0, :, 0] if w[7].size else 0)
    else:
        out = heads.reshape(*heads.shape[:3], -1)
    return np.asarray(np.where((time < ends[0][:, :, None])[..., None], out, 0))


def differences(of: Callable[[], float], at: Array) -> Array:
    """The gradient of a function by what is in an array."""
    out = np.zeros_like(at)
    for place in np.ndindex(*at.shape):
        kept = at[place]
        values = []
        for step in (1e-5, -1e-5):
            at[place] = kept + step
            values.append(of())
        at[place], out[place] = kept, (values[0] - values[1]) / 2e-5
    return out


class Multihead(Nets):
    def series(self, case: Case, operand: int, ends: Array) -> Any:
        desc = self.new("cudnnSeqDataDescriptor_t", "CreateSeqDataDescriptor")
        batch, beams, time, vector = case.shape(operand)
        sizes = np.zeros(4, np.int32)
        sizes[[TIME, BATCH, BEAM, VECTOR]] = time, batch, beams, vector
        self.ok("SetSeqDataDescriptor", desc, case.kind, 4, sizes, np.array(case.axes, np.int32), ends.size,
                ends.astype(np.int32).ravel(), self.ffi.NULL)  # fmt: skip
        return desc

    def laid(self, case: Case, values: Array) -> Array:
        """batch, beam, time, vector in the order of memory."""
        return np.ascontiguousarray(
            values.transpose([{BATCH: 0, BEAM: 1, TIME: 2, VECTOR: 3}[axis] for axis in case.axes])
        )

    def read(self, case: Case, on: Device, shape: tuple[int, ...]) -> Array:
        order = [{BATCH: 0, BEAM: 1, TIME: 2, VECTOR: 3}[axis] for axis in case.axes]
        laid = on.now().reshape([shape[axis] for axis in order])
        return np.asarray(laid.transpose(np.argsort(order)).astype(np.float64))

    def attention(self, case: Case) -> tuple[Any, list[int]]:
        desc = self.new("cudnnAttnDescriptor_t", "CreateAttnDescriptor")
        compute = FLOAT if case.kind == HALF else case.kind
        null, most = self.ffi.NULL, (case.queries, case.keys, case.batch, case.beams)
        given = (
            case.mode,
            case.heads,
            case.scale,
            case.kind,
            compute,
            0,
            null,
            null,
            *case.sizes,
            *case.projected,
            *most,
        )
        self.ok("SetAttnDescriptor", desc, *given)
        sizes = [self.ffi.new("size_t *") for _ in range(3)]
        self.call("GetMultiHeadAttnBuffers", desc, *sizes)
        return desc, [size[0] for size in sizes]

    def placed(self, case: Case, desc: Any, size: int, memory: Array) -> list[Array]:
        """Where weights are in a copy of their memory, as the library says: views."""
        views = []
        for kind in KINDS:
            heads, rows, columns = case.matrix(kind)
            tensor, at = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor"), self.ffi.new("void **")
            self.call("GetMultiHeadAttnWeights", desc, kind, size, self.address(memory), tensor, at)
            if not heads:
                self.client.check(f"no weights {kind}", at[0] == self.ffi.NULL)
                views.append(np.zeros((0, 0, 0)))
                continue
            found = [self.ffi.new("int *"), self.ffi.new("int *"), np.zeros(3, np.int32), np.zeros(3, np.int32)]
            self.ok("GetTensorNdDescriptor", tensor, 3, *found)
            self.same(f"sizes of weights {kind}", found[2], np.array([heads, rows, columns]))
            start = int(self.ffi.cast("char *", at[0]) - self.ffi.cast("char *", self.address(memory)))
            strides = [int(n) * memory.itemsize for n in found[3]]
            views.append(
                np.lib.stride_tricks.as_strided(memory[start // memory.itemsize :], (heads, rows, columns), strides)
            )
            self.destroy("Tensor", tensor)
        return views

    def address(self, values: Array) -> Any:
        return self.client.address(values)

    def check(self, what: str, case: Case) -> None:
        draw, number = self.client.draw, NUMPY[case.kind]
        ends = (
            draw.integers(1, case.queries + 1, (case.batch, case.beams)),
            draw.integers(1, case.keys + 1, (case.batch, case.key_beams)),
        )
        ends[0][0, 0], ends[1][0, 0] = case.queries, case.keys
        desc, (weight_size, work_size, kept_size) = self.attention(case)
        memory = draw.uniform(-1, 1, weight_size // number().itemsize).astype(number)
        places = self.placed(case, desc, weight_size, memory)
        self.client.check(f"{what}: all weights", sum(part.size for part in places) == memory.size)
        weights = [part.astype(np.float64) for part in places]
        inputs = [draw.uniform(-1, 1, case.shape(operand)).astype(number) for operand in range(3)]
        dirty = [np.where(np.arange(part.shape[2])[:, None] < ends[operand > 0][:, :, None, None], part, np.nan)
                 for operand, part in enumerate(inputs)]  # fmt: skip
        series = [self.series(case, operand, ends[operand in (1, 2)]) for operand in range(4)]
        low, high = np.zeros(case.queries, np.int32), np.arange(2, case.queries + 2, dtype=np.int32)
        on = [self.on(self.laid(case, part.astype(number))) for part in dirty]
        lengths = [self.on(part.astype(np.int32)) for part in ends]
        rest = draw.uniform(-1, 1, case.shape(3)).astype(number)
        out = self.on(np.full(case.shape(3), MARGIN, number))
        given, work, kept = (
            self.on(memory if memory.size else np.zeros(1, number)),
            self.room(work_size),
            self.room(kept_size),
        )
        pairs = [part for one in zip(series[1:3], on[1:3], strict=True) for part in one]
        exact = [part.astype(np.float64) for part in inputs]
        expected = attend(case, exact, weights, ends, (low, high))
        inside = (np.arange(case.queries) < ends[0][:, :, None])[..., None]
        length = 4 * max(case.heads * case.length(2), *case.sizes)
        for now, residual, reserve in ((-1, None, kept), (-1, rest, None), (1, None, None)):
            after = (self.on(self.laid(case, rest)) if residual is not None else self.ffi.NULL, *pairs, series[3], out)
            last = (reserve, kept_size) if reserve else (self.ffi.NULL, 0)
            before = (desc, now, low, high, *lengths, series[0], on[0], *after)
            self.call("MultiHeadAttnForward", *before, weight_size, given, work_size, work, last[1], last[0])
            whole = expected + (rest.astype(np.float64) if residual is not None else 0)
            chosen = inside if now < 0 else inside & (np.arange(case.queries) == now)[:, None]
            found = self.read(case, out, case.shape(3))
            self.close(f"{what} {now}", case.kind, np.where(chosen, found, 0), np.where(chosen, whole, 0), length)
            if residual is None and now < 0:
                self.client.check(f"{what}: behind the ends", (np.where(inside, MARGIN, found) == MARGIN).all())
        self.back(
            what,
            case,
            desc,
            (exact, weights, ends, (low, high)),
            (series, on, lengths, given, (weight_size, work, work_size, kept, kept_size)),
            length,
        )

    def back(self, what: str, case: Case, desc: Any, numbers: Any, places: Any, length: int) -> None:
        exact, weights, ends, windows = numbers
        series, on, lengths, given, (weight_size, work, work_size, kept, kept_size) = places
        number = NUMPY[case.kind]
        slope = self.client.draw.uniform(-1, 1, case.shape(3)).astype(number)
        inside = (np.arange(case.queries) < ends[0][:, :, None])[..., None]
        dout = self.on(self.laid(case, np.where(inside, slope, np.nan).astype(number)))
        results = [self.on(np.zeros(case.shape(operand), number)) for operand in range(3)]
        rooms = (weight_size, given, work_size, work, kept_size, kept)
        middle = [part for operand in range(3) for part in (series[operand], results[operand], on[operand])]
        self.call("MultiHeadAttnBackwardData", desc, *windows, *lengths, series[3], dout, *middle, *rooms)

        def value() -> float:
            return float((attend(case, exact, weights, ends, windows) * slope).sum())

        for operand in range(3):
            expected = differences(value, exact[operand])
            found = self.read(case, results[operand], case.shape(operand))
            at = (np.arange(found.shape[2]) < ends[operand > 0][:, :, None])[..., None]
            kind = FLOAT if case.kind == DOUBLE else case.kind  # as exact as differences are
            self.close(f"{what}: gradient {operand}", kind, np.where(at, found, 0), np.where(at, expected, 0), length)
        if not weight_size:
            return
        before = self.client.draw.uniform(-1, 1, weight_size // number().itemsize).astype(number)
        pairs = [part for operand in range(3) for part in (series[operand], on[operand])]
        for mode in (SET, ADD):
            changed = self.on(before)
            self.call("MultiHeadAttnBackwardWeights", desc, mode, *pairs, series[3], dout, weight_size, given, changed,
                      work_size, work, kept_size, kept)  # fmt: skip
            found, old = (self.placed(case, desc, weight_size, part) for part in (changed.now(), before))
            for kind in KINDS:
                if weights[kind].size:
                    expected = differences(value, weights[kind]) + (old[kind].astype(np.float64) if mode == ADD else 0)
                    type_ = FLOAT if case.kind == DOUBLE else case.kind
                    self.close(
                        f"{what}: weights {kind} {mode}", type_, found[kind].astype(np.float64), expected, 4 * length
                    )

    def described(self) -> None:
        """Descriptors give back what they were given, and reject what is wrong."""
        null, bad = self.ffi.NULL, self.bad_param
        sizes, axes, lengths = (np.array(part, np.int32) for part in ([5, 2, 1, 3], [0, 1, 2, 3], [5, 4]))
        desc = self.new("cudnnSeqDataDescriptor_t", "CreateSeqDataDescriptor")
        self.ok("SetSeqDataDescriptor", desc, FLOAT, 4, sizes, axes, 2, lengths, null)
        kind, count, total = self.ffi.new("int *"), self.ffi.new("int *"), self.ffi.new("size_t *")
        found = [np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(2, np.int32)]
        self.ok("GetSeqDataDescriptor", desc, kind, count, 4, found[0], found[1], total, 2, found[2], null)
        self.client.check("a sequence", (kind[0], count[0], total[0]) == (FLOAT, 4, 2))
        for one, other in zip(found, (sizes, axes, lengths), strict=True):
            self.same("of a sequence", one, other)
        name = "SetSeqDataDescriptor"
        self.answers("an axis twice", bad, name, desc, FLOAT, 4, sizes, 0 * axes, 2, lengths, null)
        self.answers("lengths", bad, name, desc, FLOAT, 4, sizes, axes, 3, lengths, null)
        self.answers("too long", bad, name, desc, FLOAT, 4, sizes, axes, 2, lengths + 1, null)
        self.answers("vectors", self.not_supported, name, desc, FLOAT, 4, sizes, axes[::-1].copy(), 2, lengths, null)
        self.answers("a type", self.not_supported, name, desc, INT8, 4, sizes, axes, 2, lengths, null)
        self.answers("padding", self.not_supported, name, desc, FLOAT, 4, sizes, axes, 2, lengths, self.scalar("S", 0))
        attention = self.new("cudnnAttnDescriptor_t", "CreateAttnDescriptor")
        places = [self.ffi.new("size_t *") for _ in range(3)]
        self.answers("not set", bad, "GetMultiHeadAttnBuffers", self.handle, attention, *places)
        good = (3, 2, 0.5, FLOAT, FLOAT, 0, null, null, 4, 5, 6, 3, 3, 2, 7, 8, 9, 2, 1)
        self.ok("SetAttnDescriptor", attention, *good)
        kinds = ("unsigned", "int", "double", *["int"] * 3, *["cudnnDropoutDescriptor_t"] * 2, *["int"] * 11)
        read = [self.ffi.new(f"{one} *") for one in kinds]
        tensor = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor")
        self.ok("GetAttnDescriptor", attention, *read)
        self.client.check("attention", tuple(one[0] for one in read) == good)
        wrong = [
            ("a mode", 0, 4),
            ("no heads", 1, 0),
            ("a scale", 2, -1.0),
            ("a math", 5, 4),
            ("no dropout", 6, tensor),
        ]
        wrong += [("no size", 8, 0), ("keys of another length", 12, 4), ("no time", 15, 0)]
        for what, place, value in wrong:
            self.answers(what, bad, "SetAttnDescriptor", attention, *good[:place], value, *good[place + 1 :])
        self.answers("a type", self.not_supported, "SetAttnDescriptor", attention, *good[:3], INT8, *good[4:])
        self.answers("a precision", self.not_supported, "SetAttnDescriptor", attention, *good[:4], DOUBLE, *good[5:])
        tensor = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor")
        self.answers(
            "a kind", bad, "GetMultiHeadAttnWeights", self.handle, attention, 8, 1 << 20, null, tensor, places[0]
        )
        self.answers("small", bad, "GetMultiHeadAttnWeights", self.handle, attention, 0, 1, null, tensor, places[0])
        for what, one in (
            ("SeqData", desc),
            ("Attn", attention),
            ("Tensor", tensor),
            ("SeqData", null),
            ("Attn", null),
        ):
            self.destroy(what, one)

    def check_all(self) -> None:
        self.described()
        for kind in (FLOAT, DOUBLE, HALF):
            self.check(f"all projected {kind}", Case(kind, ONE_TO_ONE | BIASES, 2, (4, 5, 3), (3, 3, 2, 5)))
        self.check(
            "keys of all beams", Case(FLOAT, BIASES, 2, (4, 4, 4), (2, 2, 3, 0), axes=(BATCH, TIME, BEAM, VECTOR))
        )
        self.check("no projection", Case(FLOAT, 0, 2, (4, 4, 3), (0, 0, 0, 0), axes=(BEAM, BATCH, TIME, VECTOR)))
        self.check("some projections", Case(FLOAT, ONE_TO_ONE, 3, (4, 2, 5), (2, 0, 0, 4), beams=1, batch=3))
