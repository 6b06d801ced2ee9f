"""cuSPARSE as data: libcusparse on AMD's hipSPARSE (which calls rocSPARSE); functions have the same parameters. The
rows are in text files (texts.py), where `handle` and `descr...` abbreviate such parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api import texts
from ptx2amd.api.cusparse.types import ENUMS, NAMES, STATUSES, TYPES
from ptx2amd.api.mapped import Beside, Mapped
from ptx2amd.api.spec import Api, Check, Found, Function
from ptx2amd.libraries import CUSPARSE

_FOLDER = Path(__file__).parent
_INVALID, _NOT_INITIALIZED = "CUSPARSE_STATUS_INVALID_VALUE", "CUSPARSE_STATUS_NOT_INITIALIZED"
_HANDLE = "cusparseHandle_t handle"

API = Api(
    name="cusparse",
    status="cusparseStatus_t",
    header="cusparse_handle.h",
    null=_INVALID,
    beneath=(r"\bhipsparse(\w+)\(", r"hipsparse.\1("),
    result=f"!cusparse_ready() ? {_NOT_INITIALIZED} : cusparse_status({{}})",
    success="CUSPARSE_STATUS_SUCCESS",
    types=TYPES,
    found={
        "cusparseHandle_t": Found("cusparse_found", "hipsparseHandle_t ", _NOT_INITIALIZED),
    },
    enums=ENUMS,
    checks={"cusparseHandle_t": Check("!cusparse_found({}, &(hipsparseHandle_t){{0}})", _NOT_INITIALIZED)},
    refusal='libmap_refuse(&said, "{}", CUSPARSE_STATUS_NOT_SUPPORTED)',
)


def _read(name: str, ours: bool = False) -> Iterator[Function]:
    """The rows of a text file. Each calls hipSPARSE's function of that name, or is written in C."""
    for one in texts.read(_FOLDER / name):
        text = ", ".join(map(_expanded, one.parameters))
        by_hand = ours or re.fullmatch(_BY_HAND, one.name) is not None
        call = "" if by_hand else _call(one.name, text)
        yield Function(
            f"cusparse{one.name}", one.since, text, call=call, ours=by_hand, until=one.until,
            unless=_without(one.name, text) or _unless(one.name),
        )  # fmt: skip


def _expanded(parameter: str) -> str:
    if parameter == "handle":
        return _HANDLE
    return f"const cusparseMatDescr_t {parameter}" if re.fullmatch(r"descr\w*", parameter) else parameter


#: Functions that rocSPARSE has, with wrong results (cholesky.c).
_BY_HAND = "[CZ][cb]sric02(_.*)?"

#: Parameters with a different type in hipSPARSE, by function: name and that type.
_OTHER_TYPES = {
    "Dprune.*ByPercentage.*": ("percentage", "double "),
    "SpVV_bufferSize": ("result", "void *"),
    "SpMatSetAttribute": ("data", "const void *"),
}


def _other_type(symbol: str) -> tuple[str, str] | None:
    return next((other for names, other in _OTHER_TYPES.items() if re.fullmatch(names, symbol)), None)


def _call(symbol: str, text: str) -> str:
    """hipSPARSE's function, with casts of parameters."""
    if symbol == "Xcsric02_zeroPivot":
        return "cusparse_pivot(handle, info, position)"
    if (other := _other_type(symbol)) is None:
        return f"hipsparse{symbol}"
    name, kind = other
    given = (f"({kind}){name}" if one == name else one for one in Function("", 0, text).named)
    return f"hipsparse{symbol}({', '.join(given)})"


_PRODUCT_FITS = "cusparse_sparse_product_fits(opA, opB, matA, matB, matC)"
#: Conditions on the arguments of functions with this prefix, and where they are rejected (shapes.c).
_CONDITIONS = {
    "SpMM": ("cusparse_product_fits(opA, opB, matA, matB, matC)", ""),
    "SpGEMM_(?!.*Descr)": (_PRODUCT_FITS, "cusparse_batch(matA, NULL, NULL) || cusparse_batch(matB, NULL, NULL)"),
    "SpGEMMreuse": (_PRODUCT_FITS, "cusparse_batch(matA, NULL, NULL) || cusparse_batch(matB, NULL, NULL)"),
    "SDDMM": ("cusparse_sampled_fits(opA, opB, matA, matB, matC)", "cusparse_batch(matC, matA, matB)"),
    "SparseToDense": ("cusparse_same_shape(matA, matB)", "cusparse_batch(matA, matB, NULL)"),
    "DenseToSparse": ("cusparse_same_shape(matB, matA)", "cusparse_batch(matB, matA, NULL)"),
    "(Axpby|Gather|Scatter|Rot|SpVV)": ("cusparse_vectors_fit(vecX, vecY)", ""),
}


def _without(symbol: str, text: str) -> str:
    """What a function of a descriptor returns if that is null, or one that makes a descriptor if its arguments are
    wrong: hipSPARSE throws exceptions."""
    first = text.partition(",")[0].rpartition(" ")[2]
    if re.fullmatch("Create(Const)?(Coo|CooAoS|Csr|Csc|BlockedEll|SpVec)", symbol):
        takes = Function("", 0, text).takes[1:]
        sizes = [one.name for one in takes if one.type == "int64_t"]
        arrays = " && ".join(one.name for one in takes if one.is_pointer)
        positive = " && ".join(f"{size} >= 0" for size in sizes)
        whole = "".join(f" && {size} % ellBlockSize == 0" for size in ("rows", "cols", "ellCols"))
        blocks = f" && ellBlockSize && ellCols <= cols{whole}" if symbol.endswith("BlockedEll") else ""
        return f"!({positive} && (!{sizes[-1]} || ({arrays})){blocks}): {_INVALID}"
    if re.match("Destroy|SpGEMM_destroy", symbol):
        return f"!{first}: CUSPARSE_STATUS_SUCCESS"
    return f"!{first}: {_NOT_INITIALIZED}" if symbol.startswith("SetMat") else ""


_ELL_PRODUCT = "cusparse_ell_multiply(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, "
_ELL_TAKE, _ELL_SPREAD = "cusparse_ell_take(handle, matA, matB, ", "cusparse_ell_spread(handle, matA, matB, "
#: Functions that take blocked ELL (blocked_ell.c): the matrix that may be of that format, and what is called then.
_ELL = {
    "SpMM": ("matA", f"{_ELL_PRODUCT}NULL, true)"),
    "SpMM_bufferSize": ("matA", f"{_ELL_PRODUCT}bufferSize, false)"),
    "SpMM_preprocess": ("matA", f"{_ELL_PRODUCT}NULL, false)"),
    "DenseToSparse_bufferSize": ("matB", f"{_ELL_TAKE}bufferSize, false)"),
    "DenseToSparse_analysis": ("matB", f"{_ELL_TAKE}NULL, false)"),
    "DenseToSparse_convert": ("matB", f"{_ELL_TAKE}NULL, true)"),
    "SparseToDense_bufferSize": ("matA", f"{_ELL_SPREAD}bufferSize, false)"),
    "SparseToDense": ("matA", f"{_ELL_SPREAD}NULL, true)"),
}


def _unless(symbol: str) -> str:
    """The conditions under which a function makes no call, and the status that it returns then."""
    text = _unfit(symbol)
    if found := _ELL.get(symbol):
        matrix, call = found
        wrong, _, answer = text.rpartition(": ")
        is_ell = f"cusparse_is_ell({matrix})"
        return f"{is_ell} || {wrong}: CUSPARSE_IF({is_ell}, {call}, {answer})"
    return text


def _unfit(symbol: str) -> str:
    """The same for arguments that do not fit, or that rocSPARSE does not support."""
    fits, refused = next((found for begins, found in _CONDITIONS.items() if re.match(begins, symbol)), ("", ""))
    if fits and refused:
        return f'!{fits} || {refused}: cusparse_no({fits}, "cusparse{symbol} of a batch")'
    if re.fullmatch("[SDCZ]gemvi", symbol):
        given = "handle, transA, m, n, alpha, A, lda, nnz, xVal, xInd, beta, y, idxBase"
        return f"transA != 0: cusparse_turned({given}, '{symbol[0]}')"  # which rocSPARSE lacks
    return f"!{fits}: {_INVALID}" if fits else ""


# ---- functions that differ ----


def _extended(rows: dict[str, Function]) -> Iterator[Function]:
    """Buffer sizes as size_t, of functions whose size hipSPARSE returns as int, or (narrow.c) as size_t."""
    for name in ("bsric02", "bsrilu02", "bsrsm2", "csr2gebsr", "gebsr2gebsc", "gebsr2gebsr"):
        for letter in texts.NUMBERS:
            row = rows[f"cusparse{letter}{name}_bufferSize"]
            by_hand = re.fullmatch(_BY_HAND, f"{letter}{name}") is not None
            arguments = ", ".join([*row.named][:-1])
            call = f"hipsparse{letter}{name}_bufferSize({arguments}, {'pBufferSize' if row.ours else '&cusparse_size'})"
            call = call if row.ours else f"cusparse_widened({call}, pBufferSize)"
            text = row.parameters.replace("out int *pBufferSizeInBytes", "out size_t *pBufferSize")
            yield Function(f"{row.symbol}Ext", 0, text, call="" if by_hand else call, ours=by_hand)


_PRODUCT = (
    f"{_HANDLE}, cusparseOperation_t opA, cusparseOperation_t opB, scalar const void *alpha, "
    "cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, scalar const void *beta, "
    "cusparseSpMatDescr_t matC, cudaDataType computeType"
)


def _constrained() -> Iterator[Function]:
    """The name of SDDMM in early CUDA 11."""
    text = _PRODUCT.replace("Const", "")
    given = "handle, opA, opB, alpha, matA, matB, beta, matC, computeType, HIPSPARSE_SDDMM_ALG_DEFAULT"
    for suffix, last in (("", "void *externalBuffer"), ("_bufferSize", "out size_t *bufferSize")):
        yield Function(f"cusparseConstrainedGeMM{suffix}", 0, f"{text}, {last}", until=12000,
                       unless=_unless("SDDMM"),
                       call=f"hipsparseSDDMM{suffix}({given}, {last.rpartition('*')[2]})")  # fmt: skip


_TO_SPARSE = (
    f"{_HANDLE}, cusparseConstDnMatDescr_t matA, cusparseSpMatDescr_t matB, cusparseDenseToSparseAlg_t alg, "
    "void *externalBuffer"
)
_TO_DENSE = (
    f"{_HANDLE}, cusparseConstSpMatDescr_t matA, cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg, "
    "void *externalBuffer"
)


def _converted() -> Iterator[Function]:
    """hipSPARSE fails on matrices without elements (empty.c)."""
    given = "(handle, matA, matB, alg, externalBuffer)"
    name = "DenseToSparse_convert"
    call = f"cusparse_empty(matB) ? HIPSPARSE_STATUS_SUCCESS : hipsparse{name}{given}"
    yield Function(f"cusparse{name}", 0, _TO_SPARSE, unless=_unless(name), call=call)
    name = "SparseToDense"
    yield Function(f"cusparse{name}", 0, _TO_DENSE, unless=_unless(name), call=f"cusparse_to_dense{given}")


def _properties() -> Iterator[Function]:
    """The matrix type of a legacy descriptor, as a result."""
    for name in ("MatType", "MatFillMode", "MatDiagType", "MatIndexBase"):
        kind = {"MatType": "MatrixType", "MatIndexBase": "IndexBase"}.get(name, name.removeprefix("Mat"))
        yield Function(
            f"cusparseGet{name}", 0, "const cusparseMatDescr_t descrA", returns=f"cusparse{kind}_t",
            c=f"cusparse_ready() && descrA ? above_cusparse{kind}_t(hipsparse.Get{name}(descrA)) : "
            "descrA ? 0 : -1",
        )  # fmt: skip


#: Functions of CUDA 11 to 13 without a counterpart.
_ABSENT = (_FOLDER / "absent.txt").read_text().split()

#: The rows of the text files.
_LISTED = (
    *_read("vectors_and_solvers.txt"),
    *_read("conversions.txt"),
    *_read("generic.txt"),
    *_read("ours.txt", ours=True),
)

ROWS = (
    *_LISTED,
    *_extended({row.symbol: row for row in _LISTED}),
    *_constrained(),
    *_converted(),
    *_properties(),
    # the handle
    Function("cusparseCreate", 0, "out cusparseHandle_t *handle", ours=True),
    Function("cusparseDestroy", 0, _HANDLE, ours=True),
    Function("cusparseSetStream", 0, f"{_HANDLE}, cudaStream_t streamId", ours=True),
    Function("cusparseGetStream", 0, f"{_HANDLE}, out cudaStream_t *streamId", value="handle->stream"),
    Function("cusparseGetVersion", 0, f"{_HANDLE}, out int *version", value="libmap_version"),
    Function("cusparseGetProperty", 0, "libraryPropertyType type, int *value", ours=True),
    Function("cusparseGetErrorName", 0, "cusparseStatus_t status", ours=True, returns="const char *"),
    Function("cusparseGetErrorString", 0, "cusparseStatus_t status", ours=True, returns="const char *"),
    *(Function(name, 0, "void") for name in _ABSENT),
)  # fmt: skip

# ---- hipSPARSE functions whose parameters differ from the row's ----

_HIP = "hipsparseHandle_t handle"


def _hip(text: str) -> str:
    """Parameters with hipSPARSE's types, without roles."""
    names = "|".join(map(re.escape, NAMES))
    return re.sub(rf"\b({names})\b", lambda found: NAMES[found[1]], Function("", 0, text).args)


def _narrowed() -> Iterator[Function]:
    rows = {row.symbol: row for row in ROWS}
    for letter in texts.NUMBERS:
        for name in ("csr2gebsr_bufferSize", "gebsr2gebsc_bufferSize"):
            text = rows[f"cusparse{letter}{name}"].parameters.replace("out int *pB", "size_t *pB")
            yield Function(f"hipsparse{letter}{name}", 0, _hip(text))


def _cast() -> Iterator[Function]:
    for row in ROWS:
        symbol = row.symbol.removeprefix("cusparse")
        if row.call and (other := _other_type(symbol)):
            name, kind = other
            takes = (f"{kind}{name}" if one.name == name else one.text for one in row.takes)
            yield Function(f"hipsparse{symbol}", 0, _hip(", ".join(takes)))


_CALLED = (
    *_cast(),
    Function("hipsparseDenseToSparse_convert", 0, _hip(_TO_SPARSE)),
    Function("hipsparseSparseToDense", 0, _hip(_TO_DENSE)),
    Function("hipsparseXcsric02_zeroPivot", 0, f"{_HIP}, csric02Info_t info, int *position"),
    Function("hipsparseCreate", 0, "hipsparseHandle_t *handle"),
    Function("hipsparseDestroy", 0, _HIP),
    Function("hipsparseSetStream", 0, f"{_HIP}, hipStream_t streamId"),
    *(
        Function(row.symbol.replace("cusparse", "hipsparse"), 0, "const hipsparseMatDescr_t descrA",
                 returns=NAMES[row.returns])
        for row in _properties()
    ),
    *_narrowed(),
    Function("hipsparseSetPointerMode", 0, f"{_HIP}, hipsparsePointerMode_t mode"),
)  # fmt: skip

#: rocSPARSE functions that the C code calls (copies.c, kept.c, multiply.c, solve.c).
_ROC = "rocsparse_handle handle"
_SPARSE = (
    "rocsparse_spmat_descr *descr, int64_t rows, int64_t cols, int64_t nnz, void *first, void *second, void *values"
)
_KINDS = "rocsparse_indextype first_type, rocsparse_indextype second_type"
_ENDS = "rocsparse_index_base base, rocsparse_datatype type"
_STAGE = "size_t *buffer_size, void *temp_buffer"

ROCSPARSE = Beside(
    prefix="rocsparse",
    name="rocSPARSE",
    sonames=("librocsparse.so.1", "librocsparse.so.0", "librocsparse.so"),
    packages="rocsparse (AMD), librocsparse1 (Debian)",
    status="rocsparse_status",
    missing="rocsparse_status_not_implemented",
    functions=(
        Function("rocsparse_create_handle", 0, "rocsparse_handle *handle"),
        Function("rocsparse_destroy_handle", 0, _ROC),
        Function("rocsparse_set_stream", 0, f"{_ROC}, hipStream_t stream"),
        Function("rocsparse_set_pointer_mode", 0, f"{_ROC}, rocsparse_pointer_mode mode"),
        Function("rocsparse_create_csr_descr", 0, f"{_SPARSE}, {_KINDS}, {_ENDS}"),
        Function("rocsparse_create_csc_descr", 0, f"{_SPARSE}, {_KINDS}, {_ENDS}"),
        Function("rocsparse_create_coo_descr", 0, f"{_SPARSE}, rocsparse_indextype index_type, {_ENDS}"),
        Function("rocsparse_destroy_spmat_descr", 0, "rocsparse_const_spmat_descr descr"),
        Function("rocsparse_spmat_set_attribute", 0,
            "rocsparse_spmat_descr descr, rocsparse_spmat_attribute attribute, const void *data, size_t size"),
        Function("rocsparse_spmat_set_values", 0, "rocsparse_spmat_descr descr, void *values"),
        Function("rocsparse_create_dnvec_descr", 0,
            "rocsparse_dnvec_descr *descr, int64_t size, void *values, rocsparse_datatype type"),
        Function("rocsparse_destroy_dnvec_descr", 0, "rocsparse_const_dnvec_descr descr"),
        Function("rocsparse_create_dnmat_descr", 0,
            "rocsparse_dnmat_descr *descr, int64_t rows, int64_t cols, int64_t ld, void *values, "
            "rocsparse_datatype type, rocsparse_order order"),
        Function("rocsparse_destroy_dnmat_descr", 0, "rocsparse_const_dnmat_descr descr"),
        Function("rocsparse_spmv", 0,
            f"{_ROC}, rocsparse_operation trans, const void *alpha, rocsparse_const_spmat_descr mat, "
            "rocsparse_const_dnvec_descr x, const void *beta, const rocsparse_dnvec_descr y, "
            f"rocsparse_datatype type, rocsparse_spmv_alg alg, rocsparse_spmv_stage stage, {_STAGE}"),
        Function("rocsparse_spsv", 0,
            f"{_ROC}, rocsparse_operation trans, const void *alpha, rocsparse_const_spmat_descr mat, "
            "rocsparse_const_dnvec_descr x, const rocsparse_dnvec_descr y, "
            f"rocsparse_datatype type, rocsparse_spsv_alg alg, rocsparse_spsv_stage stage, {_STAGE}"),
        Function("rocsparse_spsm", 0,
            f"{_ROC}, rocsparse_operation trans_a, rocsparse_operation trans_b, const void *alpha, "
            "rocsparse_const_spmat_descr a, rocsparse_const_dnmat_descr b, const rocsparse_dnmat_descr c, "
            f"rocsparse_datatype type, rocsparse_spsm_alg alg, rocsparse_spsm_stage stage, {_STAGE}"),
    ),
)  # fmt: skip

MAPPED = Mapped(
    library=CUSPARSE,
    api=API,
    rows=ROWS,
    prefix="hipsparse",
    status="hipsparseStatus_t",
    statuses=STATUSES,
    otherwise="CUSPARSE_STATUS_INTERNAL_ERROR",
    missing="HIPSPARSE_STATUS_NOT_SUPPORTED",
    names=NAMES,
    called=_CALLED,
    beside=(ROCSPARSE,),
)
