"""Packages of other Debian releases, unpacked into a folder and not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SECONDS = 600


def unpacked(release: str, packages: list[str], folder: Path) -> Path:
    """The root of `packages` of a release with all that they depend on, the C library too. Skips the test where this
    machine gets no Debian packages."""
    roots = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    try:
        sites = subprocess.run(roots, capture_output=True, text=True, check=True).stdout.split()
    except FileNotFoundError:
        pytest.skip("no apt-get")
    site = next((site for site in sites if site.endswith("/debian/")), None)
    if site is None:
        pytest.skip("apt knows no Debian archive")
    for part in ("lists/partial", "cache/archives/partial", "root"):
        (folder / part).mkdir(parents=True)
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    suites = {release, "sid"} if release == "experimental" else {release}
    (folder / "sources.list").write_text("".join(f"deb {signed}{site} {suite} main\n" for suite in sorted(suites)))
    (folder / "status").touch()
    settings = {
        "Dir::State::lists": folder / "lists", "Dir::State::status": folder / "status", "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
        "Debug::NoLocking": 1, "APT::Install-Recommends": 0, "APT::Sandbox::User": "",
    }  # fmt: skip
    apt = ["apt-get", "-y", "-q", *(f"-o{name}={value}" for name, value in settings.items())]
    for command in (["update"], ["install", "--download-only", "-t", release, *packages]):
        done = subprocess.run([*apt, *command], capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            pytest.skip(f"no packages of Debian {release} to be had: {done.stderr.strip()[-200:]}")
    for package in (folder / "cache" / "archives").glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, folder / "root"], check=True)
    return folder / "root"
