"""cuFFTW as data: libcufftw, FFTW's interface (both precisions), on our libcufft, which it opens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Function, Types
from ptx2amd.libraries import CUFFTW

#: Complex numbers are pairs, which only have an address here.
TYPES = Types(
    handles=("cudaStream_t",),
    same={"cudaStream_t": "CUstream"},
    scalars={"void *": "fftw_plan", "int": "cufftResult_t"},
    structs=(
        "typedef struct fftw_complex { double x, y; } fftw_complex;\n"
        "typedef struct fftwf_complex { float x, y; } fftwf_complex;\n"
        "typedef struct fftw_iodim { int n, is, os; } fftw_iodim;\n"
        "typedef struct fftw_iodim64 { ptrdiff_t n, is, os; } fftw_iodim64;\n"
    ),
)

API = Api(
    name="cufftw", status="cufftResult_t", header="cufftw_api.h", null="0", beneath=(r"\bcufft(\w+)\(", r"cufft.\1("),
    result="{}", success="0", types=TYPES, found={}, enums={}, checks={}, refusal="0",
)  # fmt: skip

#: Kinds of transforms: name, types of the input and the output (R: real, C: complex), and whether they have a sign.
_KINDS = (("", "C", "C", "int sign, "), ("_r2c", "R", "C", ""), ("_c2r", "C", "R", ""))
#: The sizes of plans, before arrays; of many transforms, strides come after each array.
_SIZES = {"": "int rank, const int *n", "1d": "int n", "2d": "int n0, int n1", "3d": "int n0, int n1, int n2"}
_OTHERS = {
    "void execute": "const fftw_plan plan",
    "void execute_dft": "const fftw_plan plan, C *idata, C *odata",
    "void execute_dft_r2c": "const fftw_plan plan, R *idata, C *odata",
    "void execute_dft_c2r": "const fftw_plan plan, C *idata, R *odata",
    "void destroy_plan": "fftw_plan plan",
    "void *malloc": "size_t n",
    "void free": "void *pointer",
    "void cleanup": "void",
    "void set_timelimit": "double seconds",
    "double cost": "const fftw_plan plan",
    "void flops": "const fftw_plan plan, double *add, double *mul, double *fma",
    "void print_plan": "const fftw_plan plan",
    "void export_wisdom_to_file": "void *output_file",
    "void import_wisdom_from_file": "void *input_file",
}


def _plans() -> Iterator[tuple[str, str]]:
    """Names and parameters."""
    for kind, source, target, sign in _KINDS:
        arrays = f"{source} *in, {target} *out, {sign}unsigned flags"
        for sizes, text in _SIZES.items():
            yield f"fftw_plan plan_dft{kind}{sizes and f'_{sizes}'}", f"{text}, {arrays}"
        many = (
            f"int rank, const int *n, int batch, {source} *in, const int *inembed, int istride, int idist, "
            f"{target} *out, const int *onembed, int ostride, int odist, {sign}unsigned flags"
        )
        yield f"fftw_plan plan_many_dft{kind}", many
        for bits in ("", "64"):
            dims = f"int rank, const fftw_iodim{bits} *dims, int batch_rank, const fftw_iodim{bits} *batch_dims"
            yield f"fftw_plan plan_guru{bits}_dft{kind}", f"{dims}, {arrays}"


def _rows() -> Iterator[Function]:
    for prefix, real in (("fftw", "double"), ("fftwf", "float")):
        for what, text in (*_plans(), *_OTHERS.items()):
            returned, _, name = what.rpartition("*" if "*" in what else " ")
            own = re.sub(r"\bR \*", f"{real} *", re.sub(r"\bC \*", f"{prefix}_complex *", text))
            returns = f"{returned}*" if "*" in what else returned
            yield Function(f"{prefix}_{name}", 0, own, ours=True, returns=returns)


_EXEC = "cufftHandle plan, void *idata, void *odata"
_CALLED = (
    Function("cufftCreate", 0, "cufftHandle *handle"),
    Function("cufftDestroy", 0, "cufftHandle plan"),
    Function("cufftMakePlanMany64", 0,
        "cufftHandle plan, int rank, long long int *n, long long int *inembed, long long int istride, "
        "long long int idist, long long int *onembed, long long int ostride, long long int odist, cufftType type, "
        "long long int batch, size_t *workSize"),
    *(Function(f"cufftExec{letters}", 0, f"{_EXEC}, int direction") for letters in ("C2C", "Z2Z")),
    *(Function(f"cufftExec{letters}", 0, _EXEC) for letters in ("R2C", "C2R", "D2Z", "Z2D")),
)  # fmt: skip

MAPPED = Mapped(
    library=CUFFTW,
    api=API,
    rows=tuple(_rows()),
    prefix="cufft",
    status="cufftResult",
    statuses={},
    otherwise="0",
    missing="CUFFT_SETUP_FAILED",
    names={},
    called=_CALLED,
    opens=("libcufft.so.12", "libcufft.so.11", "libcufft.so.10"),
)
