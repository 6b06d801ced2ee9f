"""Calls of cublasLt about descriptions, algorithms, transformations, versions and the log."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.libmap.client import Array, Client
from tests.libmap.cublaslt_products import DESC, LAYOUT, ROUNDING, N, Product, Run, T, exact, stored

INVALID_VALUE, NOT_SUPPORTED, ALLOC_FAILED, INTERNAL_ERROR = 7, 15, 3, 14
#: Of a preference and of a transformation: number and type of the attributes.
PREFERENCE = {"search": (0, "u4"), "workspace": (1, "u8"), "math": (2, "u4"), "reductions": (3, "u4"),
              "align": (5, "u4"), "waves": (9, "f4"), "masks": (12, "u8"), "units": (13, "u4")}  # fmt: skip
TRANSFORM = {"scale": (0, "i4"), "mode": (1, "i4"), "a": (2, "i4"), "b": (3, "i4")}


def check_all(client: Client, handle: Any, transforms: bool, version: int) -> None:
    """`transforms`: whether hipBLASLt has code for the chip."""
    run = Run(client, handle, Product())
    descriptions(client, run)
    algorithms(client, run)
    transformations(client, handle, transforms)
    questions(client, version)
    log(client, run)


def descriptions(client: Client, run: Run) -> None:
    """Every attribute is what it was set to, in memory of the library's and of the program's."""
    check, ffi, lt = client.check, client.ffi, client.library
    for name, of, attributes in (
        ("MatrixLayout", (0, 5, 6, 7), LAYOUT),
        ("MatmulDesc", (68, 0), DESC),
        ("MatrixTransformDesc", (0,), TRANSFORM),
        ("MatmulPreference", (), PREFERENCE),
    ):
        for inline in (False, True):
            run.inline = inline
            made, get = run.described(name, *of), getattr(lt, f"cublasLt{name}GetAttribute")
            written = ffi.new("size_t *")
            for field, (number, kind) in attributes.items():
                for value in (1, 3, 100):
                    status = run.set(name, made, (number, kind), value)
                    back = np.zeros(1, kind)
                    status = status or get(made, number, client.address(back), back.nbytes, written)
                    check(f"{name} {field} {value}: {status}", status == 0 and back[0] == value == back[0])
                    check(f"{name} {field}: size", written[0] == back.nbytes)
                check(
                    f"{name} {field}: size alone",
                    get(made, number, ffi.NULL, 0, written) == 0 and written[0] == back.nbytes,
                )
                bits = np.zeros(3, np.uint64)
                for size in (3, 16):
                    status = getattr(lt, f"cublasLt{name}SetAttribute")(made, number, client.address(bits), size)
                    check(f"{name} {field} of {size} bytes", status == INVALID_VALUE)
                status = getattr(lt, f"cublasLt{name}SetAttribute")(made, number, ffi.NULL, back.nbytes)
                check(f"{name} {field} from null", status == INVALID_VALUE)
            check(f"{name}: no such attribute", run.set(name, made, (77, "i4"), 0) == INVALID_VALUE)
            check(f"{name} is null", run.set(name, ffi.NULL, (0, "i4"), 0) == INVALID_VALUE)
            if not inline:
                check(f"{name}: end", getattr(lt, f"cublasLt{name}Destroy")(made) == 0)
        small = ffi.new("uint64_t[32]")
        own = ffi.cast(f"cublasLt{name}_t", small)
        check(f"{name}: too small", getattr(lt, f"cublasLt{name}Init_internal")(own, 8, *of) == ALLOC_FAILED)
        check(f"{name}: none", getattr(lt, f"cublasLt{name}Destroy")(own) == INVALID_VALUE)
        check(f"{name}: null", getattr(lt, f"cublasLt{name}Destroy")(ffi.NULL) == 0)
        check(f"{name}: nowhere", getattr(lt, f"cublasLt{name}Create")(ffi.NULL, *of) == INVALID_VALUE)
    run.inline = False
    for number in (22, 26):
        back = np.zeros(1, np.int32)
        made = run.described("MatmulDesc", 68, 0)
        status = lt.cublasLtMatmulDescGetAttribute(made, number, client.address(back), 4, ffi.NULL)
        check(f"types that follow D's: {number}", status == 0 and back[0] == -1)
    for number in (27, 29, 38, 41):
        check(f"refused attribute {number}", run.set("MatmulDesc", made, (number, "i4"), 1) == NOT_SUPPORTED)


def algorithms(client: Client, run: Run) -> None:
    check, ffi, lt = client.check, client.ffi, client.library
    ids, count, algo = ffi.new("int[4]"), ffi.new("int *"), ffi.new("cublasLtMatmulAlgo_t *")
    kind = (run.handle, 68, 0, 2, 2, 2, 2)
    check("numbers", lt.cublasLtMatmulAlgoGetIds(*kind, 4, ids, count) == 0 and count[0] == 1 and ids[0] == 0)
    check("no numbers wanted", lt.cublasLtMatmulAlgoGetIds(*kind, 0, ids, count) == INVALID_VALUE)
    check("no such number", lt.cublasLtMatmulAlgoInit(*kind, -1, algo) == INVALID_VALUE)
    check("begin", lt.cublasLtMatmulAlgoInit(*kind, 7, algo) == 0)
    status = run.multiply(algo[0], workspace=1 << 22)
    check(f"an algorithm by number: {status}", status == 0 and run.right(run.sums()))
    result = ffi.new("cublasLtMatmulHeuristicResult_t *")
    a, b, c = run.layouts
    problem = (run.handle, run.desc, a, b, c, c)
    for stream in ((), (ffi.NULL,)):
        name = "cublasLtMatmulAlgoCheck" + ("ForStream" if stream else "")
        check(name, getattr(lt, name)(*problem, algo, result, *stream) == 0 and result.state == 0)
    status, found = run.algorithms(2)
    check("its own", lt.cublasLtMatmulAlgoCheck(*problem, ffi.addressof(found[0].algo), result) == 0)
    other = Run(client, run.handle, Product(m=128, trans_a=T))
    theirs = (run.handle, other.desc, *other.layouts, other.layouts[2])
    status = lt.cublasLtMatmulAlgoCheck(*theirs, ffi.addressof(found[0].algo), result)
    check(f"another's: {status}", status == NOT_SUPPORTED)
    status = other.multiply(found[0].algo, workspace=1 << 22)
    check(f"another's is not taken: {status}", status == 0 and other.right(other.sums()))
    preference, results = run.described("MatmulPreference"), ffi.new("cublasLtMatmulHeuristicResult_t[2]")
    status = lt.cublasLtMatmulAlgoGetHeuristicForStream(*problem, preference, 2, results, count, ffi.NULL)
    check(f"without workspace: {status}", status == 0 and count[0] and results[0].workspaceSize == 0)
    check("none wanted", lt.cublasLtMatmulAlgoGetHeuristic(*problem, preference, 0, results, count) == INVALID_VALUE)
    bits, written = np.zeros(1, np.uint64), ffi.new("size_t *")
    at = client.address(bits)
    for number, expected in ((3, 1), (4, 1), (0, 0), (5, 0), (16, 1)):
        status = lt.cublasLtMatmulAlgoCapGetAttribute(algo, number, at, 4, written)
        check(f"can {number}", status == 0 and bits[0] == expected and written[0] == 4)
    check("tiles", lt.cublasLtMatmulAlgoCapGetAttribute(algo, 6, ffi.NULL, 0, written) == 0 and written[0] == 0)
    check("no such ability", lt.cublasLtMatmulAlgoCapGetAttribute(algo, 99, at, 4, written) == INVALID_VALUE)
    for number in range(9):
        size, expected = 4 if number < 7 else 2, {0: 7, 2: 1}.get(number, 0)
        bits[0] = 0
        status = lt.cublasLtMatmulAlgoConfigGetAttribute(algo, number, at, size, written)
        check(f"setting {number}", status == 0 and bits[0] == expected and written[0] == size)
        bits[0] = 5
        status = lt.cublasLtMatmulAlgoConfigSetAttribute(algo, number, at, size)
        check(f"setting {number} to 5", status == (0 if number else INVALID_VALUE))
        bits[0] = 0
        status = lt.cublasLtMatmulAlgoConfigGetAttribute(algo, number, at, size, written)
        check(f"setting {number} is 5", status == 0 and bits[0] == (5 if number else 7))
    status = run.multiply(algo[0], workspace=1 << 22)
    check(f"settings change nothing: {status}", status == 0 and run.right(run.sums()))
    check("no such setting", lt.cublasLtMatmulAlgoConfigSetAttribute(algo, 99, at, 4) == INVALID_VALUE)


def flat(matrix: Array, order: int) -> Array:
    """As it lies in memory."""
    return np.ascontiguousarray(matrix if order else matrix.T).reshape(-1)


#: Types: numbers on both sides, of the sums.
_TRANSFORMED = (("f32", 0, 0), ("f16", 2, 0), ("bf16", 14, 0), ("i8", 3, 0), ("i32", 10, 0), ("f16 in f16", 2, 2))


def transformations(client: Client, handle: Any, there: bool) -> None:
    """C = alpha op(A) + beta op(B), between orders; without code for the chip, each is an error."""
    check, ffi = client.check, client.ffi
    helper, rows, cols = Run(client, handle, Product()), 33, 20
    for name, kind, scale in _TRANSFORMED:
        for trans, orders, both in ((N, (0, 1), False), (T, (0, 0), True), (N, (1, 0), True), (T, (1, 1), False)):
            draw = client.draw
            shape = (rows, cols) if trans == N else (cols, rows)
            a = stored(np.round(draw.uniform(-9, 9, shape)), kind)
            b = stored(np.round(draw.uniform(-9, 9, (rows, cols))), kind)
            given = [client.on_device(flat(a, orders[0])), client.on_device(flat(b, orders[1]))]
            result = client.on_device(np.zeros_like(flat(b, orders[1])))
            layouts = [helper.layout(kind, size, size[1] if order else size[0], order, 0)
                       for size, order in ((shape, orders[0]), ((rows, cols), orders[1]))]  # fmt: skip
            desc = helper.described("MatrixTransformDesc", scale)
            helper.set("MatrixTransformDesc", desc, TRANSFORM["a"], trans)
            kinds = np.float16 if scale == 2 else np.float32
            status = client.call(
                "cublasLtMatrixTransform", handle, desc, np.array([2], kinds), given[0], layouts[0],
                np.array([3 if both else 0], kinds), given[1] if both else ffi.NULL, layouts[1] if both else ffi.NULL,
                result, layouts[1], ffi.NULL,
            )  # fmt: skip
            expected = 2 * exact(a if trans == N else a.T, kind) + 3 * both * exact(b, kind)
            back = result.now().reshape((rows, cols) if orders[1] else (cols, rows))
            found = exact(back if orders[1] else back.T, kind)
            good = status == 0 and np.allclose(found, expected, rtol=ROUNDING[kind] if kind in (2, 14) else 0)
            check(
                f"transformation {name} {trans} {orders} {both}: {status}", good if there else status == INTERNAL_ERROR
            )
    tiles = helper.layout(3, (32, 32), 1024, 2, 0)
    status = client.call("cublasLtMatrixTransform", handle, desc, np.ones(1, np.float32), given[0], tiles,
                         np.zeros(1, np.float32), ffi.NULL, ffi.NULL, result, tiles, ffi.NULL)  # fmt: skip
    check(f"tiles: {status}", status == NOT_SUPPORTED)


def questions(client: Client, version: int) -> None:
    check, ffi, lt = client.check, client.ffi, client.library
    value, size = ffi.new("int *"), ffi.new("size_t *")
    check("version", lt.cublasLtGetVersion() == version)
    check("runtime", lt.cublasLtGetCudartVersion() // 1000 == version // 10000)
    check("major", lt.cublasLtGetProperty(0, value) == 0 and value[0] == version // 10000)
    check("no such part", lt.cublasLtGetProperty(7, value) == INVALID_VALUE)
    check("name", ffi.string(lt.cublasLtGetStatusName(15)) == b"CUBLAS_STATUS_NOT_SUPPORTED")
    check("text", ffi.string(lt.cublasLtGetStatusString(0)) == b"success")
    check("capacity", lt.cublasLtHeuristicsCacheSetCapacity(100) == 0)
    check("capacity read", lt.cublasLtHeuristicsCacheGetCapacity(size) == 0 and size[0] == 100)
    check(
        "instructions",
        lt.cublasLtDisableCpuInstructionsSetMask(3) == 0 and lt.cublasLtDisableCpuInstructionsSetMask(0) == 3,
    )


def log(client: Client, run: Run) -> None:
    check, ffi, lt = client.check, client.ffi, client.library
    said: list[tuple[int, bytes]] = []
    callback = ffi.callback(
        "void(int, const char *, const char *)", lambda level, name, text: said.append((level, ffi.string(name)))
    )
    check("callback", lt.cublasLtLoggerSetCallback(callback) == 0 and lt.cublasLtLoggerSetLevel(1) == 0)
    run.multiply(alpha=ffi.NULL)
    check(f"an error in the log: {said}", said == [(1, b"cublasLtMatmul")])
    check("no such level", lt.cublasLtLoggerSetLevel(6) == INVALID_VALUE)
    check("calls", lt.cublasLtLoggerSetMask(16) == 0)
    run.multiply(workspace=1 << 22)
    check(f"a call in the log: {said}", said[1:] == [(5, b"cublasLtMatmul")])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        check(
            "file", lt.cublasLtLoggerOpenFile(str(path).encode()) == 0 and lt.cublasLtLoggerSetCallback(ffi.NULL) == 0
        )
        run.multiply(workspace=1 << 22)
        check("a call in the file", path.read_text().count("cublasLtMatmul") == 1)
        check("no folder", lt.cublasLtLoggerOpenFile(f"{folder}/none/log".encode()) == INVALID_VALUE)
        check("disabled", lt.cublasLtLoggerForceDisable() == 0)
        run.multiply(workspace=1 << 22)
        check("nothing more", path.read_text().count("cublasLtMatmul") == 1)
        check("no file", lt.cublasLtLoggerSetFile(ffi.NULL) == 0 and lt.cublasLtLoggerSetMask(0) == 0)
