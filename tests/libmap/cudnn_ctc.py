"""cuDNN's CTC loss, compared with the recursion over all ways through the labels, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.nets import DOUBLE, FLOAT, Nets

PLAIN, SOFTMAX = range(2)


def _shares(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def _loss(probs: Array, label: list[int]) -> float:
    """Of one sample: probabilities in time of each label, of which 0 is the blank."""
    states = [0]
    for one in label:
        states += [one, 0]
    ways = np.zeros(len(states))
    ways[:2] = probs[0, states[:2]]
    for now in probs[1:]:
        before, ways = ways, np.zeros(len(states))
        for s, state in enumerate(states):
            ways[s] = before[s] + (before[s - 1] if s else 0)
            if s > 1 and state and state != states[s - 2]:
                ways[s] += before[s - 2]
            ways[s] *= now[state]
    return float(-np.log(ways[-1] + ways[-2]))


def _slope(x: Array, label: list[int]) -> Array:
    """The derivative of the loss by what softmax is given, by differences."""
    out = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-5
        out[at] = (_loss(_shares(x + step), label) - _loss(_shares(x - step), label)) / 2e-5
    return out


class Ctc(Nets):
    def descriptor(self, normal: int) -> Any:
        desc = self.new("cudnnCTCLossDescriptor_t", "CreateCTCLossDescriptor")
        self.ok("SetCTCLossDescriptor_v8", desc, FLOAT, normal, 0, 5)
        return desc

    def ints(self, values: list[int]) -> Array:
        return np.array(values, np.int32)

    def losses(self) -> None:
        labels, inputs, time, kinds = [[1, 2, 3], [4, 4], [2]], [8, 6, 7], 8, 5
        flat = self.ints([one for label in labels for one in label])
        lengths, ends = self.ints([len(label) for label in labels]), self.ints(inputs)
        logits = self.values(time, 3, kinds)
        desc, x = self.descriptor(SOFTMAX), self.tensor(logits)
        exact = [_loss(_shares(logits[:end, i].astype(float)), labels[i]) for i, end in enumerate(inputs)]
        slope = np.zeros(logits.shape)
        for i, end in enumerate(inputs):
            slope[:end, i] = _slope(logits[:end, i].astype(float), labels[i])
        for place in ("host", "device", "no gradients"):
            costs, gradients = self.on(np.zeros(3, np.float32)), self.room_for(time, 3, kinds)
            into = (gradients.desc, gradients.at) if place != "no gradients" else (self.ffi.NULL, self.ffi.NULL)
            if place == "device":
                given = [self.on(values) for values in (flat, lengths, ends)]
                space = self.buffer("GetCTCLossWorkspaceSize_v8", 0, desc, x.desc, gradients.desc)
                self.call("CTCLoss_v8", 0, desc, x.desc, x.at, *given, costs, *into, 0, space)
            else:
                space = self.buffer("GetCTCLossWorkspaceSize", x.desc, gradients.desc, flat, lengths, ends, 0, desc)
                arguments = (x.desc, x.at, flat, lengths, ends, costs, *into, 0, desc, space)
                self.call("CTCLoss", *arguments, space.values.nbytes)
            self.close(f"CTC, {place}", FLOAT, costs.now(), np.array(exact), 9)
            if place != "no gradients":
                self.close(f"CTC, {place}: gradients", FLOAT, gradients.now(), slope, 9)
        self.destroy("CTCLoss", desc)
        plain, size = self.descriptor(PLAIN), self.ffi.new("size_t *")
        given = (x.desc, x.desc, flat, lengths, ends, 0, plain, size)
        self.answers("probabilities", self.not_supported, "GetCTCLossWorkspaceSize", self.handle, *given)

    def settings(self) -> None:
        desc = self.new("cudnnCTCLossDescriptor_t", "CreateCTCLossDescriptor")
        found = [self.ffi.new(f"{kind} *") for kind in (
            "cudnnDataType_t", "cudnnLossNormalizationMode_t", "int", "int")]  # fmt: skip
        for name, given in (
            ("", (FLOAT,)),
            ("Ex", (FLOAT, 1, 1)),
            ("_v8", (FLOAT, 1, 0, 9)),
            ("_v9", (FLOAT, 1, 1, 7)),
        ):
            self.ok(f"SetCTCLossDescriptor{name}", desc, *given)
            self.ok(f"GetCTCLossDescriptor{name}", desc, *found[: len(given)])
            self.same(f"settings{name}", np.array([int(one[0]) for one in found[: len(given)]]), np.array(given))
        self.answers("f64", self.not_supported, "SetCTCLossDescriptor", desc, DOUBLE)
        self.answers("no such mode", self.bad_param, "SetCTCLossDescriptor_v9", desc, FLOAT, 2, 0, 0)
        self.answers("no descriptor", self.bad_param, "SetCTCLossDescriptor", self.ffi.NULL, FLOAT)
        self.answers("no descriptor", self.bad_param, "GetCTCLossDescriptor", self.ffi.NULL, self.ffi.NULL)
        self.answers("no place", self.bad_param, "CreateCTCLossDescriptor", self.ffi.NULL)
        x, size = self.tensor(self.values(4, 1, 3)), self.ffi.new("size_t *")
        for what, answer, label, end in (
            ("more than there is time for", self.not_supported, [1, 1, 1], 4), ("the blank", self.bad_param, [0], 4),
            ("no such label", self.bad_param, [3], 4), ("too long an input", self.bad_param, [1], 5),
        ):  # fmt: skip
            given = (self.ints(label), self.ints([len(label)]), self.ints([end]))
            self.answers(what, answer, "GetCTCLossWorkspaceSize", self.handle, x.desc, x.desc, *given, 0, desc, size)
        self.destroy("CTCLoss", desc)

    def check_all(self) -> None:
        self.losses()
        self.settings()
