"""cuSOLVER's functions with 64-bit sizes and types as arguments. hipSOLVER has some of them; the others call its
functions with 32-bit sizes, selected by the matrix type (CUSOLVER_TYPED in generic.h), with the workspace on the
device."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ptx2amd.api.spec import Function
from ptx2amd.records import dataclass

_HEAD = "cusolverDnHandle_t handle, cusolverDnParams_t params, "
_INVALID = "CUSOLVER_STATUS_INVALID_VALUE"
#: The first CUDA version without the CUDA 11 functions whose names have no X.
_END = 13000


@dataclass(frozen=True)
class _Generic:
    """`text`: parameters before the workspaces, as in the function that returns the workspace size. `real`, `complex`:
    the functions called, with ? for the precision. `asked`, `given`: their arguments before the workspace size, and
    before the workspace; `more`, `asked_more`: arguments after the size. `sized`: values that must fit into an int.
    `done`: C around a call. `last`, `asked_last`: parameters after the workspaces and `info`. `older`: CUDA 11 also has
    a variant with one workspace. `jacobi`: it takes the handle's Jacobi settings."""

    name: str
    text: str
    real: str
    complex: str
    asked: str
    given: str
    sized: str
    more: str = "info"
    done: str = "{}"
    asked_more: str = ""
    last: str = ""
    asked_last: str = ""
    older: bool = True
    jacobi: bool = False


_TYPE = "cudaDataType dataTypeA, void *A, int64_t lda"
_EIGEN = f"cublasFillMode_t uplo, int64_t n, {_TYPE}, "
_VALUES = "cudaDataType dataTypeW, void *W, cudaDataType computeType"
_RANGE = "void *vl, void *vu, int64_t il, int64_t iu, out int64_t *h_meig, "
_BOUNDS = "cusolver_bound(dataTypeA, vl), cusolver_bound(dataTypeA, vu), (int)il, (int)iu, &cusolver_values, W"
_SINGULAR = (
    f"signed char jobu, signed char jobvt, int64_t m, int64_t n, {_TYPE}, cudaDataType dataTypeS, void *S, "
    "cudaDataType dataTypeU, void *U, int64_t ldu, cudaDataType dataTypeVT, void *VT, int64_t ldvt, "
    "cudaDataType computeType"
)
_POLAR = (
    f"int64_t m, int64_t n, {_TYPE}, cudaDataType dataTypeS, void *S, cudaDataType dataTypeU, void *U, int64_t ldu, "
    "cudaDataType dataTypeV, void *V, int64_t ldv, cudaDataType computeType"
)
_TURNED = "handle, jobz, econ, (int)m, (int)n, A, (int)lda, S, U, (int)ldu, V, (int)ldv"
_ALL, _SOME = "handle, jobz, uplo, (int)n, A, (int)lda, W", "handle, jobz, range, uplo, (int)n, A, (int)lda"
_TABLE = (
    _Generic("Syevd", f"cusolverEigMode_t jobz, {_EIGEN}{_VALUES}", "Dn?syevd", "Dn?heevd", _ALL, _ALL, "n | lda"),
    _Generic(
        "Syevdx", f"cusolverEigMode_t jobz, cusolverEigRange_t range, {_EIGEN}{_RANGE}{_VALUES}", "Dn?syevdx",
        "Dn?heevdx", f"{_SOME}, {_BOUNDS}", f"{_SOME}, {_BOUNDS}", "n | lda | il | iu",
        done="cusolver_counted({}, h_meig)",
    ),
    _Generic(
        "Gesvd", _SINGULAR, "Dn?gesvd", "Dn?gesvd", "handle, (int)m, (int)n",
        "handle, jobu, jobvt, (int)m, (int)n, A, (int)lda, S, U, (int)ldu, VT, (int)ldvt", "m | n | lda | ldu | ldvt",
        more="NULL, info",
    ),
    _Generic(
        "SyevBatched", f"cusolverEigMode_t jobz, {_EIGEN}{_VALUES}", "Dn?syevjBatched", "Dn?heevjBatched", _ALL, _ALL,
        "n | lda | batchSize", more="info, cusolver_syevj, (int)batchSize",
        asked_more=", cusolver_syevj, (int)batchSize", last=", int64_t batchSize", asked_last=", int64_t batchSize",
        older=False, jacobi=True,
    ),
    _Generic(
        "Gesvdp", f"cusolverEigMode_t jobz, int econ, {_POLAR}", "Dn?gesvdj", "Dn?gesvdj", _TURNED, _TURNED,
        "m | n | lda | ldu | ldv", more="info, cusolver_gesvdj", asked_more=", cusolver_gesvdj",
        last=", out double *h_err_sigma", done="(*h_err_sigma = 0, {})", older=False, jacobi=True,
    ),
)  # fmt: skip


def _unless(one: _Generic) -> str:
    """Conditions under which types do not match or sizes are too large."""
    kinds = re.findall(r"cudaDataType (\w+)", one.text)
    wanted = {name: "cusolver_real(dataTypeA)" if name[-1] in "SW" else "dataTypeA" for name in kinds}
    wrong = "".join(f" || {name} != {kind}" for name, kind in wanted.items() if name != kind)
    settings = " || !cusolver_jacobi(handle)" if one.jacobi else ""
    return f"cusolver_wide({one.sized}){wrong}{settings}: {_INVALID}"


def _typed(one: _Generic, ending: str, arguments: str) -> str:
    names = [(one.complex if letter in "CZ" else one.real).replace("?", letter) + ending for letter in "SDCZ"]
    return f"CUSOLVER_TYPED(dataTypeA, {', '.join(names)}, {arguments})"


def _both(one: _Generic, text: str, size: bool, call: str) -> Iterator[Function]:
    """The function with workspaces on device and host, and the CUDA 11 variant with one. In `call`, BUFFER and BYTES
    are the device workspace, HOST receives the size of the other."""
    ending = "_bufferSize" if size else ""
    for x, buffer, count, host in (
        ("X", "bufferOnDevice", "workspaceInBytesOnDevice", "workspaceInBytesOnHost"),
        ("", "pBuffer", "workspaceInBytes", ""),
    ):
        if not host and not one.older:
            continue
        if size:
            rooms = f"out size_t *{count}" + (f", out size_t *{host}" if host else "")
        else:
            rooms = f"void *{buffer}, size_t {count}" + (f", void *bufferOnHost, size_t {host}" if host else "")
            rooms += ", int *info"
        rooms += one.asked_last if size else one.last
        words = {"BUFFER": buffer, "BYTES": count, "HOST": host or "NULL"}
        own = call
        for word, name_of_it in words.items():
            own = re.sub(rf"\b{word}\b", name_of_it, own)
        symbol, until = (f"cusolverDnX{one.name[0].lower()}{one.name[1:]}", 0) if x else (f"cusolverDn{one.name}", _END)
        yield Function(f"{symbol}{ending}", 0, f"{text}, {rooms}", call=own, unless=_unless(one), until=until)


def rows() -> Iterator[Function]:
    """Those that hipSOLVER lacks."""
    for one in _TABLE:
        call = _typed(one, "", f"{one.given}, BUFFER, cusolver_lwork(dataTypeA, BYTES), {one.more}")
        yield from _both(one, f"{_HEAD}{one.text}", False, one.done.format(call))
        asked = _typed(one, "_bufferSize", f"{one.asked}, &cusolver_work{one.asked_more}")
        text = re.sub(r"\bvoid \*(?!vl|vu)", "const void *", one.text).replace("out int64_t", "int64_t")
        call = f"cusolver_room({asked}, dataTypeA, BYTES, HOST)"
        yield from _both(one, f"{_HEAD}{text}", True, call)


def first(generic: Iterable[Function]) -> Iterator[Function]:
    """The CUDA 11 functions with one workspace, for those that hipSOLVER has."""
    for row in generic:
        if not re.fullmatch(r"cusolverDnX(getrf|getrs|potrf|potrs|geqrf)(_bufferSize)?", row.symbol):
            continue
        name = row.symbol.removeprefix("cusolverDnX")
        arguments = row.arguments.replace("bufferOnHost, workspaceInBytesOnHost", "NULL, 0")
        arguments = arguments.replace("workspaceInBytesOnHost", "&(size_t){0}")
        text = re.sub(
            r", void \*bufferOnHost, size_t workspaceInBytesOnHost|, out size_t \*\w+OnHost", "", row.parameters
        )
        yield Function(
            f"cusolverDn{name[0].upper()}{name[1:]}", 0, text, call=f"hipsolverDnX{name}({arguments})",
            unless=row.unless, until=_END,
        )  # fmt: skip
