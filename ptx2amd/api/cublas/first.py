"""The legacy cuBLAS API: functions without a handle that take letters for options and scalars by value, return results,
and store errors for cublasGetError. Each calls the function of the current API with a handle of the library's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx2amd.api.spec import Function, Parameter

#: The meaning of a letter, as C of libmap/cublas/first.c.
_LETTERS = {
    "cublasOperation_t": "cublas_operation",
    "cublasFillMode_t": "cublas_fill",
    "cublasDiagType_t": "cublas_diagonal",
    "cublasSideMode_t": "cublas_side",
}
#: Functions whose scalars are passed by pointer.
_POINTERS = ("rotg", "rotm", "rotmg")


#: Functions that only the current API has.
_LATER = {f"cublas{letter}{name}" for letter in "CZ" for name in ("symv", "syr", "syr2")}


def rows(second: Iterable[Function]) -> Iterator[Function]:
    """The legacy variants of rows of the current API."""
    for row in second:
        symbol = row.symbol.removesuffix("_v2")
        if symbol != row.symbol and symbol not in _LATER:
            yield _twin(row, symbol)


def _twin(row: Function, symbol: str) -> Function:
    taken, given, result = [], ["cublas_default()"], ""
    in_place = symbol.endswith("trmm")
    for parameter in row.takes[1:]:
        name = parameter.name
        if in_place and name in ("C", "ldc"):
            given.append("B" if name == "C" else "ldb")
        elif parameter.type in _LETTERS:
            taken.append(f"char {name}")
            given.append(f"{_LETTERS[parameter.type]}({name})")
        elif name == "result" and parameter.role == "scalar":
            result = parameter.target
            given.append("&result")
        elif _by_value(symbol, parameter):
            taken.append(f"{parameter.target} {name}")
            given.append(f"&{name}")
        else:
            text = parameter.text
            taken.append(text.removeprefix("const ") if in_place and name == "B" else text)
            given.append(name)
    call = f"cublas_note({row.symbol}({', '.join(given)}))"
    if result:
        zero = "{0, 0}" if "omplex" in result else "0"
        call = f"({{ {result} result = {zero}; {call}; result; }})"
    return Function(symbol, 0, ", ".join(taken), c=call, returns=result or "void")


def _by_value(symbol: str, parameter: Parameter) -> bool:
    if symbol.endswith(_POINTERS):
        return symbol in ("cublasCrotg", "cublasZrotg") and parameter.name == "b"
    return parameter.role == "scalar"


#: The other functions of the legacy API, written in C.
OTHERS = (
    Function("cublasInit", 0, "void", ours=True),
    Function("cublasShutdown", 0, "void", ours=True),
    Function("cublasGetError", 0, "void", ours=True),
    Function("cublasGetVersion", 0, "int *version", ours=True),
    Function("cublasAlloc", 0, "int n, int elemSize, void **devicePtr", ours=True),
    Function("cublasFree", 0, "void *devicePtr", ours=True),
    Function("cublasSetKernelStream", 0, "cudaStream_t stream", ours=True),
)
