"""AMD's HIP libraries above the software KFD beside our own: a launch and a copy of 4 bytes, to their ends."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ptx2amd import native
from ptx2amd.translate import translate
from tests import rocm

PTX = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry empty() { ret; }\n"
CHIP = "gfx942"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program, code = Path(folder) / "amd_hip", Path(folder) / "empty.hsaco"
        subprocess.run(["gcc", "-O2", "-w", "-o", program, Path(__file__).with_suffix(".c"), "-ldl"], check=True)
        code.write_bytes(translate(PTX, "empty.ptx", [CHIP], mode="module")[0].code or b"")
        ours = [program, native.DIRECTORY / "libptx2amd_vgpu.so", code]
        print(f"{'':12} {'launch':>8} {'copy':>8}  us")
        print(f"{'ours':12} {measure(ours, {'PTX2AMD_DEVICE': f'vgpu:{CHIP}'})}", flush=True)
        beneath = {"PTX2AMD_DEVICE": f"kfd:{CHIP}", "LD_PRELOAD": str(native.DIRECTORY / "libptx2amd_kfd.so")}
        for release, prefix, library in libraries("5.7", "6.4", "7.2"):
            print(f"{'AMD ' + release:12} {measure(prefix.command(program, library, code), beneath)}", flush=True)


def libraries(*releases: str) -> Iterator[tuple[str, rocm.Prefix, Path]]:
    """Of those releases that can be had: its packages, and HIP's library among them."""
    for release in releases:
        major = rocm.RELEASES[release].hip
        try:
            prefix = rocm.fetch(release, f"libamdhip64-{major}")
        except (OSError, IndexError, subprocess.CalledProcessError) as error:
            print(f"AMD's {release}: not to be had: {error}")
        else:
            yield release, prefix, prefix.libraries / f"libamdhip64.so.{major}"


def measure(command: list[str | Path], settings: dict[str, str]) -> str:
    environment = {**os.environ, **settings}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=300)
    return " ".join(f"{float(word):8.1f}" for word in done.stdout.split())


if __name__ == "__main__":
    main()
