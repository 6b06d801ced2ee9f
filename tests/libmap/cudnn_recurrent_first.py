"""cuDNN's recurrent networks in the interface of cuDNN 7, against a network in double precision and its differences."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.libmap.cudnn_recurrent import (
    BATCH_UNPACKED,
    DOUBLE_BIAS,
    GATES,
    GRU,
    INFERENCE,
    LSTM,
    NO_BIAS,
    RELU,
    SEQ_PACKED,
    SEQ_UNPACKED,
    SINGLE_BIAS,
    TANH,
    TRAINING,
    Network,
    Recurrent,
    Weights,
)
from tests.libmap.nets import FLOAT, HALF, NUMPY


class First(Recurrent):
    """Sequences are a tensor for each step in time."""

    def described(self, network: Network, kind: int) -> Any:
        desc = self.new("cudnnRNNDescriptor_t", "CreateRNNDescriptor")
        given = (network.hidden, network.layers, self.ffi.NULL, 0, int(network.both), network.cell, 0, FLOAT)
        kinds = ("int", "int", "cudnnDropoutDescriptor_t", "cudnnRNNInputMode_t", "cudnnDirectionMode_t",
                 "cudnnRNNMode_t", "cudnnRNNAlgo_t", "cudnnDataType_t")  # fmt: skip
        found = [self.ffi.new(f"{name} *") for name in kinds]
        unset = 1 if self.client.library.cudnnGetVersion() < 90000 else 1001
        self.answers("nothing is set", unset, "GetRNNDescriptor_v6", self.handle, desc, *found)
        self.call("SetRNNDescriptor_v6", desc, *given)
        self.call("GetRNNDescriptor_v6", desc, *found)
        self.client.check("what was set of a network", tuple(place[0] for place in found) == given)
        for name, value in (("BiasMode", DOUBLE_BIAS if network.biased else NO_BIAS), ("MatrixMathType", 1),
                            ("PaddingMode", 1)):  # fmt: skip
            place = self.ffi.new("unsigned *", 9)
            self.ok(f"SetRNN{name}", desc, value)
            self.ok(f"GetRNN{name}", desc, place)
            self.client.check(f"{name}: {place[0]}", place[0] == value)
        return desc

    def filter(self, *sizes: int, kind: int = FLOAT) -> Any:
        desc = self.new("cudnnFilterDescriptor_t", "CreateFilterDescriptor")
        if sizes:
            self.ok("SetFilterNdDescriptor", desc, kind, 0, len(sizes), self.ffi.new("int[]", list(sizes)))
        return desc

    def step(self, batch: int, vector: int, kind: int) -> Any:
        return self.tensor(np.zeros((batch, vector, 1)), kind).desc

    def weights(self, network: Network, desc: Any, kind: int) -> tuple[Weights, Any, int]:
        size, item = self.ffi.new("size_t *"), np.dtype(NUMPY[kind]).itemsize
        x = self.step(2, network.inputs, kind)
        self.call("GetRNNParamsSize", desc, x, size, kind)
        count = size[0] // item
        memory, whole = self.on(np.zeros(count, NUMPY[kind])), self.filter(count, 1, 1, kind=kind)
        base, parts, taken = int(memory.at[0]), {}, np.zeros(count, int)
        for at in range(network.layers * network.directions):
            for gate in range(2 * GATES[network.cell]):
                found = {}
                for name in ("Matrix", "Bias"):
                    part, place = self.filter(), self.ffi.new("void **")
                    given = (self.handle, desc, at, x, whole, memory, gate, part, place)
                    if name == "Bias" and not network.biased:
                        self.answers("no bias", self.bad_param, "GetRNNLinLayerBiasParams", *given)
                        continue
                    self.ok(f"GetRNNLinLayer{name}Params", *given)
                    sizes = self.filter_sizes(part)
                    offset = (int(self.ffi.cast("uintptr_t", place[0])) - base) // item
                    taken[offset : offset + int(np.prod(sizes))] += 1
                    found[name] = offset, sizes
                offset, (_, rows, columns) = found["Matrix"]
                parts[at, gate] = offset, (rows, columns), found["Bias"][0] if network.biased else None
        self.client.check("each weight has its place", (taken == 1).all())
        values = (self.values(count) * 0.6).astype(NUMPY[kind])
        return Weights(values.astype(np.float64), parts, GATES[network.cell]), self.on(values), count

    def filter_sizes(self, desc: Any) -> list[int]:
        kind, order, count, sizes = (self.ffi.new(text) for text in ("int *", "int *", "int *", "int[8]"))
        self.ok("GetFilterNdDescriptor", desc, 8, kind, order, count, sizes)
        return list(sizes)[: count[0]]

    def sequences(self, vector: int, layout: int, lengths: Sequence[int], kind: int) -> Any:
        steps = [self.step(sum(n > t for n in lengths), vector, kind) for t in range(max(lengths))]
        self.kept += steps
        return self.ffi.new("cudnnTensorDescriptor_t[]", steps)

    def sizes(self, c: SimpleNamespace) -> tuple[int, int]:
        work, reserve = self.ffi.new("size_t *"), self.ffi.new("size_t *")
        batch, longest = len(c.lengths), max(c.lengths)
        given = (c.desc, longest, First.sequences(self, c.network.inputs, SEQ_PACKED, [longest] * batch, c.kind))
        self.call("GetRNNWorkspaceSize", *given, work)
        if c.mode == TRAINING:
            self.call("GetRNNTrainingReserveSize", *given, reserve)
        c.filter = self.filter(c.size, 1, 1, kind=c.kind)
        return work[0], reserve[0]

    #: What the names of functions end with, and how many reserved parameters they have.
    suffix, reserved = "", 0

    def counted(self, c: SimpleNamespace) -> tuple[int, ...]:
        return (max(c.lengths),)

    def forward(self, c: SimpleNamespace) -> None:
        kept = (c.kept, c.reserve) if c.mode == TRAINING else ()
        name = f"RNNForward{'Training' if c.mode == TRAINING else 'Inference'}{self.suffix}"
        self.call(name, c.desc, *self.counted(c), c.x_desc, c.x, c.h_desc, c.hx, c.c_desc, c.cx, c.filter, c.weights,
                  c.y_desc, c.y, c.h_desc, c.hy, c.c_desc, c.cy, *[self.ffi.NULL] * self.reserved, c.space, c.work,
                  *kept)  # fmt: skip

    def backward(self, c: SimpleNamespace) -> None:
        some = [self.ffi.NULL] * (self.reserved // 4)
        memory = (c.space, c.work, c.kept, c.reserve)
        self.call(f"RNNBackwardData{self.suffix}", c.desc, *self.counted(c), c.y_desc, c.y, c.y_desc, c.dy, *some,
                  c.h_desc, c.dhy, c.c_desc, c.dcy, c.filter, c.weights, c.h_desc, c.hx, c.c_desc, c.cx, c.x_desc, c.dx,
                  c.h_desc, c.dhx, c.c_desc, c.dcx, *some, *memory)  # fmt: skip
        self.call(f"RNNBackwardWeights{self.suffix}", c.desc, *self.counted(c), c.x_desc, c.x, c.h_desc, c.hx, c.y_desc,
                  c.y, *memory[:2], c.filter, c.dw, *memory[2:])  # fmt: skip

    def refused(self) -> None:
        desc, none = self.new("cudnnRNNDescriptor_t", "CreateRNNDescriptor"), self.ffi.NULL
        place, ends = self.ffi.new("int *", 9), [self.ffi.new("double *") for _ in "ab"]
        size = self.ffi.new("size_t *")
        x = self.sequences(5, SEQ_PACKED, (2, 1), FLOAT)
        self.answers("nothing is set", self.bad_param, "GetRNNWorkspaceSize", self.handle, desc, 2, x, size)
        good = [self.handle, desc, 6, 2, none, 0, 0, LSTM, 0, FLOAT]
        for at, value, answer in ((0, none, self.bad_param), (1, none, self.bad_param), (2, 0, self.bad_param),
                                  (3, -1, self.bad_param), (5, 1, self.not_supported), (5, 2, self.bad_param),
                                  (6, 2, self.bad_param), (7, 4, self.bad_param), (8, 4, self.bad_param)):  # fmt: skip
            given = [value if i == at else one for i, one in enumerate(good)]
            self.answers(f"wrong argument {at}", answer, "SetRNNDescriptor_v6", *given)
        self.ok("SetRNNDescriptor_v6", *good)
        self.call("SetRNNProjectionLayers", desc, 6, 0)
        self.answers("a projection", self.not_supported, "SetRNNProjectionLayers", self.handle, desc, 3, 0)
        self.answers("of the output", self.bad_param, "SetRNNProjectionLayers", self.handle, desc, 0, 3)
        other = self.ffi.new("int *", 9)
        self.call("GetRNNProjectionLayers", desc, place, other)
        self.client.check("no projection", (place[0], other[0]) == (6, 0))
        self.call("RNNSetClip", desc, 0, 0, -1.0, 1.0)
        self.answers("clipped", self.not_supported, "RNNSetClip", self.handle, desc, 1, 0, -1.0, 1.0)
        self.call("RNNGetClip", desc, place, other, *ends)
        self.client.check("not clipped", place[0] == 0)
        for name, value in (("BiasMode", 4), ("MatrixMathType", -1), ("PaddingMode", 2)):
            self.answers("no such", self.bad_param, f"SetRNN{name}", desc, value)
            self.answers("no place", self.bad_param, f"GetRNN{name}", desc, none)
        growing = self.ffi.new("cudnnTensorDescriptor_t[]", [self.step(n, 5, FLOAT) for n in (1, 2)])
        other_type = self.ffi.new("cudnnTensorDescriptor_t[]", [self.step(2, 5, k) for k in (FLOAT, HALF)])
        for what, steps, one in (("no steps", 0, x), ("no tensors", 2, none), ("more later", 2, growing),
                                 ("another type", 2, other_type)):  # fmt: skip
            self.answers(what, self.bad_param, "GetRNNWorkspaceSize", self.handle, desc, steps, one, size)
        self.answers("no place", self.bad_param, "GetRNNTrainingReserveSize", self.handle, desc, 2, x, none)
        self.answers("another type", self.bad_param, "GetRNNParamsSize", self.handle, desc, x[0], size, HALF)
        self.ok("SetRNNBiasMode", desc, SINGLE_BIAS)
        self.answers("a single bias", self.not_supported, "GetRNNParamsSize", self.handle, desc, x[0], size, FLOAT)
        self.ok("SetRNNBiasMode", desc, DOUBLE_BIAS)
        self.too_few(desc, x)
        self.call("GetRNNParamsSize", desc, x[0], size, FLOAT)
        with_biases = size[0]
        self.ok("SetRNNBiasMode", desc, NO_BIAS)
        self.call("GetRNNParamsSize", desc, x[0], size, FLOAT)
        self.client.check(f"weights without biases: {size[0]}", size[0] == with_biases - 2 * 2 * 4 * 6 * 4)
        self.destroy("RNN", desc)

    def too_few(self, desc: Any, x: Any) -> None:
        """A filter with fewer weights than the network has."""
        few, memory, none = self.filter(7, 1, 1), self.room(4096), self.ffi.NULL
        part, place = self.filter(), self.ffi.new("void **")
        self.answers("few weights", self.bad_param, "GetRNNLinLayerMatrixParams", self.handle, desc, 0, x[0], few,
                     memory, 0, part, place)  # fmt: skip
        y = self.sequences(6, SEQ_PACKED, (2, 1), FLOAT)
        state = (none, none, none, none)
        self.answers("few weights", self.bad_param, "RNNForwardInference", self.handle, desc, 2, x, memory, *state, few,
                     memory, y, memory, *state, memory, 4096)  # fmt: skip

    def check_all(self) -> None:
        self.case(Network(LSTM, 2, True), SEQ_PACKED, (4, 3, 1))
        self.case(Network(GRU, 1, False), SEQ_PACKED, (3, 3), mode=INFERENCE)
        self.case(Network(TANH, 1, False, biased=False), SEQ_PACKED, (3, 2), states=False)
        self.case(Network(LSTM, 1, False), SEQ_PACKED, (4, 2), HALF, INFERENCE)
        self.refused()


class FirstEx(First):
    """Sequences have a descriptor."""

    suffix, reserved = "Ex", 8

    def sequences(self, vector: int, layout: int, lengths: Sequence[int], kind: int) -> Any:
        return Recurrent.sequences(self, vector, layout, lengths, kind)

    def counted(self, c: SimpleNamespace) -> tuple[int, ...]:
        return ()

    def check_all(self) -> None:
        self.case(Network(LSTM, 1, True), SEQ_UNPACKED, (4, 3, 1))
        self.case(Network(GRU, 1, True), BATCH_UNPACKED, (2, 4), mode=INFERENCE)
        self.case(Network(RELU, 1, False), SEQ_PACKED, (3, 2))
