"""HIP programs for tests, compiled by the clang of a ROCm release in a folder of its own (tests/rocm.py).

Its children would not start under another loader than the release's, so the steps that hipcc takes are taken here."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm

COMPILER = {"7.2": ("hipcc", "rocm-device-libs-22", "libamdhip64-dev")}
LLVM = {"7.2": 22}
HOST = "host-x86_64-unknown-linux-gnu-"
FOLDER = native.DIRECTORY / "hip"
#: The folder of the libraries, for programs that another loader starts.
LINK = [f"-L{FOLDER}", "-lamdhip64", f"-Wl,-rpath-link,{native.DIRECTORY}"]


class Compiler:
    """clang of one release. Raises subprocess.CalledProcessError where it refuses a program."""

    def __init__(self, release: str) -> None:
        self.prefix = rocm.prefix(release, *COMPILER[release])
        self.llvm = self.prefix.root / "usr" / "lib" / f"llvm-{LLVM[release]}"
        self.release = release

    def tool(self, name: str, *words: str | Path) -> None:
        program = self.llvm / "bin" / name
        loader, *rest = self.prefix.command(program, *words)
        command = [loader, "--argv0", str(program), *rest]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)

    def clang(self, folder: Path, *words: str | Path) -> None:
        resources = self.llvm / "lib" / "clang" / str(LLVM[self.release])
        headers = folder / "include"  # hip's alone: the others are this machine's
        headers.mkdir(exist_ok=True)
        if not (headers / "hip").is_symlink():
            (headers / "hip").symlink_to(self.prefix.include / "hip")
        self.tool(
            "clang++", "-x", "hip", "-std=c++17", f"--rocm-path={self.prefix.root / 'usr'}", "-resource-dir", resources,
            f"--rocm-device-lib-path={resources / 'amdgcn' / 'bitcode'}", f"--hip-version={self.release}",
            f"-I{headers}", *words,
        )  # fmt: skip

    def device_code(self, source: Path, arch: str, folder: Path, *flags: str) -> Path:
        """The code object of a source for a chip."""
        bitcode, linked = folder / f"{arch}.bc", folder / f"{arch}.hsaco"
        self.clang(
            folder, f"--offload-arch={arch}", "--cuda-device-only", "-emit-llvm", "-c", source, "-o", bitcode, *flags
        )
        link = ("-shared", "-m", "elf64_amdgpu", f"-plugin-opt=mcpu={arch}", "-plugin-opt=O3")
        self.tool("ld.lld", *link, bitcode, "-o", linked)
        return linked

    def program(
        self, source: Path, archs: Sequence[str], *flags: str, compress: bool = False, libraries: Sequence[str] = ()
    ) -> Path:
        """An executable with code for the chips; kept from test to test. libraries: of the release, which are linked
        where the program calls them."""
        key = hashlib.blake2b(f"{source.read_text()}{archs}{flags}{compress}".encode()).hexdigest()[:16]
        folder = rocm.CACHE / f"hip-programs-{self.release}" / key
        program = folder / source.stem
        if program.exists():
            return program
        folder.mkdir(parents=True, exist_ok=True)
        codes = [self.device_code(source, arch, folder, "-O2", *flags) for arch in archs]
        bundle, host = folder / "code.hipfb", folder / "host.o"
        targets = ",".join([HOST, *(f"hipv4-amdgcn-amd-amdhsa--{arch}" for arch in archs)])
        inputs = [f"-input={path}" for path in ("/dev/null", *codes)]
        how = ["-compress"] if compress else []
        kind = ("-type=o", "-bundle-align=4096")
        self.tool("clang-offload-bundler", *kind, *how, f"-targets={targets}", *inputs, f"-output={bundle}")
        embed = ("-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(bundle))
        self.clang(
            folder, f"--offload-arch={archs[0]}", "--cuda-host-only", *embed, "-O2", *flags, "-c", source, "-o", host
        )
        part = folder / f"part.{os.getpid()}"
        paths = [self.prefix.libraries / name for name in libraries]
        as_needed = ["-Wl,--as-needed,--allow-shlib-undefined", *paths, "-Wl,--no-as-needed"] if paths else []
        subprocess.run(["g++", host, "-o", part, *as_needed, *LINK], check=True, capture_output=True)
        part.replace(program)
        return program


def compiler(release: str = "7.2") -> Compiler:
    """Skips the test where the packages can't be had."""
    return Compiler(release)


def run(program: Path | Sequence[str | Path], *words: str, arch: str = "gfx942", options: Sequence[str] = (),
        timeout: float = 300, **variables: str) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """`ptx2amd run --hip`."""
    command = [program] if isinstance(program, Path) else list(program)
    whole = [sys.executable, "-m", "ptx2amd.cli", "run", "--hip", "--device", f"vgpu:{arch}", *options, "--", *command]
    return subprocess.run(
        [*map(str, whole), *words], env={**os.environ, **variables}, capture_output=True, text=True, timeout=timeout
    )


def must(condition: bool, done: subprocess.CompletedProcess[str]) -> None:
    """Fails with what the program said."""
    if not condition:
        pytest.fail(f"status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
