"""A project's sources at a pinned version."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from ptx2amd.errors import Ptx2amdError


def fetched(origin: str, folder: Path, mirror: Path | None = None) -> Path:
    """`folder`, with the sources in it; what is there already stays, so that sources may be put there by hand.

    origin: "git URL COMMIT", "pypi NAME VERSION" (an sdist), or "folder PATH". mirror: a folder with sources for
    machines without network: unpacked, under the project's name, or repositories as OWNER/NAME.git. Raises
    Ptx2amdError."""
    kind, where, *version = origin.split()
    if kind == "folder":
        return Path(where)
    if folder.exists() and any(folder.iterdir()):  # a submodule's folder is there, but empty
        return folder
    if mirror and (unpacked := mirror / folder.name).is_dir():
        shutil.copytree(unpacked, folder, symlinks=True, dirs_exist_ok=True)
        return folder
    if mirror and (repository := mirror / f"{'/'.join(where.removesuffix('.git').split('/')[-2:])}.git").is_dir():
        where = f"file://{repository.resolve()}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(folder.name + ".part")
    if kind == "git":
        commands = [
            ["git", "init", "-q", part],
            ["git", "-C", part, "fetch", "-q", "--depth=1", where, *version],
            ["git", "-C", part, "checkout", "-q", "FETCH_HEAD"],
        ]
    elif kind == "pypi":
        name = "==".join([where, *version])
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", name]
        archive = folder.parent / f"{'-'.join([where, *version])}.tar.gz"
        commands = [
            [*pip, "-d", folder.parent],
            ["mkdir", "-p", part],
            ["tar", "xzf", archive, "-C", part, "--strip-components=1"],
        ]
    else:
        raise Ptx2amdError(f"sources come from git, pypi or a folder, not from {origin!r}")
    for command in commands:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
            raise Ptx2amdError(f"cannot get {origin}: {lines[-1]} (or put the sources into {folder} yourself)")
    part.rename(folder)
    return folder
