"""A Debian root without compilers, network and this checkout, in which commands run as on a stranger's machine.

It is unpacked once (tests/debian.py); each `run` has an own copy of it, by overlayfs, in own mount, network and process
namespaces, for which the tests have to be root."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import debian

#: The oldest and the newest CPython that the wheel serves, with others, and the release that has it. The first is
#: `python3` there.
RELEASES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "sid", "3.15": "sid"}
OLDEST = min(RELEASES)
PACKAGES = ("python3", "bash", "coreutils", "libstdc++6", "ca-certificates")
SCRIPT = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/changes,workdir=$1/work" "$1/root"
cd "$1/root"
[ -e bin/sh ] || ln -s bash usr/bin/sh
mkdir -p proc dev tmp root given etc/ssl/certs
cat usr/share/ca-certificates/*/*.crt > etc/ssl/certs/ca-certificates.crt  # pip reads it, also without a network
chmod 1777 tmp
mount -t proc proc proc
mount --rbind /dev dev
mount --bind "$3" given
exec env -i PATH=/usr/bin:/bin HOME=/root TERM=dumb PYTHON="$5" /usr/sbin/chroot . /bin/bash -ec "$4"
"""


def root(python: str) -> Path:
    """The unpacked root with that CPython."""
    release = RELEASES[python]
    folder = Path.home() / ".cache" / "ptx2amd-tests" / f"clean-{release}"
    return debian.unpacked(folder, release, (*PACKAGES, f"python{python}-venv"), [])


def possible() -> bool:
    return os.geteuid() == 0


def run(given: Path, commands: str, scratch: Path, python: str = OLDEST) -> subprocess.CompletedProcess[str]:
    """Run commands of bash in the root, where the folder `given` is /given and $PYTHON the interpreter's name.
    scratch: an empty folder."""
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
    command = [*namespaces, "bash", "-c", SCRIPT, "bash", str(scratch), str(root(python)), str(given)]
    command += [commands, f"python{python}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200)
