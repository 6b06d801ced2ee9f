"""cuFFT as data: libcufft on AMD's hipFFT, which has a counterpart for each function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Check, Enum, Found, Function, Types
from ptx2amd.libraries import CUFFT

TYPES = Types(
    handles=("cudaStream_t",),
    enums=("cufftResult", "cufftType", "cudaDataType", "libraryPropertyType", "cufftXtSubFormat", "cufftXtCopyType",
           "cufftXtQueryType", "cufftXtCallbackType", "cufftXtWorkAreaPolicy", "cufftProperty"),
    scalars={"int": "cufftHandle", "float": "cufftReal", "double": "cufftDoubleReal"},
    opaque=("cudaLibXtDesc",),
    structs=(
        "typedef struct cufftComplex { float x, y; } cufftComplex;\n"
        "typedef struct cufftDoubleComplex { double x, y; } cufftDoubleComplex;\n"
    ),
    same={
        "cufftComplex": "hipfftComplex",
        "cufftDoubleComplex": "hipfftDoubleComplex",
        "cufftReal": "hipfftReal",
        "cufftDoubleReal": "hipfftDoubleReal",
        "cudaStream_t": "CUstream",
    },
)  # fmt: skip

ENUMS = {
    "cufftType": Enum("hipfftType", {
        0x29: "HIPFFT_C2C", 0x2A: "HIPFFT_R2C", 0x2C: "HIPFFT_C2R", 0x69: "HIPFFT_Z2Z", 0x6A: "HIPFFT_D2Z",
        0x6C: "HIPFFT_Z2D",
    }, "CUFFT_INVALID_TYPE"),
    "cudaDataType": Enum("hipDataType", {
        0: "HIP_R_32F", 1: "HIP_R_64F", 2: "HIP_R_16F", 4: "HIP_C_32F", 5: "HIP_C_64F", 6: "HIP_C_16F",
    }, "CUFFT_NOT_SUPPORTED"),
}  # fmt: skip

API = Api(
    name="cufft",
    status="cufftResult",
    header="cufft_plan.h",
    null="CUFFT_INVALID_VALUE",
    beneath=(r"\bhipfft(\w+)\(", r"hipfft.\1("),
    result="!libmap_ready() ? CUFFT_SETUP_FAILED : cufft_status({})",
    success="CUFFT_SUCCESS",
    types=TYPES,
    found={"cufftHandle": Found("cufft_found", "hipfftHandle ", "CUFFT_INVALID_PLAN")},
    enums=ENUMS,
    checks={"cufftHandle": Check("!cufft_found({}, &(hipfftHandle){{0}})", "CUFFT_INVALID_PLAN")},
    refusal='libmap_refuse(&said, "{}", CUFFT_NOT_IMPLEMENTED)',
)

#: Size parameters of a plan, by the suffix of the functions that take them: number type, and the parameters.
_LAYOUT = "int rank, in(rank) N *n, N *inembed, N istride, N idist{0}, N *onembed, N ostride, N odist{1}"
_SIZES = {
    "1d": "int nx, cufftType type, int batch",
    "2d": "int nx, int ny, cufftType type",
    "3d": "int nx, int ny, int nz, cufftType type",
    "Many": f"{_LAYOUT.format('', '')}, cufftType type, N batch".replace("N ", "int "),
}
_WIDE = {"Many64": f"{_LAYOUT.format('', '')}, cufftType type, N batch".replace("N ", "long long int ")}
_XT = _LAYOUT.format(", cudaDataType inputtype", ", cudaDataType outputtype").replace("N ", "long long int ")
_XT += ", long long int batch, out size_t *workSize, cudaDataType executiontype"
_MANY = "cufft_layout{}(rank, n, inembed, istride, onembed, ostride, batch)"
#: rocFFT does not return if the sizes are invalid: the condition, and the status.
_WRONG = {
    "1d": "nx < 1 || batch < 1: CUFFT_INVALID_SIZE",
    "2d": "nx < 1 || ny < 1: CUFFT_INVALID_SIZE",
    "3d": "nx < 1 || ny < 1 || nz < 1: CUFFT_INVALID_SIZE",
    "Many": f"{_MANY.format('')}: {_MANY.format('')}",
    "Many64": f"{_MANY.format('_64')}: {_MANY.format('_64')}",
}
_PLAN, _WORK = "cufftHandle plan", "out size_t *workSize"


def _plans() -> Iterator[Function]:
    for ending, sizes in (_SIZES | _WIDE).items():
        wrong = _WRONG[ending]
        if ending in _SIZES:
            yield Function(f"cufftPlan{ending}", 0, f"out cufftHandle *plan, {sizes}", ours=True)
            yield Function(
                f"cufftEstimate{ending}", 0, f"{sizes}, {_WORK}", call=f"hipfftEstimate{ending}", unless=wrong
            )
        for action in ("MakePlan", "GetSize"):
            text = f"{_PLAN}, {sizes}, {_WORK}"
            yield Function(f"cufft{action}{ending}", 0, text, call=f"hipfft{action}{ending}", unless=wrong)
    for action in ("MakePlan", "GetSize"):
        text, call = f"{_PLAN}, {_XT}", f"hipfftXt{action}Many"
        yield Function(f"cufftXt{action}Many", 0, text, call=call, unless=_WRONG["Many64"])


#: Letters of transforms: input type, output type, and whether they have a direction.
_TRANSFORMS = {
    "C2C": ("cufftComplex", "cufftComplex", True),
    "R2C": ("cufftReal", "cufftComplex", False),
    "C2R": ("cufftComplex", "cufftReal", False),
    "Z2Z": ("cufftDoubleComplex", "cufftDoubleComplex", True),
    "D2Z": ("cufftDoubleReal", "cufftDoubleComplex", False),
    "Z2D": ("cufftDoubleComplex", "cufftDoubleReal", False),
}


def _transforms() -> Iterator[Function]:
    for letters, (source, target, directed) in _TRANSFORMS.items():
        way = ", int direction" if directed else ""
        text = f"{_PLAN}, {source} *idata, {target} *odata{way}"
        yield Function(f"cufftExec{letters}", 0, text, call=f"hipfftExec{letters}")
        described = f"{_PLAN}, cudaLibXtDesc *input, cudaLibXtDesc *output{way}"
        yield Function(f"cufftXtExecDescriptor{letters}", 0, described)


ROWS = (
    *_plans(),
    *_transforms(),
    Function("cufftXtExec", 0, f"{_PLAN}, void *input, void *output, int direction", call="hipfftXtExec"),
    Function("cufftCreate", 0, "out cufftHandle *handle", ours=True),
    Function("cufftDestroy", 0, _PLAN, ours=True),
    Function("cufftGetSize", 0, f"cufftHandle handle, {_WORK}", call="hipfftGetSize"),
    Function("cufftSetWorkArea", 0, f"{_PLAN}, void *workArea", call="hipfftSetWorkArea"),
    Function("cufftSetAutoAllocation", 0, f"{_PLAN}, int autoAllocate", call="hipfftSetAutoAllocation"),
    Function("cufftSetStream", 0, f"{_PLAN}, cudaStream_t stream", ours=True),
    Function("cufftGetVersion", 0, "out int *version", value="libmap_version"),
    Function("cufftGetProperty", 0, "libraryPropertyType type, int *value", ours=True),
    # Callbacks: rocFFT's kernels cannot call the program's device code.
    Function("cufftXtSetCallback", 0,
        f"{_PLAN}, void **callback_routine, cufftXtCallbackType cbType, void **caller_info"),
    Function("cufftXtClearCallback", 0, f"{_PLAN}, cufftXtCallbackType cbType"),
    Function("cufftXtSetCallbackSharedSize", 0, f"{_PLAN}, cufftXtCallbackType cbType, size_t sharedSize"),
    Function("cufftXtSetJITCallback", 12000,
        f"{_PLAN}, const char *lto_callback_symbol_name, const void *lto_callback_fatbin, "
        "size_t lto_callback_fatbin_size, cufftXtCallbackType type, void **caller_info"),
    # Multi-GPU transforms, plan properties, user-defined work-area sizes.
    Function("cufftXtSetGPUs", 0, "cufftHandle handle, int nGPUs, int *whichGPUs"),
    Function("cufftXtMalloc", 0, f"{_PLAN}, cudaLibXtDesc **descriptor, cufftXtSubFormat format"),
    Function("cufftXtMemcpy", 0, f"{_PLAN}, void *dstPointer, void *srcPointer, cufftXtCopyType type"),
    Function("cufftXtFree", 0, "cudaLibXtDesc *descriptor"),
    Function("cufftXtSetWorkArea", 0, f"{_PLAN}, void **workArea"),
    Function("cufftXtExecDescriptor", 0, f"{_PLAN}, cudaLibXtDesc *input, cudaLibXtDesc *output, int direction"),
    Function("cufftXtQueryPlan", 0, f"{_PLAN}, void *queryStruct, cufftXtQueryType queryType"),
    Function("cufftXtSetWorkAreaPolicy", 0, f"{_PLAN}, cufftXtWorkAreaPolicy policy, size_t *workSize"),
    Function("cufftSetPlanPropertyInt64", 12040,
        f"{_PLAN}, cufftProperty property, long long int inputValueInt"),
    Function("cufftGetPlanPropertyInt64", 12040,
        f"{_PLAN}, cufftProperty property, long long int *returnPtrValue"),
    Function("cufftResetPlanProperty", 12040, f"{_PLAN}, cufftProperty property"),
    # Code of cuFFT for the program's kernels, and what is in no header.
    *(Function(name, 0, "void") for name in Path(__file__).with_name("absent.txt").read_text().split()),
)  # fmt: skip

_CODES = (
    "INVALID_PLAN ALLOC_FAILED INVALID_TYPE INVALID_VALUE INTERNAL_ERROR EXEC_FAILED SETUP_FAILED INVALID_SIZE "
    "UNALIGNED_DATA INVALID_DEVICE NO_WORKSPACE NOT_IMPLEMENTED NOT_SUPPORTED"
)

MAPPED = Mapped(
    library=CUFFT,
    api=API,
    rows=ROWS,
    prefix="hipfft",
    status="hipfftResult",
    statuses={f"HIPFFT_{name}": f"CUFFT_{name}" for name in ("SUCCESS", *_CODES.split())},
    otherwise="CUFFT_INTERNAL_ERROR",
    missing="HIPFFT_NOT_IMPLEMENTED",
    names={
        "cufftHandle": "hipfftHandle",
        "cudaStream_t": "hipStream_t",
        **{name: beneath for name, beneath in TYPES.same.items() if name.startswith("cufft")},
        **{name: enum.type for name, enum in ENUMS.items()},
    },
    called=(
        Function("hipfftCreate", 0, "hipfftHandle *plan"),
        Function("hipfftDestroy", 0, "hipfftHandle plan"),
        Function("hipfftSetStream", 0, "hipfftHandle plan, hipStream_t stream"),
    ),
)
