"""The new user's path: the wheel, installed into an empty environment on a machine without compiler, CUDA toolkit,
ROCm, network and this checkout, runs a CUDA program, and the commands that a new user tries first work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from cuda_samples import build
from tests import ROOT
from tests.packaging import clean_root

pytestmark = pytest.mark.slow
WHEEL_MB, INSTALLED_MB = 12, 230  # of ours; of all that is installed: llvmlite alone has 173
PLATFORMS = [word for name in ("manylinux_2_28_x86_64", "manylinux2014_x86_64") for word in ("--platform", name)]
FIRST = """
cd /root
! type gcc cc ld nvcc clang 2>/dev/null
$PYTHON -m venv v
v/bin/pip install -q --no-index --find-links /given ptx2amd
export PATH=/root/v/bin:$PATH
ptx2amd doctor
ptx2amd doctor --env v
ptx2amd run -- /given/vector_add
ptx2amd inspect /given/vector_add
ptx2amd translate /given/vector_add --arch gfx942,gfx1100 -o out
ptx2amd explain /given/vector_add --kernel vector_add
ptx2amd cache list
du -sm --exclude pip --exclude setuptools --exclude pkg_resources v/lib/python3*/site-packages
"""
#: Two names of one driver: as files of their own, which they are in a wheel, they would be two drivers in one process.
TWO_NAMES = """
import ctypes
drivers = [ctypes.CDLL(name) for name in ("libcuda.so.1", "libcuda.so")]
assert drivers[0].cuInit(0) == 0
addresses = {ctypes.cast(driver.cuInit, ctypes.c_void_p).value for driver in drivers}
print("drivers:", len(addresses))
"""
#: The root has no record of its packages, so dpkg cannot see that python3 is there.
DEBIAN = """
mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates
touch /var/lib/dpkg/status
dpkg --force-depends --force-bad-path -i /given/ptx2amd_*.deb >/dev/null 2>&1
ptx2amd run -- /given/vector_add
ptx2amd run -- python3 /given/two_names.py
python3 -c 'import llvmlite' 2>/dev/null || echo own
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `make wheels` makes."""
    folder = tmp_path_factory.mktemp("released")
    subprocess.run([sys.executable, str(ROOT / "packaging" / "wheels.py"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def given(released: Path) -> Path:
    """The same with a program, and the wheels that ours needs: what the index has for each CPython."""
    [wheel] = released.glob("*.whl")
    build.build("vector_add", released)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:", "-d", str(released)]
    for python in clean_root.RELEASES:
        subprocess.run([*pip, "--python-version", python, *PLATFORMS, str(wheel)], check=True)
    (released / "two_names.py").write_text(TWO_NAMES)
    return released


def test_one_wheel_for_every_python(released: Path) -> None:
    [wheel] = released.glob("*.whl")
    assert wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    assert wheel.stat().st_size < WHEEL_MB * 1e6
    names = ZipFile(wheel).namelist()
    assert not [name for name in names if re.search(r"cpython|cp3\d|\.libs/", name)], "code for one CPython"
    assert {"ptx2amd/_native/libcuda.so.1", "ptx2amd/_native/grammar.json"} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "shim/", "bench/"))]


def test_the_source_distribution_has_what_the_build_reads(released: Path) -> None:
    [source] = released.glob("*.tar.gz")
    listed = subprocess.run(["tar", "tzf", source], check=True, capture_output=True, text=True).stdout.splitlines()
    have = {name.partition("/")[2] for name in listed}
    tracked = subprocess.run(["git", "ls-files", "shim", "libmap", "grammar", "ptx2amd"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout.split()  # fmt: skip
    assert len(tracked) > 500
    assert [name for name in tracked if name not in have and not name.endswith(".md")] == []


@pytest.mark.skipif(not clean_root.possible(), reason="needs root for a root folder of its own")
@pytest.mark.parametrize("python", clean_root.RELEASES)
def test_new_user(given: Path, tmp_path: Path, python: str) -> None:
    done = clean_root.run(given, FIRST, tmp_path, python)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout and "missing" not in done.stdout
    assert "libcublas.so" not in done.stdout, "our own libraries are none that the environment needs"
    assert "1 kernels, 1 modules" in done.stdout, "the cache has the program's kernel"
    assert int(done.stdout.split()[-2]) < INSTALLED_MB


@pytest.mark.skipif(not clean_root.possible(), reason="needs root for a root folder of its own")
def test_the_driver_is_one_by_any_name(given: Path, tmp_path: Path) -> None:
    install = "cd /root; $PYTHON -m venv v; v/bin/pip install -q --no-index --find-links /given ptx2amd; "
    done = clean_root.run(given, f"{install} v/bin/ptx2amd run -- python3 /given/two_names.py", tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "drivers: 1"), done.stderr


@pytest.mark.skipif(not clean_root.possible(), reason="needs root for a root folder of its own")
def test_debian_package(given: Path, tmp_path: Path) -> None:
    """Programs run with Debian's python3, which sees none of our packages."""
    [wheel] = given.glob("ptx2amd-*.whl")
    make = [sys.executable, str(ROOT / "packaging" / "deb.py"), str(wheel), "--output", str(given)]
    subprocess.run([*make, "--python", clean_root.OLDEST], check=True)
    done = clean_root.run(given, DEBIAN, tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["PASS", "drivers:", "1", "own"]), done.stderr
