"""cuDNN's recurrent networks, against a network in double precision and its differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import DOUBLE, FLOAT, HALF, NUMPY, Nets

RELU, TANH, LSTM, GRU = range(4)
GATES = {RELU: 1, TANH: 1, LSTM: 4, GRU: 3}
SEQ_UNPACKED, SEQ_PACKED, BATCH_UNPACKED = range(3)
NO_BIAS, SINGLE_BIAS, DOUBLE_BIAS = 0, 1, 2
INFERENCE, TRAINING = range(2)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class Network:
    cell: int
    layers: int
    both: bool
    inputs: int = 5
    hidden: int = 6
    biased: bool = True

    @property
    def directions(self) -> int:
        return 1 + self.both

    def step(self, w: Array, r: Array, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
        """w: the products of the input, r: those of the state, both with biases, by gates."""
        if self.cell == LSTM:
            i, f, g, o = (a + b for a, b in zip(w, r, strict=True))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        if self.cell == GRU:
            reset, update = sigmoid(w[0] + r[0]), sigmoid(w[1] + r[1])
            return (1 - update) * np.tanh(w[2] + reset * r[2]) + update * h, c
        return np.tanh(w[0] + r[0]) if self.cell == TANH else np.maximum(w[0] + r[0], 0), c

    def run(self, weights: Weights, x: Array, hx: Array, cx: Array, lengths: Sequence[int]) -> list[Array]:
        """y (time, batch, vector), with 0 where sequences have ended; the last states."""
        hy, cy = np.zeros_like(hx), np.zeros_like(cx)
        for layer in range(self.layers):
            out = np.zeros((*x.shape[:2], self.hidden * self.directions))
            for direction in range(self.directions):
                at = layer * self.directions + direction
                place = slice(direction * self.hidden, (direction + 1) * self.hidden)
                for b, length in enumerate(lengths):
                    h, c = hx[at, b], cx[at, b]
                    for t in reversed(range(length)) if direction else range(length):
                        w, r = weights.products(at, x[t, b], h)
                        h, c = self.step(w, r, x[t, b], h, c)
                        out[t, b, place] = h
                    hy[at, b], cy[at, b] = h, c
            x = out
        return [x, hy, cy]


@dataclass(frozen=True)
class Weights:
    """All of a network's numbers; views of them: by pseudo layer and gate, a matrix and a bias (or None)."""

    numbers: Array
    parts: dict[tuple[int, int], tuple[int, tuple[int, int], int | None]]
    gates: int

    def products(self, at: int, x: Array, h: Array) -> tuple[Array, Array]:
        made = []
        for gate in range(2 * self.gates):
            offset, (rows, columns), bias = self.parts[at, gate]
            product = self.numbers[offset : offset + rows * columns].reshape(rows, columns) @ (
                x if gate < self.gates else h
            )
            made.append(product + (0 if bias is None else self.numbers[bias : bias + rows]))
        return np.array(made[: self.gates]), np.array(made[self.gates :])


class Recurrent(Nets):
    def described(self, network: Network, kind: int) -> Any:
        desc = self.new("cudnnRNNDescriptor_t", "CreateRNNDescriptor")
        bias = DOUBLE_BIAS if network.biased else NO_BIAS
        given = (0, network.cell, bias, int(network.both), 0, kind, FLOAT, 0, network.inputs, network.hidden,
                 network.hidden, network.layers)  # fmt: skip
        ints = [self.ffi.new(f"{name} *") for name in self.kinds]
        dropout, flags = self.ffi.new("cudnnDropoutDescriptor_t *"), self.ffi.new("uint32_t *")
        unset = 1 if self.client.library.cudnnGetVersion() < 90000 else 1001
        self.answers("nothing is set", unset, "GetRNNDescriptor_v8", desc, *ints, dropout, flags)
        self.ok("SetRNNDescriptor_v8", desc, *given, self.ffi.NULL, 0)
        self.ok("GetRNNDescriptor_v8", desc, *ints, dropout, flags)
        self.client.check("what was set of a network", tuple(place[0] for place in ints) == given and not dropout[0])
        return desc

    #: Of what is set of a network, in order.
    kinds = (
        *("cudnnRNNAlgo_t", "cudnnRNNMode_t", "cudnnRNNBiasMode_t", "cudnnDirectionMode_t", "cudnnRNNInputMode_t"),
        *("cudnnDataType_t", "cudnnDataType_t", "cudnnMathType_t", "int32_t", "int32_t", "int32_t", "int32_t"),
    )

    def weights(self, network: Network, desc: Any, kind: int) -> tuple[Weights, Any, int]:
        """Random ones, also on the device."""
        size = self.ffi.new("size_t *")
        self.call("GetRNNWeightSpaceSize", desc, size)
        item = np.dtype(NUMPY[kind]).itemsize
        memory = self.client.on_device(np.zeros(size[0] // item, NUMPY[kind]))
        base, parts, taken = int(memory.at[0]), {}, np.zeros(size[0] // item, int)
        for at in range(network.layers * network.directions):
            for gate in range(2 * GATES[network.cell]):
                shapes = [self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor") for _ in range(2)]
                places = [self.ffi.new("void **") for _ in range(2)]
                self.call("GetRNNWeightParams", desc, at, size[0], memory, gate, shapes[0], places[0], shapes[1],
                          places[1])  # fmt: skip
                rows, columns = self.shape(shapes[0])
                offset, bias = ((int(self.ffi.cast("uintptr_t", p[0])) - base) // item for p in places)
                taken[offset : offset + rows * columns] += 1
                if network.biased:
                    self.client.check("a bias", self.shape(shapes[1]) == (rows, 1))
                    taken[bias : bias + rows] += 1
                else:
                    self.client.check("no bias", places[1][0] == self.ffi.NULL)
                parts[at, gate] = offset, (rows, columns), bias if network.biased else None
        self.client.check("each weight has its place", (taken == 1).all())
        values = (self.values(len(taken)) * 0.6).astype(NUMPY[kind])
        return Weights(values.astype(np.float64), parts, GATES[network.cell]), self.on(values), size[0]

    # The calls of a case; c: its arguments.

    def sizes(self, c: SimpleNamespace) -> tuple[int, int]:
        """Of the memory for work, and of that which is kept."""
        work, reserve = self.ffi.new("size_t *"), self.ffi.new("size_t *")
        self.call("GetRNNTempSpaceSizes", c.desc, c.mode, c.x_desc, work, reserve)
        return work[0], reserve[0]

    def forward(self, c: SimpleNamespace) -> None:
        self.call("RNNForward", c.desc, c.mode, self.ffi.NULL, c.x_desc, c.x, c.y_desc, c.y, c.h_desc, c.hx, c.hy,
                  c.c_desc, c.cx, c.cy, c.size, c.weights, c.work, c.space, c.reserve, c.kept)  # fmt: skip

    def backward(self, c: SimpleNamespace) -> None:
        none, memory = self.ffi.NULL, (c.work, c.space, c.reserve, c.kept)
        self.call("RNNBackwardData_v8", c.desc, none, c.y_desc, c.y, c.dy, c.x_desc, c.dx, c.h_desc, c.hx, c.dhy,
                  c.dhx, c.c_desc, c.cx, c.dcy, c.dcx, c.size, c.weights, *memory)  # fmt: skip
        self.call("RNNBackwardWeights_v8", c.desc, 0, none, c.x_desc, c.x, c.h_desc, c.hx, c.y_desc, c.y, c.size, c.dw,
                  *memory)  # fmt: skip

    def shape(self, desc: Any) -> tuple[int, int]:
        kind, count, sizes, strides = (self.ffi.new(text) for text in ("int *", "int *", "int[3]", "int[3]"))
        self.ok("GetTensorNdDescriptor", desc, 3, kind, count, sizes, strides)
        self.client.check("a matrix in rows", count[0] == 3 and sizes[0] == 1 and strides[1] == sizes[2])
        return sizes[1], sizes[2]

    def sequences(self, vector: int, layout: int, lengths: Sequence[int], kind: int) -> Any:
        desc = self.new("cudnnRNNDataDescriptor_t", "CreateRNNDataDescriptor")
        fill = self.ffi.new("double *", 0)
        self.ok("SetRNNDataDescriptor", desc, kind, layout, max(lengths), len(lengths), vector,
                self.ffi.new("int[]", list(lengths)), fill)  # fmt: skip
        ints, found = [self.ffi.new("int *") for _ in range(5)], self.ffi.new("int[]", len(lengths))
        self.ok("GetRNNDataDescriptor", desc, *ints, len(lengths), found, fill)
        given = [kind, layout, max(lengths), len(lengths), vector]
        self.client.check(
            "what was set of sequences", [p[0] for p in ints] == given and list(found) == list(lengths) and not fill[0]
        )
        return desc

    @staticmethod
    def laid(values: Array, layout: int, lengths: Sequence[int]) -> Array:
        """(time, batch, vector) as in memory."""
        if layout == SEQ_PACKED:
            return np.concatenate([values[t, : sum(n > t for n in lengths)].ravel() for t in range(max(lengths))])
        return np.ascontiguousarray(values if layout == SEQ_UNPACKED else values.transpose(1, 0, 2)).ravel()

    def case(self, network: Network, layout: int, lengths: Sequence[int], kind: int = FLOAT, mode: int = TRAINING,
             states: bool = True) -> None:  # fmt: skip
        what = f"{network}, layout {layout}, {lengths}, type {kind}, states {states}"
        desc, type_ = self.described(network, kind), NUMPY[kind]
        weights, memory, size = self.weights(network, desc, kind)
        long, batch, depth = max(lengths), len(lengths), network.layers * network.directions
        wide, here = network.hidden * network.directions, np.arange(long)[:, None] < np.array(lengths)
        x, dy = (self.values(long, batch, n, kind=kind) * here[..., None] for n in (network.inputs, wide))
        hx, cx, dhy, dcy = (self.values(depth, batch, network.hidden, kind=kind) * states for _ in range(4))
        x_desc, y_desc = (self.sequences(n, layout, lengths, kind) for n in (network.inputs, wide))
        state = self.tensor(hx, kind)
        c_desc = state.desc if network.cell == LSTM else self.ffi.NULL
        x_at, dy_at = (self.on(self.laid(one.astype(type_), layout, lengths)) for one in (x, dy))
        y_at, dx_at = (self.on(np.full(self.laid(one, layout, lengths).shape, 3, type_)) for one in (dy, x))
        none = self.ffi.NULL
        hx_at, cx_at, dhy_at, dcy_at = (self.on(one.astype(type_)) if states else none for one in (hx, cx, dhy, dcy))
        hy_at, cy_at, dhx_at, dcx_at = (self.on(np.full(hx.shape, 3, type_)) for _ in range(4))
        if network.cell != LSTM:
            cx_at = cy_at = dcy_at = dcx_at = none
        before = self.values(len(weights.numbers)).astype(type_)
        dw_at = self.on(before)
        c = SimpleNamespace(network=network, desc=desc, mode=mode, lengths=lengths, kind=kind, x_desc=x_desc, x=x_at,
                            y_desc=y_desc, y=y_at, dy=dy_at, dx=dx_at, h_desc=state.desc, hx=hx_at, hy=hy_at,
                            dhy=dhy_at, dhx=dhx_at, c_desc=c_desc, cx=cx_at, cy=cy_at, dcy=dcy_at, dcx=dcx_at,
                            size=size, weights=memory, dw=dw_at)  # fmt: skip
        c.work, c.reserve = self.sizes(c)
        self.client.check(f"{what}: memory {c.work}, {c.reserve}", (c.reserve > 0) == (mode == TRAINING))
        c.space, c.kept = (self.on(np.zeros(max(n, 8), np.uint8)) for n in (c.work, c.reserve))
        self.forward(c)
        given = [one.astype(np.float64) for one in (weights.numbers, x, hx, cx)]

        def exact(numbers: Array, x: Array, hx: Array, cx: Array) -> list[Array]:
            return network.run(Weights(numbers, weights.parts, weights.gates), x, hx, cx, lengths)

        terms = 40
        y, hy, cy = exact(*given)
        self.close(f"{what}: y", kind, y_at.now(), self.laid(y, layout, lengths), terms)
        self.close(f"{what}: hy", kind, self.rows(hy_at, hy), hy, terms)
        if network.cell == LSTM:
            self.close(f"{what}: cy", kind, self.rows(cy_at, cy), cy, terms)
        if mode == INFERENCE:
            return
        self.backward(c)

        def loss(*parts: Array) -> float:
            return float(sum((a * b).sum() for a, b in zip(exact(*parts), (dy, dhy, dcy), strict=True)))

        dw, dx, dhx, dcx = (slopes(loss, given, which) for which in range(4))
        self.close(f"{what}: dx", kind, dx_at.now(), self.laid(dx, layout, lengths), terms)
        self.close(f"{what}: dhx", kind, self.rows(dhx_at, dhx), dhx, terms)
        if network.cell == LSTM:
            self.close(f"{what}: dcx", kind, self.rows(dcx_at, dcx), dcx, terms)
        self.close(f"{what}: dw", kind, dw_at.now(), before.astype(np.float64) + dw, terms)

    @staticmethod
    def rows(at: Any, like: Array) -> Array:
        return np.asarray(at.now()).reshape(like.shape)

    def refused(self) -> None:
        """What MIOpen has not, by name; and wrong arguments."""
        desc = self.new("cudnnRNNDescriptor_t", "CreateRNNDescriptor")
        good = [0, LSTM, DOUBLE_BIAS, 0, 0, FLOAT, FLOAT, 0, 5, 6, 6, 1]
        none = self.ffi.NULL
        for place, value, answer in ((2, SINGLE_BIAS, self.not_supported), (4, 1, self.not_supported),
                                     (5, DOUBLE, self.not_supported), (10, 3, self.not_supported),
                                     (1, 4, self.bad_param), (3, 2, self.bad_param), (9, 0, self.bad_param),
                                     (11, 0, self.bad_param), (10, 7, self.bad_param)):  # fmt: skip
            given = [value if at == place else one for at, one in enumerate(good)]
            self.answers(f"a network with {given}", answer, "SetRNNDescriptor_v8", desc, *given, none, 0)
        size, sequences = self.ffi.new("size_t *"), self.new("cudnnRNNDataDescriptor_t", "CreateRNNDataDescriptor")
        self.answers("weights of none", self.bad_param, "GetRNNWeightSpaceSize", self.handle, desc, size)
        self.answers("memory of none", self.bad_param, "GetRNNTempSpaceSizes", self.handle, desc, 0, sequences, size,
                     size)  # fmt: skip
        self.answers("no lengths", self.bad_param, "SetRNNDataDescriptor", sequences, FLOAT, 0, 3, 2, 5, none, none)
        for answer, layout, lengths in (
            (self.bad_param, SEQ_PACKED, (2, 3)),
            (self.bad_param, SEQ_UNPACKED, (4, 1)),
            (self.bad_param, 3, (3, 3)),
            (self.not_supported, SEQ_UNPACKED, (3, 0)),
        ):
            given = (FLOAT, layout, 3, 2, 5, self.ffi.new("int[]", list(lengths)), none)
            self.answers(f"{lengths}, {layout}", answer, "SetRNNDataDescriptor", sequences, *given)
        self.ok("SetRNNDescriptor_v8", desc, *good, none, 0)
        self.unsorted(desc)
        clip, nan, ends = self.ffi.new("int *", 7), self.ffi.new("int *", 7), [self.ffi.new("double *") for _ in "ab"]
        self.ok("RNNSetClip_v8", desc, 0, 0, -1.0, 1.0)
        self.ok("RNNSetClip_v9", desc, 0, -1.0, 1.0)
        self.answers("clipped", self.not_supported, "RNNSetClip_v9", desc, 1, -1.0, 1.0)
        self.ok("RNNGetClip_v8", desc, clip, nan, *ends)
        self.ok("RNNGetClip_v9", desc, clip, *ends)
        self.client.check("not clipped", clip[0] == 0 and nan[0] == 0)
        self.call("BuildRNNDynamic", desc, 3)
        self.answers("no batch", self.bad_param, "BuildRNNDynamic", self.handle, desc, 0)
        self.plans(desc)
        self.destroy("RNN", desc)
        self.destroy("RNNData", sequences)

    def unsorted(self, desc: Any) -> None:
        """Results that MIOpen would mix up are refused."""
        none, memory, space = self.ffi.NULL, self.room(4096), self.room(1 << 20)
        x, y = (self.sequences(n, SEQ_UNPACKED, (2, 4), FLOAT) for n in (5, 6))
        rest = (4096, memory, 1 << 20, space, 1 << 20, space)
        self.answers("unsorted", self.not_supported, "RNNForward", self.handle, desc, INFERENCE, none, x, memory, y,
                     memory, none, none, none, none, none, none, *rest)  # fmt: skip
        x, y = (self.sequences(n, BATCH_UNPACKED, (4, 2), FLOAT) for n in (5, 6))
        self.answers("batches first", self.not_supported, "RNNBackwardData_v8", self.handle, desc, none, y, memory,
                     memory, x, memory, *[none] * 8, *rest)  # fmt: skip

    def plans(self, desc: Any) -> None:
        """Of cuDNN 8; they have no effect."""
        plan = self.ffi.new("cudnnPersistentRNNPlan_t *")
        self.ok("CreatePersistentRNNPlan", desc, 3, FLOAT, plan)
        self.ok("SetPersistentRNNPlan", desc, plan[0])
        self.answers("no batch", self.bad_param, "CreatePersistentRNNPlan", desc, 0, FLOAT, plan)
        self.answers("a type", self.not_supported, "CreatePersistentRNNPlan", desc, 3, DOUBLE, plan)
        self.answers("no plan", self.bad_param, "SetPersistentRNNPlan", desc, self.ffi.NULL)
        self.ok("DestroyPersistentRNNPlan", plan[0])
        self.ok("DestroyPersistentRNNPlan", self.ffi.NULL)

    def check_all(self) -> None:
        self.case(Network(LSTM, 1, False), SEQ_PACKED, (4, 4, 4))
        self.case(Network(LSTM, 2, True), SEQ_UNPACKED, (4, 3, 1))
        self.case(Network(GRU, 2, False), SEQ_PACKED, (5, 3, 2))
        self.case(Network(GRU, 1, True), BATCH_UNPACKED, (2, 4), mode=INFERENCE)
        self.case(Network(TANH, 2, False, biased=False), SEQ_PACKED, (3, 3), states=False)
        self.case(Network(RELU, 1, True), SEQ_PACKED, (3, 2))
        self.case(Network(LSTM, 1, False), SEQ_UNPACKED, (4, 2), mode=INFERENCE, states=False)
        self.case(Network(LSTM, 1, True), SEQ_PACKED, (4, 2), HALF)
        self.case(Network(GRU, 1, False), SEQ_PACKED, (3, 3), HALF, INFERENCE)
        self.refused()


def slopes(loss: Any, given: list[Array], which: int, step: float = 1e-5) -> Array:
    """Of the loss by each number of an argument."""
    found = np.zeros_like(given[which])
    for at in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            moved = given[which].copy()
            moved[at] += sign * step
            ends.append(loss(*given[:which], moved, *given[which + 1 :]))
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found
