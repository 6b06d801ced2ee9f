"""Releases of AMD's ROCm from Debian's packages, each in a folder of its own that all tests of a user share.

The programs there are started by the release's own loader (`Prefix.command`): its libraries want a newer C library
than many systems have. As a program, `python -m tests.rocm RELEASE [PACKAGE ...]` fetches packages and prints the
folder of libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import debian

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ptx2amd-tests"


@dataclass(frozen=True)
class Release:
    """suite: Debian's release that has this ROCm. hip: the major version in the soname of libamdhip64. pinned: package
    to version; others (the C library, LLVM) come as the suite has them."""

    suite: str
    hip: int
    pinned: dict[str, str]


def _pins(version: str, names: str, **others: str) -> dict[str, str]:
    return {**dict.fromkeys(names.split(), version), **{name.replace("_", "-"): v for name, v in others.items()}}


RELEASES = {
    "5.2": Release("bookworm", 5, _pins("5.2.3-8", "libamdhip64-5 libamdhip64-dev")),
    "5.7": Release(
        "trixie", 5,
        _pins("5.7.1-6+deb13u1", "libamdhip64-5 libamdhip64-dev",
              libhsa_runtime64_1="6.1.2-3", librocrand1="5.7.1-6", librocfft0="6.1.2-1"),
    ),
    "6.4": Release(
        "sid", 6,
        _pins("6.4.3-5", "libamdhip64-6 libamdhip64-dev libhiprtc6", libhsa_runtime64_1="6.4.3+dfsg-5",
              libamd_comgr3="7.0.2+dfsg-3", librocrand1="6.4.3-1", librocfft0="6.4.3-1+b1", librocblas4="6.4.4-4"),
    ),
    "7.2": Release(
        "experimental", 7,
        _pins("7.2.4-1~exp2", "libamdhip64-7 libamdhip64-dev libhiprtc7")
        | _pins("7.2.4-1~exp1", "librocrand1 libhiprand1 librocfft0 libhipfft0 librocblas5 libhipblas3 librocsparse1 "
                "libhipsparse4 libhipsolver1 librocrand-dev librocfft-dev librocblas-dev librocthrust-dev "
                "libhipcub-dev librocprim-dev", librocsolver0="7.2.4-1~exp1+b1", librccl1="7.2.4-1~exp3")
        | _pins("7.2.4+dfsg-1~exp1", "libamd-comgr3 libhsa-runtime64-1 libhipblaslt1 hipcc rocm-device-libs-22",
                libmiopen1="7.2.4+dfsg-1"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Prefix:
    """One release's tree of files."""

    root: Path

    @property
    def libraries(self) -> Path:
        return self.root / "usr" / "lib" / "x86_64-linux-gnu"

    @property
    def include(self) -> Path:
        """For -idirafter: there may be a C library's headers too, and this machine's compiler wants its own."""
        return self.root / "usr" / "include"

    def command(self, *words: str | Path, before: tuple[Path, ...] = ()) -> list[str]:
        """A command whose libraries are the release's, behind those of the folders `before`."""
        path = ":".join(map(str, (*before, self.libraries)))
        return [str(self.libraries / "ld-linux-x86-64.so.2"), "--library-path", path, *map(str, words)]


def fetch(release: str, *packages: str) -> Prefix:
    """The release's tree, with the packages in it. Raises OSError or CalledProcessError when they can't be had."""
    about = RELEASES[release]
    wanted = [f"{name}={about.pinned[name]}" if name in about.pinned else name for name in packages]
    return Prefix(debian.unpacked(CACHE / f"rocm-{release}", about.suite, wanted, ()))


def prefix(release: str, *packages: str) -> Prefix:
    """As `fetch`; skips the test with the reason when packages can't be had."""
    try:
        return fetch(release, *packages)
    except (OSError, IndexError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or ""
        pytest.skip(f"ROCm {release} of Debian {RELEASES[release].suite} is not to be had: {error} {said[-300:]}")


if __name__ == "__main__":
    print(fetch(sys.argv[1], *sys.argv[2:]).libraries)
