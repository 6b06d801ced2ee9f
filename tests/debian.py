"""Debian's packages in a folder of their own, away from the system: for clients that are not on PyPI, and AMD's HIP
libraries."""

from __future__ import annotations

import fcntl
import hashlib
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
Acquire::ForceHash "SHA256";
Acquire::Check-Valid-Until "false";
"""  # a mirror that was frozen some time ago is as good: signatures are checked
MERGED = ("bin", "lib", "lib64", "sbin")  # in /usr, as in every release since Debian 13
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
    """The root of a tree with the packages (names, or name=version), to which later calls may add others. leave:
    beginnings of names that are not needed, of the packages that they depend on; None: take no dependencies at all."""
    root, record = folder / "root", folder / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        there = set(record.read_text().split()) if record.exists() else set()
        if not there.issuperset(packages):
            _merge_usr(root)
            settings = _index(folder, release)
            what = ["download"] if leave is None else ["install", "-y", "-t", release]
            printed = _apt(settings, *what, "--print-uris", *packages)
            for line in printed.splitlines():
                if line.startswith("'"):
                    address, name, _, digest = line.split()
                    if name not in there and (leave is None or not name.startswith(tuple(leave))):
                        _unpack(address.strip("'"), digest, root, folder)
                        _note(record, name)
            _note(record, *packages)
    return root


def _merge_usr(root: Path) -> None:
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")


def _note(record: Path, *names: str) -> None:
    with record.open("a") as file:
        file.writelines(f"{name}\n" for name in names)


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


def _unpack(address: str, digest: str, root: Path, folder: Path) -> None:
    package = folder / "package.deb"
    urllib.request.urlretrieve(urllib.parse.quote(address, safe=":/%"), package)
    kind, _, expected = digest.partition(":")
    with package.open("rb") as file:
        if hashlib.file_digest(file, kind).hexdigest() != expected:
            raise OSError(f"{address.strip()}: not the file that the release's index names")
    command = 'dpkg-deb --fsys-tarfile "$0" | tar -x --keep-directory-symlink -C "$1"'
    subprocess.run(["bash", "-o", "pipefail", "-c", command, str(package), str(root)], check=True)
    package.unlink()


def libraries(root: Path) -> list[Path]:
    """The folders of a tree's libraries."""
    system = root / "usr" / "lib" / "x86_64-linux-gnu"
    return [system, root / "usr" / "lib", system / "blas", system / "lapack", system / "openmpi" / "lib"]


def python(folder: Path, packages: Sequence[str], leave: Sequence[str], further: Sequence[Path]) -> Path:
    """An interpreter with Debian 13's Python and packages, started by their own loader. further: folders of
    libraries."""
    root = unpacked(folder, "trixie", packages, leave)
    system, folders = root / "usr" / "lib" / "x86_64-linux-gnu", [*libraries(root), *further]
    program, script = root / "usr" / "bin" / "python3.13", folder / "python"
    script.write_text(
        f"#!/bin/sh\nexport PYTHONHOME={root}/usr PYTHONDONTWRITEBYTECODE=1\n"
        f'exec {system}/ld-linux-x86-64.so.2 --library-path "$LD_LIBRARY_PATH:{":".join(map(str, folders))}" '
        f'--argv0 {program} {program} "$@"\n'
    )
    os.chmod(script, 0o755)
    return script
