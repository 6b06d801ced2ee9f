"""Run by suites.py under `ptx2amd run`: regions of a C program that GCC offloads by OpenMP. Its runtime library comes
as PTX of 20 modules and more, linked by cuLink. Arguments: the folder for the offload compiler and the program."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))  # run as a program, in an environment of its own
from tests import debian

PACKAGES = ("gcc-12-offload-nvptx", "libgomp-plugin-nvptx1", "nvptx-tools")  # beside the system's gcc-12
SOURCE = Path(__file__).resolve().parent / "openmp" / "offload.c"

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
usr = debian.unpacked(folder, "bookworm", PACKAGES, None) / "usr"
tools = usr / "lib" / "gcc" / "x86_64-linux-gnu" / "12"
environment = {
    **os.environ,
    "PATH": f"{usr / 'bin'}:{os.environ['PATH']}",
    "COMPILER_PATH": f"{tools}:{usr / 'bin'}",
    "LD_LIBRARY_PATH": f"{os.environ['LD_LIBRARY_PATH']}:{usr / 'lib' / 'x86_64-linux-gnu'}",
    "OMP_TARGET_OFFLOAD": "MANDATORY",
}
command = ["gcc-12", "-O2", "-fopenmp", "-foffload=nvptx-none", "-foffload-options=nvptx-none=-Wa,--no-verify"]
command += ["-foffload-options=-latomic -lm", "-o", str(folder / "offload"), str(SOURCE), "-lm"]
subprocess.run(command, env=environment, check=True)
sys.exit(subprocess.run([str(folder / "offload")], env=environment, check=False).returncode)
