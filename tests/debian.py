"""Debian's packages in a folder of their own, away from the system: for clients that are not on PyPI, and AMD's HIP
libraries."""

from __future__ import annotations

import os
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path

SETTINGS = """Dir "{folder}";
Dir::State "{folder}";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}";
Dir::Etc "{folder}";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
APT::Architecture "amd64";
APT::Install-Recommends "false";
Acquire::Languages "none";
"""
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} {release} main contrib non-free\n"
MIRROR = [
    "apt-get",
    "indextargets",
    "--format",
    "$(REPO_URI)",
    "Created-By: Packages",
    "Origin: Debian",
    "Label: Debian",
]


def unpacked(folder: Path, release: str, packages: Sequence[str], leave: Sequence[str] | None) -> Path:
    """The root of a tree with the packages. leave: beginnings of names that are not needed, of the packages that they
    depend on; None: take no dependencies at all."""
    root = folder / "root"
    if not (folder / "unpacked").exists():
        settings = _index(folder, release)
        what = ["download"] if leave is None else ["install", "-y", "-t", release]
        printed = _apt(settings, *what, "--print-uris", *packages)
        for line in printed.splitlines():
            if line.startswith("'"):
                address, name = line.split()[:2]
                if leave is None or not name.startswith(tuple(leave)):
                    _unpack(address.strip("'"), root, folder)
        (folder / "unpacked").touch()
    return root


def _index(folder: Path, release: str) -> Path:
    """A configuration for apt that knows nothing of this system, with the release's lists."""
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    mirror = subprocess.run(MIRROR, check=True, capture_output=True, text=True).stdout.split()[0]
    releases = ["sid", release] if release == "experimental" else [release]  # that one has not all packages
    (folder / "sources.list").write_text("".join(SOURCE.format(mirror=mirror, release=name) for name in releases))
    settings = folder / "apt.conf"
    settings.write_text(SETTINGS.format(folder=folder))
    _apt(settings, "update")
    return settings


def _apt(settings: Path, *arguments: str) -> str:
    command = ["apt-get", "-q", "-c", str(settings), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=settings.parent).stdout


def _unpack(address: str, root: Path, folder: Path) -> None:
    package = folder / "package.deb"
    urllib.request.urlretrieve(urllib.parse.quote(address, safe=":/%"), package)
    subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    package.unlink()


def python(folder: Path, packages: Sequence[str], leave: Sequence[str], libraries: Sequence[Path]) -> Path:
    """An interpreter with Debian 13's Python and packages, started by their own loader. libraries: further folders."""
    root = unpacked(folder, "trixie", packages, leave)
    system = root / "usr" / "lib" / "x86_64-linux-gnu"
    folders = [system, root / "usr" / "lib", system / "blas", system / "lapack", system / "openmpi" / "lib", *libraries]
    program, script = root / "usr" / "bin" / "python3.13", folder / "python"
    script.write_text(
        f"#!/bin/sh\nexport PYTHONHOME={root}/usr PYTHONDONTWRITEBYTECODE=1\n"
        f'exec {system}/ld-linux-x86-64.so.2 --library-path "$LD_LIBRARY_PATH:{":".join(map(str, folders))}" '
        f'--argv0 {program} {program} "$@"\n'
    )
    os.chmod(script, 0o755)
    return script
