"""Functions that AMD's HIPIFY maps to ROCm, and ours: `python -m tests.libmap.hipify HIPIFY`, with a checkout of
github.com/ROCm/HIPIFY, prints those that are not tested here, and writes hipify.json for the page."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from ptx2amd.api.libraries import MAPPED
from tests.libmap.page import HIPIFY, tested

#: HIPIFY's tables, and the libraries of which they are.
_TABLES = {"BLAS": ("cublas", "cublaslt"), "RAND": ("curand",), "FFT": ("cufft",), "SPARSE": ("cusparse",),
           "SOLVER": ("cusolver",), "DNN": ("cudnn",)}  # fmt: skip
_ROW = re.compile(
    r'^\s*\{"(\w+)",\s*\{\s*"(\w*)",\s*"(\w*)",\s*CONV_LIB_FUNC,\s*\w+,\s*[^,}]+(?:,\s*([^}]*))?\}\}', re.M
)
#: Names (and HIPIFY's flags) to why there is no such function here.
_REASONS = (
    (r"cufftCallback(Load|Store)\w .*", "types, not functions"),
    (r"curandMakeMTGP32\w+ .*", "functions of a header, which programs contain"),
    (r"cufft\w*Callback\w* .*", "rocFFT's kernels cannot call the program's functions"),
    (r"curand\w+Distribution .*", "kernels read cuRAND's own structure"),
    (r".*CUDA_REMOVED.*", "not in the releases of CUDA and cuDNN that we stand in for"),
)


def supported(text: str) -> dict[str, str]:
    """The functions of one of HIPIFY's tables that have a counterpart in either of ROCm's interfaces: name to flags."""
    found = {}
    for name, hip, roc, flags in _ROW.findall(text):
        words = set(re.findall(r"\w+", flags))
        if not words & {"UNSUPPORTED"} and (
            (hip and "HIP_UNSUPPORTED" not in words) or (roc and "ROC_UNSUPPORTED" not in words)
        ):
            found[name] = flags
    return found


def exported(name: str) -> str:
    """The function that a header of cuBLAS calls by this name."""
    return f"{name.removesuffix('_64')}_v2{'_64' if name.endswith('_64') else ''}"


def reason(name: str, flags: str, ours: set[str]) -> str:
    for pattern, why in _REASONS:
        if re.fullmatch(pattern, f"{name} {flags}") and not (name in ours and "CUDA_REMOVED" in pattern):
            return why
    sys.exit(f"{name} ({flags}) is not tested, and nobody says why")


def main() -> None:
    git = ["git", "-C", sys.argv[1]]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    record: dict[str, object] = {"commit": commit}
    for table, libraries in _TABLES.items():
        path = f"HEAD:src/CUDA2HIP_{table}_API_functions.cpp"
        text = subprocess.run([*git, "show", path], check=True, capture_output=True, text=True).stdout
        names, good = supported(text), set[str]().union(*map(tested, libraries))
        ours = {row.symbol for mapped in MAPPED if mapped.library.name in libraries for row in mapped.rows}
        missing: dict[str, list[str]] = {}
        for name, flags in names.items():
            if name not in good and exported(name) not in good:
                missing.setdefault(reason(name, flags, ours), []).append(name)
        record[libraries[0]] = {"mapped": len(names), "missing": {why: len(some) for why, some in missing.items()}}
        print(f"{table}: {len(names) - sum(map(len, missing.values()))} of {len(names)}")
        for why, some in missing.items():
            print(f"  {why}: {', '.join(some)}")
    HIPIFY.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
