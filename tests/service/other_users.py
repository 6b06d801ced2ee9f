"""For tests of what another user can do: the victim is root, who can give files to an attacker, and become one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "tests" / "bad_input" / "driver.py"
ATTACKER = 61235  # a user who is nobody here
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="giving files to another user takes root")


def own_mounts() -> bool:
    """Whether a process can have a /tmp of its own."""
    command = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
    return bool(shutil.which("unshare")) and not subprocess.run(command, capture_output=True).returncode


OWN_TMP = pytest.mark.skipif(os.geteuid() != 0 or not own_mounts(), reason="takes root, and a /tmp of its own")


def environment(**changes: str) -> dict[str, str]:
    """That of a user who has set nothing but `changes`."""
    return {"PATH": os.environ["PATH"], "PTX2AMD_DEVICE": "vgpu:gfx942", "PTX2AMD_SERVICE_IDLE": "2", **changes}


def program(script: Path) -> list[str]:
    """The command of a program with a kernel, which has to give the right numbers and says "still works" then."""
    script.write_text("still_works(Driver().start())\n")
    return [sys.executable, "-m", "ptx2amd.cli", "run", "--", sys.executable, str(DRIVER), str(script)]


def run(command: list[str], umask: int = 0o022, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd="/", env=environment(**changes), umask=umask, capture_output=True, text=True,
                          timeout=180)  # fmt: skip


def works(folder: Path, umask: int = 0o022, **changes: str) -> subprocess.CompletedProcess[str]:
    done = run(program(folder / "works.py"), umask, **changes)
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr
    return done


def works_in_own_tmp(before: str, after: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """As `works`, with an empty /tmp that the shell commands `before` can fill, and `after` look at. A checkout in /tmp
    stays."""
    script = ROOT / "build" / f"works-{os.getpid()}.py"
    empty = "mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp"
    if ROOT.is_relative_to("/tmp"):
        empty = f"mount --bind {ROOT} /mnt && {empty} && mkdir -p {ROOT} && mount --move /mnt {ROOT}"
    text = f'{empty} || exit 77\n{before}\n"$@" || exit 1\n{after}\n'
    done = run(["unshare", "-m", "sh", "-c", text, "sh", *program(script)], **changes)
    script.unlink()
    assert done.returncode == 0 and "still works" in done.stdout, done.stdout + done.stderr
    return done
