"""cuSPARSE's handles and descriptors, and what it answers to wrong arguments."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ptx2amd.api import cusparse
from ptx2amd.libraries import CUSPARSE
from tests.libmap.client import Array, Device
from tests.libmap.cusparse_generic import COO, CSC, CSR, NAMES, SPMV, Generic
from tests.libmap.sparse import (
    COLUMNS,
    DATA_TYPE,
    INVALID_VALUE,
    NOT_INITIALIZED,
    NOT_SUPPORTED,
    PLAIN,
    ROWS,
    TRANSPOSED,
    op,
)


class State(Generic):
    def of_handle(self) -> None:
        value, version = self.ffi.new("int *"), CUSPARSE.sonames[Path(sys.argv[2]).name]
        self.call("GetVersion", value)
        self.same("the version", np.array(value[0]), np.array(version))
        for which, part in enumerate((version // 1000, version // 100 % 10, version % 100)):
            self.ok("GetProperty", which, value)
            self.client.check(f"property {which}", value[0] == part)
        self.answers("no such property", INVALID_VALUE, "GetProperty", 3, value)
        library, ffi = self.client.library, self.ffi
        self.client.check("name", ffi.string(library.cusparseGetErrorName(10)) == b"CUSPARSE_STATUS_NOT_SUPPORTED")
        self.client.check("text", ffi.string(library.cusparseGetErrorString(9)) == b"zero pivot")
        self.client.check("no error", ffi.string(library.cusparseGetErrorName(99)) == b"unrecognized error code")
        self.answers("no such mode", INVALID_VALUE, "SetPointerMode", self.handle, 7)
        mode = ffi.new("cusparsePointerMode_t *")
        for number in (1, 0):
            self.call("SetPointerMode", number)
            self.call("GetPointerMode", mode)
            self.client.check("pointer mode", mode[0] == number)

    def streams(self) -> None:
        """A product in a stream, with numbers on the device, in a graph too."""
        stream, back = self.ffi.new("cudaStream_t *"), self.ffi.new("cudaStream_t *")
        cuda = self.client.cuda
        assert not cuda.cuStreamCreate(stream, 1)
        self.call("SetStream", stream[0])
        self.call("GetStream", back)
        self.client.check("the stream", back[0] == stream[0])
        self.answers("no stream", INVALID_VALUE, "SetStream", self.handle, self.ffi.cast("cudaStream_t", 4096))
        a, x = self.matrix("D", 20, 30), self.numbers("D", 30)
        matrix, _ = self.sparse(a, "D")
        (dx, _), (dy, on) = self.vector(x, "D"), self.vector(np.zeros(20), "D")
        self.call("SetPointerMode", 1)
        alpha, beta = self.on(np.array([2.0])), self.on(np.array([1.0]))
        given = (PLAIN, alpha.pointer, matrix, dx, beta.pointer, dy, DATA_TYPE["D"], 0)
        buffer = self.buffer("SpMV_bufferSize", *given)
        self.call("SpMV", *given, buffer)
        assert not cuda.cuStreamSynchronize(stream[0])
        self.near("SpMV of numbers on the device", "D", on.now(), 2 * a @ x, 30)
        graph, ready = self.ffi.new("void **"), self.ffi.new("void **")
        for mode in (0, 1):  # the first of them sees the matrix for the first time
            matrix, _ = self.sparse(a, "D", base=mode)
            before, given = on.now(), (PLAIN, alpha.pointer, matrix, dx, beta.pointer, dy, DATA_TYPE["D"], 0)
            assert not cuda.cuStreamBeginCapture_v2(stream[0], mode)
            self.call("SpMV", *given, buffer)
            assert not cuda.cuStreamEndCapture(stream[0], graph)
            assert not cuda.cuGraphInstantiateWithFlags(ready, graph[0], 0)
            for _ in range(2):
                assert not cuda.cuGraphLaunch(ready[0], stream[0])
            assert not cuda.cuStreamSynchronize(stream[0])
            self.near("SpMV in a graph", "D", on.now(), before + 4 * (a @ x), 30)
        self.call("SetPointerMode", 0)
        self.call("SetStream", self.ffi.NULL)

    def changed_matrices(self) -> None:
        """Products see the numbers and places that a matrix has now, also where the arrays are the same ones, and when
        more matrices are in use than the library keeps."""
        n, one, zero = 24, np.ones(1), np.zeros(1)
        x = self.numbers("D", n)
        (dx, _), (dy, on) = self.vector(x, "D"), self.vector(np.zeros(n), "D")
        dense = [self.matrix("D", n, n) for _ in range(20)]
        for kind, algorithms in SPMV.items():
            for algorithm in algorithms:
                matrix, arrays = self.sparse(dense[0], "D", kind)
                rolled = np.roll(dense[0], 1, 1 if kind == CSC else 0)  # as many elements
                for a in (dense[0], rolled):
                    other, parts = self.sparse(a, "D", kind)
                    for to, part in zip(arrays, parts, strict=True):
                        self.write(to, part.values)
                    for operation in (PLAIN, TRANSPOSED):
                        given = (operation, one, matrix, dx, zero, dy, DATA_TYPE["D"], algorithm)
                        self.call("SpMV", *given, self.buffer("SpMV_bufferSize", *given))
                        what = f"SpMV of a changed {NAMES[kind]}, operation {operation}, algorithm {algorithm}"
                        self.near(what, "D", on.now(), op(a, operation) @ x, n)
                    self.ok("DestroySpMat", other)
        many = [self.sparse(a, "D")[0] for a in dense]
        for a, matrix in [*zip(dense, many, strict=True)] * 2:
            given = (PLAIN, one, matrix, dx, zero, dy, DATA_TYPE["D"], 0)
            self.call("SpMV", *given, self.buffer("SpMV_bufferSize", *given))
            self.near("SpMV of one of many", "D", on.now(), a @ x, n)

    def write(self, on: Device, values: Array) -> None:
        assert values.nbytes == on.values.nbytes
        assert not self.client.cuda.cuMemcpyHtoD_v2(on.at[0], self.client.address(values), values.nbytes)

    def places(self, *kinds: str) -> list[Any]:
        return [self.ffi.new(f"{kind} *") for kind in kinds]

    def got(self, name: str, descriptor: Any, *kinds: str) -> list[Any]:
        """What a function answers at the places of its arguments."""
        places = self.places(*kinds)
        self.ok(name, descriptor, *places)
        return [int(self.ffi.cast("intptr_t", place[0])) for place in places]

    def at(self, *devices: Device) -> list[int]:
        return [int(self.ffi.cast("intptr_t", device.pointer)) for device in devices]

    def sparse_matrices(self) -> None:
        a, sizes, pointers = self.matrix("D", 6, 9), ["int64_t"] * 3, ["void *"] * 3
        ends = ["cusparseIndexBase_t", "cudaDataType"]
        for kind in (CSR, CSC, COO):
            for const in ("", "Const"):
                matrix, on = self.sparse(a, "D", kind, base=1, const=const)
                count, name = len(on[2].values), NAMES[kind]
                types = ["cusparseIndexType_t"] * (1 if kind == COO else 2)
                found = self.got(f"{const}{name}Get", matrix, *sizes, *pointers, *types, *ends)
                expected = [6, 9, count, *self.at(*on), *[2] * len(types), 1, DATA_TYPE["D"]]
                self.client.check(f"{const}{name}Get: {found}", found == expected)
                self.client.check("size", self.got("SpMatGetSize", matrix, *sizes) == [6, 9, count])
                self.client.check("format", self.got("SpMatGetFormat", matrix, "cusparseFormat_t") == [kind])
                self.client.check("base", self.got("SpMatGetIndexBase", matrix, "cusparseIndexBase_t") == [1])
                values = self.got(f"{const}SpMatGetValues", matrix, "void *")
                self.client.check("values", values == self.at(on[2]))
                if not const:
                    other = self.on(on[2].values)
                    self.ok("SpMatSetValues", matrix, other)
                    self.client.check("other", self.got("SpMatGetValues", matrix, "void *") == self.at(other))
                    self.ok(f"{name}SetPointers", matrix, *on)
                    self.client.check("all", self.got(f"{name}Get", matrix, *sizes, *pointers, *types, *ends)[5]
                                      == self.at(on[2])[0])  # fmt: skip
                self.ok("DestroySpMat", matrix)
        pairs, values = self.on(np.zeros(8, np.int32)), self.on(np.zeros(4))
        matrix = self.new("cusparseSpMatDescr_t", "CreateCooAoS", 3, 5, 4, pairs, values, 2, 0, DATA_TYPE["D"])
        found = self.got("CooAoSGet", matrix, *sizes, *pointers[:2], "cusparseIndexType_t", *ends)
        self.client.check(f"CooAoSGet: {found}", found == [3, 5, 4, *self.at(pairs, values), 2, 0, DATA_TYPE["D"]])

    def dense_and_vectors(self) -> None:
        on, count, size = self.on(np.zeros(24)), ["int64_t"], self.places("int", "int64_t")
        for const in ("", "Const"):
            kind = f"cusparse{const}DnMatDescr_t"
            matrix = self.new(kind, f"Create{const}DnMat", 4, 3, 6, on, DATA_TYPE["D"], COLUMNS)
            found = self.got(f"{const}DnMatGet", matrix, *count * 3, "void *", "cudaDataType", "cusparseOrder_t")
            self.client.check(f"DnMatGet: {found}", found == [4, 3, 6, *self.at(on), DATA_TYPE["D"], COLUMNS])
            self.client.check("values", self.got(f"{const}DnMatGetValues", matrix, "void *") == self.at(on))
            vector = self.new(f"cusparse{const}DnVecDescr_t", f"Create{const}DnVec", 24, on, DATA_TYPE["D"])
            found = self.got(f"{const}DnVecGet", vector, "int64_t", "void *", "cudaDataType")
            self.client.check(f"DnVecGet: {found}", found == [24, *self.at(on), DATA_TYPE["D"]])
            self.client.check("values", self.got(f"{const}DnVecGetValues", vector, "void *") == self.at(on))
            indices = self.on(np.arange(5, dtype=np.int64))
            about = (24, 5, indices, on, 3, 1, DATA_TYPE["D"])
            sparse = self.new(f"cusparse{const}SpVecDescr_t", f"Create{const}SpVec", *about)
            kinds = (
                "int64_t",
                "int64_t",
                "void *",
                "void *",
                "cusparseIndexType_t",
                "cusparseIndexBase_t",
                "cudaDataType",
            )
            found = self.got(f"{const}SpVecGet", sparse, *kinds)
            self.client.check(f"SpVecGet: {found}", found == [24, 5, *self.at(indices, on), 3, 1, DATA_TYPE["D"]])
            self.client.check("values", self.got(f"{const}SpVecGetValues", sparse, "void *") == self.at(on))
            self.client.check("base", self.got("SpVecGetIndexBase", sparse, "cusparseIndexBase_t") == [1])
            if not const:
                other = self.on(np.ones(24))
                for name, one in (("DnMat", matrix), ("DnVec", vector), ("SpVec", sparse)):
                    self.ok(f"{name}SetValues", one, other)
                    self.client.check(name, self.got(f"{name}GetValues", one, "void *") == self.at(other))
                self.ok("DnMatSetStridedBatch", matrix, 2, 24)
                self.ok("DnMatGetStridedBatch", matrix, *size)
                self.client.check("batch", [place[0] for place in size] == [2, 24])
            for name, one in (("DnMat", matrix), ("DnVec", vector), ("SpVec", sparse)):
                self.ok(f"Destroy{name}", one)

    def batches(self) -> None:
        """One sparse matrix by several dense ones, and several by several."""
        m, k, n, count = 12, 10, 5, 3
        for each in (False, True):
            for kind in (CSR, COO):
                a = self.matrix("D", m, k)
                values = self.numbers("D", count, np.count_nonzero(a)) if each else a[np.nonzero(a)][None]
                matrix, on = self.sparse(a, "D", kind)
                size, all_values = values.shape[1], self.on(values)
                first, second = (self.on(np.tile(one.values, count)) for one in on[:2])
                self.ok(f"{NAMES[kind]}SetPointers", matrix, first, second, all_values)
                strides = ((m + 1, size) if each else (0, 0)) if kind == CSR else ((size,) if each else (0,))
                self.ok(f"{NAMES[kind]}SetStridedBatch", matrix, count, *strides)
                found = self.got("SpMatGetStridedBatch", matrix, "int")
                self.client.check(f"batches {found}", found == [count])
                b, c = self.numbers("D", count, n, k), self.numbers("D", count, n, m)
                (db, _), (dc, to) = self.dense(b[0].T, "D"), self.dense(c[0].T, "D")
                to_b, to = self.on(b), self.on(c)
                for descriptor, values_on, step in ((db, to_b, n * k), (dc, to, n * m)):
                    self.ok("DnMatSetValues", descriptor, values_on)
                    self.ok("DnMatSetStridedBatch", descriptor, count, step)
                one, zero = np.ones(1), np.zeros(1)
                given = (PLAIN, PLAIN, one, matrix, db, zero, dc, DATA_TYPE["D"], 0)
                self.call("SpMM", *given, self.buffer("SpMM_bufferSize", *given))
                for i in range(count):
                    full = np.zeros((m, k))
                    full[np.nonzero(a)] = values[i if each else 0]
                    found_one = to.now().reshape(count, n, m)[i].T
                    self.near(f"batch {i} of {NAMES[kind]}, each its own: {each}", "D", found_one, full @ b[i].T, k)
                if each:
                    self.one_at_a_time(matrix, dc)
        self.ok("SpMatSetStridedBatch", matrix, 2)

    def one_at_a_time(self, several: Any, dense: Any) -> None:
        """Other functions do not take batches: rocSPARSE would take the first only."""
        m, n, one = 12, 10, np.ones(1)
        (da, _), (db, _) = self.dense(np.zeros((m, 4)), "D"), self.dense(np.zeros((4, n)), "D")
        size, (dx, _), (dy, _) = self.ffi.new("size_t *"), self.vector(np.zeros(n), "D"), self.vector(np.zeros(m), "D")
        given = (self.handle, PLAIN, PLAIN, one, da, db, one, several, DATA_TYPE["D"], 0, size)
        self.answers("several", NOT_SUPPORTED, "SDDMM_bufferSize", *given)
        given = (self.handle, PLAIN, one, several, dx, one, dy, DATA_TYPE["D"], 0, size)
        self.answers("several", NOT_SUPPORTED, "SpMV_bufferSize", *given)
        whole, _ = self.dense(np.zeros((m, n)), "D")
        self.answers("several", NOT_SUPPORTED, "SparseToDense_bufferSize", self.handle, several, whole, 0, size)
        square, _ = self.sparse(self.matrix("D", m, m), "D")
        descr = self.new("cusparseSpSMDescr_t", "SpSM_createDescr")
        given = (self.handle, PLAIN, PLAIN, one, square, dense, dense, DATA_TYPE["D"], 0, descr, size)
        self.answers("several", NOT_SUPPORTED, "SpSM_bufferSize", *given)

    def refusals(self) -> None:
        plain = self.client.plain
        for row in cusparse.ROWS:
            kinds = [self.ffi.typeof(plain.__getattr__(row.symbol)).args] if row.takes else [()]
            zeros = [self.ffi.cast(kind, 0) if kind.kind != "struct" else self.ffi.new(f"{kind.cname} *")[0]
                     for kind in kinds[0]]  # fmt: skip
            function = getattr(plain, row.symbol)
            if not row.works:
                self.client.check(f"{row.symbol} is refused", function(*zeros) == NOT_SUPPORTED)
            elif row.returns:
                continue
            elif re.match(r"cusparse(Sp\w+_d|D)estroy", row.symbol):
                self.client.check(f"{row.symbol} of nothing", function(*zeros) == 0)
            elif row.symbol.startswith("cusparseSetMat"):
                self.client.check(f"{row.symbol} of nothing", function(*zeros) == NOT_INITIALIZED)
            elif row.takes[0].type == "cusparseHandle_t":
                status = function(*zeros)
                self.client.check(f"{row.symbol} without a handle: {status}", status == NOT_INITIALIZED)
                if len(zeros) > 1 and any(one.is_pointer for one in row.takes):
                    status = function(self.handle, *zeros[1:])
                    self.client.check(f"{row.symbol} of nothing: {status}", 0 <= status <= NOT_SUPPORTED)
            else:
                status = function(*zeros)
                self.client.check(f"{row.symbol} of nothing: {status}", status in (INVALID_VALUE, NOT_SUPPORTED))
        out = self.ffi.new("cusparseDnMatDescr_t *")
        on = self.on(np.zeros(12))
        self.answers("no such order", INVALID_VALUE, "CreateDnMat", out, 4, 3, 4, on, 1, 3)
        self.answers("no such type", NOT_SUPPORTED, "CreateDnMat", out, 4, 3, 4, on, 99, ROWS)
        self.answers("too short columns", INVALID_VALUE, "CreateDnMat", out, 4, 3, 3, on, 1, COLUMNS)
        matrix, _ = self.sparse(self.matrix("D", 4, 3), "D")
        (dx, _), (dy, _) = self.vector(np.zeros(3), "D"), self.vector(np.zeros(4), "D")
        one, size = np.ones(1), self.ffi.new("size_t *")
        name = "SpMV_bufferSize"
        self.answers("no operation", INVALID_VALUE, name, self.handle, 3, one, matrix, dx, one, dy, 1, 0, size)
        self.answers("no algorithm", NOT_SUPPORTED, name, self.handle, 0, one, matrix, dx, one, dy, 1, 77, size)
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, 1, one, matrix, dx, one, dy, 1, 0, size)
        (db, _), (dc, _) = self.dense(np.zeros((4, 2)), "D"), self.dense(np.zeros((4, 2)), "D")
        name = "SpMM_bufferSize"
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, 0, 0, one, matrix, db, one, dc, 1, 0, size)
        name = "SDDMM_bufferSize"
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, 0, 0, one, db, dc, one, matrix, 1, 0, size)
        name = "SparseToDense_bufferSize"
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, matrix, db, 0, size)
        wide = self.new("cusparseSpSVDescr_t", "SpSV_createDescr")
        name = "SpSV_bufferSize"
        self.answers("not square", INVALID_VALUE, name, self.handle, 0, one, matrix, dx, dy, 1, 0, wide, size)
        square, _ = self.sparse(self.matrix("D", 4, 4), "D")
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, 0, one, square, dx, dy, 1, 0, wide, size)
        many = self.new("cusparseSpSMDescr_t", "SpSM_createDescr")
        (db, _), (dc, _) = self.dense(np.zeros((5, 2)), "D"), self.dense(np.zeros((5, 2)), "D")
        name = "SpSM_bufferSize"
        self.answers("wrong sizes", INVALID_VALUE, name, self.handle, 0, 0, one, square, db, dc, 1, 0, many, size)
        (dv, _), sv = self.vector(np.zeros(7), "D"), self.spvec(9)
        self.answers("wrong sizes", INVALID_VALUE, "Scatter", self.handle, sv, dv)
        self.answers("wrong sizes", INVALID_VALUE, "Gather", self.handle, dv, sv)
        self.answers("wrong sizes", INVALID_VALUE, "Axpby", self.handle, one, sv, one, dv)
        descr = self.new("cusparseSpSVDescr_t", "SpSV_createDescr")
        self.answers("no analysis", INVALID_VALUE, "SpSV_solve", self.handle, 0, one, matrix, dx, dy, 1, 0, descr)

    def spvec(self, size: int) -> Any:
        about = (size, 2, self.on(np.arange(2, dtype=np.int32)), self.on(np.zeros(2)), 2, 0, DATA_TYPE["D"])
        return self.new("cusparseSpVecDescr_t", "CreateSpVec", *about)

    def check_all(self) -> None:
        self.of_handle()
        self.streams()
        self.changed_matrices()
        self.sparse_matrices()
        self.dense_and_vectors()
        self.batches()
        self.refusals()
