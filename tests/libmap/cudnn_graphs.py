"""cuDNN's graph API: graphs of convolutions and operations on single numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.cudnn_convolutions import Case, backward, forward
from tests.libmap.nets import CROSS_CORRELATION, FLOAT, HALF, Nets, Tensor

POINTWISE, CONVOLUTION_DESC, ENGINE, ENGINECFG, ENGINEHEUR, PLAN = range(6)
FORWARD, FILTER, DATA, OPERATION_POINTWISE, GEN_STATS, GRAPH, PACK, TENSOR = range(10, 18)
HANDLE, DATA_TYPE, BOOLEAN, INT64, FLOAT_TYPE, DOUBLE_TYPE, POINTER, CONV_MODE, HEUR_MODE = range(9)
PW_MODE, DESCRIPTOR = 14, 15
ADD, MUL, RELU, TANH, SIGMOID, POW = 0, 1, 100, 101, 102, 8
C_TYPES = {HANDLE: "cudnnHandle_t", BOOLEAN: "_Bool", INT64: "int64_t", FLOAT_TYPE: "float", DOUBLE_TYPE: "double",
           POINTER: "void *", DESCRIPTOR: "void *"}  # fmt: skip
#: An operation's kind and the first of its attributes: alpha, beta, the convolution, then tensors.
CONVOLUTIONS = {"fprop": (FORWARD, 700, "wxy"), "dgrad": (DATA, 706, "wxy"), "wgrad": (FILTER, 712, "wxy")}
VIRTUAL = 1000  # numbers of tensors from here on are virtual


class Graphs(Nets):
    def empty(self, kind: int) -> Any:
        made = self.ffi.new("cudnnBackendDescriptor_t *")
        self.ok("BackendCreateDescriptor", kind, made)
        return made[0]

    def desc(self, kind: int, *attributes: tuple[int, int, list[Any]], answer: int = 0) -> Any:
        made = self.empty(kind)
        self.set(made, *attributes)
        self.answers(f"descriptor {kind}", answer, "BackendFinalize", made)
        return made

    def set(self, desc: Any, *attributes: tuple[int, int, list[Any]]) -> None:
        for name, kind, values in attributes:
            array = self.ffi.new(f"{C_TYPES.get(kind, 'int')}[]", values)
            self.ok("BackendSetAttribute", desc, name, kind, len(values), array)

    def whole(self, desc: Any, name: int) -> int:
        value, count = self.ffi.new("int64_t *"), self.ffi.new("int64_t *")
        self.ok("BackendGetAttribute", desc, name, INT64, 1, count, value)
        return int(value[0])

    def place(self, number: int, shape: tuple[int, ...], strides: list[int], kind: int) -> Any:
        return self.desc(TENSOR, (901, DATA_TYPE, [kind]), (902, INT64, list(shape)), (903, INT64, strides),
                         (906, INT64, [number]), (900, INT64, [4]), (907, BOOLEAN, [number >= VIRTUAL]))  # fmt: skip

    def of(self, number: int, tensor: Tensor, kind: int = FLOAT) -> Any:
        size = tensor.at.values.itemsize
        return self.place(number, tensor.shape, [stride // size for stride in tensor.strides], kind)

    def between(self, number: int, like: Tensor) -> Any:
        return self.of(number, like)

    def how(self, case: Case) -> Any:
        rank = len(case.image)
        each = {102: case.dilation, 103: case.stride, 104: case.pad, 105: case.pad}
        lists = ((name, INT64, [value] * rank) for name, value in each.items())
        return self.desc(
            CONVOLUTION_DESC,
            (100, DATA_TYPE, [FLOAT]),
            (101, CONV_MODE, [CROSS_CORRELATION]),
            (106, INT64, [rank]),
            *lists,
        )

    def convolution(self, name: str, conv: Any, alpha: float, beta: float, *tensors: Any) -> Any:
        """tensors: in the order of the attributes: w, x, y for a forward one; w, dx, dy; dw, x, dy."""
        kind, first, _ = CONVOLUTIONS[name]
        parts = [(first + 3 + i, DESCRIPTOR, [tensor]) for i, tensor in enumerate(tensors)]
        factors = ((first, FLOAT_TYPE, [alpha]), (first + 1, FLOAT_TYPE, [beta]))
        return self.desc(kind, *factors, (first + 2, DESCRIPTOR, [conv]), *parts)

    def pointwise(self, mode: int, x: Any, y: Any, b: Any = None, alpha: float = 1.0) -> Any:
        pw = self.desc(POINTWISE, (0, PW_MODE, [mode]), (1, DATA_TYPE, [FLOAT]))
        second = [(752, DESCRIPTOR, [b]), (754, FLOAT_TYPE, [alpha])] if b else []
        return self.desc(OPERATION_POINTWISE, (750, DESCRIPTOR, [pw]), (751, DESCRIPTOR, [x]), (753, DESCRIPTOR, [y]),
                         *second)  # fmt: skip

    def graph(self, *ops: Any) -> Any:
        return self.desc(GRAPH, (800, HANDLE, [self.handle]), (801, DESCRIPTOR, list(ops)))

    def run(self, graph: Any, tensors: dict[int, Tensor]) -> None:
        self.run_graph(graph, {n: self.ffi.cast("void *", tensor.at.at[0]) for n, tensor in tensors.items()})

    def run_graph(self, graph: Any, pointers: dict[int, Any]) -> None:
        plan, pack, _ = self.planned(graph, pointers)
        self.call("BackendExecute", plan, pack)
        self.ok("BackendDestroyDescriptor", pack)
        self.ok("BackendDestroyDescriptor", plan)

    def planned(self, graph: Any, pointers: dict[int, Any]) -> tuple[Any, Any, Any]:
        """A plan, its tensors and its memory, as cudnn-frontend makes them: heuristics, a configuration, its engine.
        pointers: of tensors' numbers."""
        count = self.ffi.new("int64_t *")
        self.client.check("engines", self.whole(graph, 802) == 1)
        heuristic = self.desc(ENGINEHEUR, (201, DESCRIPTOR, [graph]), (200, HEUR_MODE, [0]))
        self.ok("BackendGetAttribute", heuristic, 202, DESCRIPTOR, 0, count, self.ffi.NULL)
        self.client.check("one configuration", count[0] == 1)
        config, engine = (self.empty(k) for k in (ENGINECFG, ENGINE))
        self.ok("BackendGetAttribute", heuristic, 202, DESCRIPTOR, 1, count, self.ffi.new("void *[]", [config]))
        self.ok("BackendGetAttribute", config, 300, DESCRIPTOR, 1, count, self.ffi.new("void *[]", [engine]))
        self.client.check("the engine's number", self.whole(engine, 1301) == 0)
        self.ok("BackendGetAttribute", engine, 1303, 11, 0, count, self.ffi.NULL)
        self.client.check("no notes", count[0] == 0)
        plan = self.desc(PLAN, (401, DESCRIPTOR, [config]), (400, HANDLE, [self.handle]))
        for desc in (graph, heuristic, config, engine):  # the plan has them
            self.ok("BackendDestroyDescriptor", desc)
        space = self.room(self.whole(plan, 402))
        pack = self.desc(
            PACK,
            (1000, INT64, list(pointers)),
            (1001, POINTER, list(pointers.values())),
            (1003, POINTER, [space.pointer]),
        )
        return plan, pack, space

    def tensors(self, case: Case) -> tuple[Tensor, Tensor, Tensor]:
        x = self.tensor(self.values(case.n, case.c, *case.image), case.kind, case.order)
        w = self.tensor(self.values(case.k, case.c // case.groups, *case.window), case.kind, case.order)
        return x, w, self.tensor(self.values(case.n, case.k, *case.out), case.kind, case.order)

    def convolutions(self) -> None:
        cases = (Case(2, 3, 4, (8, 7), (3, 3), pad=1), Case(1, 4, 4, (8, 8), (3, 3), pad=1, kind=HALF),
                 Case(1, 4, 6, (9, 9), (3, 2), stride=2, groups=2))  # fmt: skip
        for case in cases:
            x, w, y = self.tensors(case)
            numbers = {1: w, 2: x, 3: y}
            exact_y = forward(case, x.exact(), w.exact())
            exact_dx, exact_dw = backward(case, x.exact(), w.exact(), y.exact())
            results: dict[str, tuple[Tensor, Array]] = {
                "dgrad": (x, exact_dx),
                "wgrad": (w, exact_dw),
                "fprop": (y, exact_y),
            }
            for name, (result, exact) in results.items():
                before, (alpha, beta) = result.exact(), (0.5, 2.0) if name == "fprop" else (1.0, 0.0)
                kept = result.at.now()
                descs = [self.of(n, t, case.kind) for n, t in numbers.items()]
                op = self.convolution(name, self.how(case), alpha, beta, *descs)
                for desc in descs:
                    self.ok("BackendDestroyDescriptor", desc)
                self.run(self.graph(op), numbers)
                self.close(f"{name} {case}", case.kind, result.now(), alpha * exact + beta * before, 100)
                if name != "fprop":  # what the next ones are computed with
                    size = kept.nbytes
                    assert not self.client.cuda.cuMemcpyHtoD_v2(result.at.at[0], self.client.address(kept), size)

    def fused(self) -> None:
        """A convolution, a sum with another tensor, a bias and an activation, as PyTorch has them."""
        case = Case(2, 3, 4, (8, 7), (3, 3), pad=1)
        x, w, y = self.tensors(case)
        z, bias = self.tensor(self.values(*y.shape)), self.tensor(self.values(1, case.k, 1, 1))
        functions: dict[int, Callable[[Array], Array]] = {
            RELU: lambda v: np.maximum(v, 0), TANH: np.tanh, SIGMOID: lambda v: 1 / (1 + np.exp(-v))
        }  # fmt: skip
        for mode, function in functions.items():
            t = {n: self.of(n, one) for n, one in ((1, w), (2, x), (3, y), (4, z), (5, bias))}
            v = [self.between(VIRTUAL + i, y) for i in range(3)]
            ops = (
                self.convolution("fprop", self.how(case), 1.0, 0.0, t[1], t[2], v[0]),
                self.pointwise(ADD, v[0], v[1], t[4], alpha=0.5),
                self.pointwise(ADD, v[1], v[2], t[5]),
                self.pointwise(mode, v[2], t[3]),
            )
            self.run(self.graph(*ops), {1: w, 2: x, 3: y, 4: z, 5: bias})
            exact = function(0.5 * forward(case, x.exact(), w.exact()) + z.exact() + bias.exact())
            self.close(f"fused, {mode}", FLOAT, y.now(), exact, 40)
        self.halves()
        self.run(self.graph(self.pointwise(MUL, self.of(5, bias), self.of(3, y), self.of(4, z))), {3: y, 4: z, 5: bias})
        self.close("the smaller one first", FLOAT, y.now(), bias.exact() * z.exact())

    def halves(self) -> None:
        """What is between operations is declared as f32, which is allowed."""
        case = Case(1, 4, 4, (8, 8), (3, 3), pad=1, kind=HALF)
        x, w, y = self.tensors(case)
        bias = self.tensor(self.values(1, case.k, 1, 1), HALF)
        numbers = {1: w, 2: x, 3: y, 5: bias}
        t = {n: self.of(n, one, HALF) for n, one in numbers.items()}
        v = [self.between(VIRTUAL + i, y) for i in range(2)]
        ops = (
            self.convolution("fprop", self.how(case), 1.0, 0.0, t[1], t[2], v[0]),
            self.pointwise(ADD, v[0], v[1], t[5]),
            self.pointwise(RELU, v[1], t[3]),
        )
        self.run(self.graph(*ops), numbers)
        exact = np.maximum(forward(case, x.exact(), w.exact()) + bias.exact(), 0)
        self.close("fused, f16", HALF, y.now(), exact, 40)

    def wrong(self) -> None:
        case, none = Case(2, 3, 4, (8, 7), (3, 3), pad=1), self.ffi.NULL
        x, w, y = self.tensors(case)
        wx, xx, yy = self.of(1, w), self.of(2, x), self.of(3, y)
        gone, half = self.between(VIRTUAL, y), self.of(6, y, HALF)
        graphs = {
            "a function that is not there": self.pointwise(POW, xx, self.of(4, x)),
            "another type": self.convolution("fprop", self.how(case), 1.0, 0.0, wx, xx, half),
            "what was not made": self.pointwise(RELU, gone, yy),
            "another size": self.convolution("fprop", self.how(case), 1.0, 0.0, wx, xx, self.of(7, x)),
            "other operations": self.desc(GEN_STATS),
        }
        for what, op in graphs.items():
            graph = self.graph(op)
            self.client.check(f"{what}: no engine", self.whole(graph, 802) == 0)
            for kind, name in ((ENGINEHEUR, 201), (ENGINE, 1300)):
                self.desc(kind, (name, DESCRIPTOR, [graph]), answer=self.not_supported)
        early = self.client.library.cudnnGetVersion() < 90000
        open_one = self.empty(TENSOR)
        count = self.ffi.new("int64_t *")
        self.answers("no place", self.bad_param, "BackendCreateDescriptor", TENSOR, none)
        self.answers("no such kind", self.bad_param, "BackendCreateDescriptor", 1000, self.ffi.new("void **"))
        self.answers("a tensor without sizes", self.bad_param, "BackendFinalize", open_one)
        self.answers("not final", 1 if early else 1001, "BackendGetAttribute", open_one, 906, INT64, 1, count, none)
        self.answers("final", 1 if early else 2000, "BackendSetAttribute", xx, 906, INT64, 1, count)
        self.answers("another type", 3 if early else 2010, "BackendGetAttribute", xx, 906, BOOLEAN, 1, count, none)
        self.answers("no descriptor", 3 if early else 2002, "BackendFinalize", none)
        self.answers("a part that is not final", 3 if early else 2004, "BackendSetAttribute",
                     self.empty(GRAPH), 801, DESCRIPTOR, 1,
                     self.ffi.new("void *[]", [open_one]))  # fmt: skip
        self.answers("no plan", self.bad_param, "BackendExecute", self.handle, xx, xx)
        self.ok("BackendInitialize", open_one)

    def check_all(self) -> None:
        self.convolutions()
        self.fused()
        self.wrong()
