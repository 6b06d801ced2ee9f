"""cuDNN as data: libcudnn over AMD's MIOpen. Descriptors are ours, each with one of MIOpen's; the rows are in text
files (texts.py), in which `handle` stands for that parameter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api import texts
from ptx2amd.api.cudnn.calls import CALLS, COUNTS, unless
from ptx2amd.api.cudnn.types import DESCRIPTORS, ENUMS, STATUSES, TYPES
from ptx2amd.api.mapped import Mapped
from ptx2amd.api.rocblas import ROCBLAS
from ptx2amd.api.spec import Api, Check, Found, Function
from ptx2amd.libraries import CUDNN

_FOLDER = Path(__file__).parent
_BAD = "CUDNN_STATUS_BAD_PARAM"
_HANDLE = "cudnnHandle_t handle"


def _found() -> Iterator[tuple[str, Found]]:
    yield "cudnnHandle_t", Found("cudnn_handle", "cudnnHandle_t ", _BAD)
    for name, (by, kind) in DESCRIPTORS.items():
        for const in ("", "const "):
            yield f"{const}cudnn{name}Descriptor_t", Found(by, kind, _BAD)


API = Api(
    name="cudnn",
    status="cudnnStatus_t",
    header="convolution.h",
    null=_BAD,
    beneath=(r"\bmiopen([A-Z]\w+)\(", r"miopen.\1("),
    result="cudnn_status({})",
    success="CUDNN_STATUS_SUCCESS",
    types=TYPES,
    found=dict(_found()),
    enums=ENUMS,
    checks={"cudnnHandle_t": Check("!cudnn_handle({}, &(cudnnHandle_t){{0}})", _BAD)},
    refusal='libmap_refuse(&said, "{}", CUDNN_STATUS_NOT_SUPPORTED)',
)


def _read(name: str) -> Iterator[tuple[str, Function]]:
    """The rows of a text file: name without the library's, and the function."""
    for one in texts.read(_FOLDER / name):
        text = ", ".join(_HANDLE if part == "handle" else part for part in one.parameters)
        yield one.name, Function(f"cudnn{one.name}", one.since, text, ours=True, until=one.until)


def _calls() -> Iterator[Function]:
    for name, row in _read("calls.txt"):
        call = CALLS.get(name, "")
        value = str(COUNTS[name]) if name in COUNTS else ""
        yield Function(row.symbol, row.since, row.parameters, call=call, value=value, unless=unless(name))


#: The parts of the library, whose versions programs have compared.
_PARTS = ("OpsInfer", "OpsTrain", "CnnInfer", "CnnTrain", "AdvInfer", "AdvTrain", "Ops", "Cnn", "Adv", "Graph",
          "SubquadraticOps")  # fmt: skip

ROWS = (
    *(row for _, row in _read("ours.txt")),
    *_calls(),
    Function("cudnnGetVersion", 0, "void", c="(size_t)libmap_version", returns="size_t"),
    Function("cudnnGetCudartVersion", 0, "void", c="12000", returns="size_t"),
    Function("cudnnGetMaxDeviceVersion", 0, "void", c="libmap_version < 90000 ? 900 : 1210", returns="size_t"),
    Function("cudnnGetErrorString", 0, "cudnnStatus_t status", ours=True, returns="const char *"),
    Function("cudnnGetLastErrorString", 0, "char *message, size_t max_size", ours=True, returns="void"),
    *(Function(f"cudnn{name}VersionCheck", 0, "void", c="CUDNN_STATUS_SUCCESS") for name in _PARTS),
    *(Function(name, 0, "void") for name in (_FOLDER / "absent.txt").read_text().split()),
)

MAPPED = Mapped(
    library=CUDNN,
    api=API,
    rows=ROWS,
    prefix="miopen",
    status="miopenStatus_t",
    statuses=STATUSES,
    otherwise="CUDNN_STATUS_EXECUTION_FAILED",
    missing="miopenStatusNotImplemented",
    names={},
    beside=(ROCBLAS,),
    called=tuple(
        Function(f"miopen{one.name}", 0, ", ".join(one.parameters)) for one in texts.read(_FOLDER / "miopen.txt")
    ),
)
