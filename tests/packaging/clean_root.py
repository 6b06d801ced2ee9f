"""A Debian root without compilers, network and this checkout, in which commands run as on a stranger's machine.

It is unpacked once (tests/debian.py); each `run` has an own copy of it, by overlayfs, in own mount, network and process
namespaces, for which the tests have to be root."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import debian

RELEASE = "bookworm"
PYTHON = "3.11"  # of that release
PACKAGES = ("python3-venv", "bash", "coreutils", "libstdc++6")
SCRIPT = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/changes,workdir=$1/work" "$1/root"
cd "$1/root"
[ -e bin/sh ] || ln -s bash usr/bin/sh
mkdir -p proc dev tmp root given
chmod 1777 tmp
mount -t proc proc proc
mount --rbind /dev dev
mount --bind "$3" given
exec env -i PATH=/usr/bin:/bin HOME=/root TERM=dumb /usr/sbin/chroot . /bin/bash -ec "$4"
"""


def root() -> Path:
    """The unpacked root."""
    folder = Path.home() / ".cache" / "ptx2amd-tests" / f"clean-{RELEASE}"
    return debian.unpacked(folder, RELEASE, PACKAGES, [])


def possible() -> bool:
    return os.geteuid() == 0


def run(given: Path, commands: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    """Run commands of bash in the root, where the folder `given` is /given. scratch: an empty folder."""
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command = [*namespaces, "bash", "-c", SCRIPT, "bash", str(scratch), str(root()), str(given), commands]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)
