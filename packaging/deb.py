"""Build a Debian package from the wheel: `python packaging/deb.py WHEEL [--python 3.11] [--output FOLDER]`.

It holds a virtual environment, /usr/lib/ptx2amd, of Debian's python3, so that Debian's own Python packages, PyTorch
among them, stay as they are: programs run with Debian's python3, the translation service with the environment's."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

PLACE = Path("usr/lib/ptx2amd")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
CONTROL = """Package: ptx2amd
Version: {version}
Architecture: amd64
Maintainer: The ptx2amd authors <ptx2amd@localhost>
Section: contrib/science
Priority: optional
Installed-Size: {size}
Depends: python3 (>= {python}), python3 (<< {after}), libc6 (>= 2.28), libstdc++6
Suggests: python3-torch-cuda
Description: run unmodified CUDA programs on AMD GPUs
 ptx2amd replaces libcuda.so.1 and translates the PTX of a program to AMDGPU
 machine code when a kernel is first used. Without an AMD GPU the same code runs
 on an embedded software AMD GPU.
"""
SCRIPT = """#!/{place}/bin/python
import sys

from ptx2amd.cli import main

sys.exit(main())
"""


def build(wheel: Path, python: str, output: Path) -> Path:
    """The package, for the Debian release whose python3 has this version. Raises CalledProcessError."""
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _environment(root, wheel, python)
        size = sum(path.lstat().st_size for path in root.rglob("*")) // 1024
        after = f"3.{int(python.split('.')[1]) + 1}"
        (root / "DEBIAN").mkdir()
        control = CONTROL.format(version=version, size=size, python=python, after=after)
        (root / "DEBIAN" / "control").write_text(control)
        package = output / f"ptx2amd_{version}_python{python}_amd64.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", "--build", str(root), str(package)], check=True)
    return package


def _environment(root: Path, wheel: Path, python: str) -> None:
    """The virtual environment, and the command in /usr/bin."""
    root.chmod(0o755)
    place = root / PLACE
    packages = place / "lib" / f"python{python}" / "site-packages"
    packages.mkdir(parents=True)
    (place / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n")
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to("/usr/bin/python3")
    command = place / "bin" / "ptx2amd"
    command.write_text(SCRIPT.format(place=PLACE))
    command.chmod(0o755)
    (root / "usr" / "bin").mkdir()
    (root / "usr" / "bin" / "ptx2amd").symlink_to(f"/{PLACE}/bin/ptx2amd")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(packages), "--python-version", python]
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    subprocess.run([*pip, *platforms, "--only-binary", ":all:", "--no-compile", str(wheel)], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default="3.11", help="the version of Debian's python3")
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args()
    print(build(options.wheel, options.python, options.output))
