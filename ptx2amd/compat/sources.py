"""A project's sources at a pinned version."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from ptx2amd.errors import Ptx2amdError

# Upstream's archives, without Debian's changes; NAME_VERSION.orig-PART.tar.xz goes into the folder PART.
APT = """
mkdir -p "$0.d" && cd "$0.d" && apt-get source -qq --download-only --tar-only "$1"
for archive in *.orig*.tar.*; do
  part=${archive##*.orig} && part=${part%%.tar.*} && into="$0/${part#-}"
  mkdir -p "$into" && tar xf "$archive" -C "$into" --strip-components=1
done
rm -r "$0.d"
"""


def fetched(origin: str, folder: Path, mirror: Path | None = None) -> Path:
    """`folder`, with the sources in it; what is there already stays, so that sources may be put there by hand.

    origin: "git URL COMMIT", "pypi NAME VERSION" (an sdist), "npm NAME VERSION", "debian NAME VERSION" (upstream's
    archives of a source package, for which apt needs a deb-src line of its release), or "folder PATH". mirror: sources
    for machines without network: unpacked, under the project's name, or git repositories as OWNER/NAME.git. Raises
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
    commands: list[list[str | Path]]
    if kind == "git":
        commands = [
            ["git", "init", "-q", part],
            ["git", "-C", part, "fetch", "-q", "--depth=1", where, *version],
            ["git", "-C", part, "checkout", "-q", "FETCH_HEAD"],
        ]
    elif kind == "pypi":
        name = "==".join([where, *version])
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", where, name]
        archive = folder.parent / f"{'-'.join([where, *version])}.tar.gz"
        commands = [[*pip, "-d", folder.parent], *_unpack(archive, part)]
    elif kind == "npm":
        archive = folder.parent / f"{where.removeprefix('@').replace('/', '-')}-{version[0]}.tgz"
        pack: list[str | Path] = [
            "npm",
            "pack",
            "--silent",
            "--pack-destination",
            folder.parent,
            "@".join([where, *version]),
        ]
        commands = [pack, *_unpack(archive, part)]
    elif kind == "debian":
        commands = [["sh", "-ec", APT, part.absolute(), "=".join([where, *version])]]
    else:
        raise Ptx2amdError(f"sources come from git, pypi, npm, debian or a folder, not from {origin!r}")
    for command in commands:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"{command[0]} failed"]
            raise Ptx2amdError(f"cannot get {origin}: {lines[-1]} (or put the sources into {folder} yourself)")
    part.rename(folder)
    return folder


def _unpack(archive: Path, folder: Path) -> list[list[str | Path]]:
    return [["mkdir", "-p", folder], ["tar", "xzf", archive, "-C", folder, "--strip-components=1"]]
