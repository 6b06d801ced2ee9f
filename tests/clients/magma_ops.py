"""Run by suites.py under `ptx2amd run`: the testers of MAGMA, which check the residual of what the GPU computed.
Argument: the folder of Debian's packages, whose loader starts the testers."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import cases

ROOT = Path(sys.argv[1]) / "root" / "usr"
SYSTEM = ROOT / "lib" / "x86_64-linux-gnu"
FOLDERS = [os.environ["LD_LIBRARY_PATH"], SYSTEM, ROOT / "lib", SYSTEM / "blas", SYSTEM / "lapack"]
LOADER = [SYSTEM / "ld-linux-x86-64.so.2", "--library-path", ":".join(map(str, FOLDERS))]
SIZES = ("10", "200")  # the larger is above the sizes that MAGMA leaves to the CPU
BATCH = ("10", "40")
TESTERS = """
    zgemm dsymv dtrsm ctrtri_gpu ztranspose sgetrf dgetrf_gpu cgetrf_gpu zgetrf spotrf_gpu dpotrf zpotrf_gpu
    sgeqrf_gpu dgeqrf zgeqrf_gpu cgeqp3_gpu dgesv_gpu zposv dsysv dgels_gpu dsgesv_gpu dsyevd cheevd dgeev dsytrd
    zgehrd dgebrd sgemm_batched sgetrf_batched dpotrf_batched cgeqrf_batched dgesv_batched zgemm_vbatched
"""


def tester(name: str) -> None:
    """It prints "ok" or "failed" at the end of each line with a residual."""
    program = ROOT / "lib" / "libmagma-test" / "testing" / f"testing_{name}"
    sizes = BATCH if "batched" in name else SIZES
    arguments = ["-c", "--batch", "5", *(word for size in sizes for word in ("-n", size))]
    done = subprocess.run([*LOADER, program, *arguments], capture_output=True, text=True, check=False)
    failed = re.findall(r"^.*failed.*$", done.stdout, re.M)
    assert not failed and done.returncode == 0, f"status {done.returncode} {failed} {done.stderr}"
    assert len(re.findall(r"\bok$", done.stdout, re.M)) >= len(sizes), done.stdout[-400:]


cases.run({name: partial(tester, name) for name in TESTERS.split()})
