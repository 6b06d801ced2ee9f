"""Our own programs on NVIDIA's libraries of templates and headers: the runtime API, Thrust, CUB, cuRAND's device
generators. Each case prints "ok   name" or "FAIL name: why". `python -m tests.clients.toolkit_programs FOLDER`
compiles and runs them all on PTX2AMD_DEVICE, with cuRAND's headers where pip has put them."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent))  # run as a program, in an environment of its own

from ptx2amd.compat import toolkit  # noqa: E402

SOURCES = HERE / "toolkit"
LIGHT = ("runtime_memory", "runtime_streams")  # seconds to compile
PROGRAMS = (*LIGHT, "curand_generators", "cub_algorithms", "thrust_algorithms")


def build(name: str, folder: Path) -> Path:
    """Compile a program; raises Ptx2amdError without a toolkit, CalledProcessError when nvcc refuses it."""
    tools, program = toolkit.find(), folder / name
    # behind the toolkit's own headers, which fit its nvcc; the wheels' are for what it lacks
    wheels = Path(sysconfig.get_path("purelib")).glob("nvidia/*/include")
    command = [tools.nvcc, *tools.flags, *(f"-isystem={path}" for path in wheels)]
    command += ["-std=c++17", "--extended-lambda", "-w"]
    command += ["-gencode", "arch=compute_75,code=compute_75", "-o", str(program), str(SOURCES / f"{name}.cu")]
    subprocess.run(command, check=True)
    return program


if __name__ == "__main__":
    for program_name in PROGRAMS:
        subprocess.run([str(build(program_name, Path(sys.argv[1])))], check=False)  # the counting is its output
