"""Run by suites.py under `ptx2amd run`: hashcat (NVRTC, cuLink) finds known passwords. Each start runs the kernel's own
known-answer test first. Arguments: the folder in which hashcat may write."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import cases

PACKAGES = Path(sysconfig.get_path("purelib"))
work = Path(sys.argv[1])
work.mkdir(parents=True, exist_ok=True)
nvrtc = PACKAGES / "nvidia" / "cuda_nvrtc" / "lib"
if not (nvrtc / "libnvrtc.so").exists():  # hashcat asks for it without a version
    (nvrtc / "libnvrtc.so").symlink_to("libnvrtc.so.12")
environment = {**os.environ, "LD_LIBRARY_PATH": f"{os.environ['LD_LIBRARY_PATH']}:{nvrtc}", "HOME": str(work)}


def finds(mode: int, digest: str, mask: str, password: str) -> None:
    (work / "digest.txt").write_text(digest + "\n")
    program = str(Path(sys.executable).parent / "hashcat")
    options = ["-D", "2", "--potfile-disable", "--force", "--quiet", "--hwmon-disable", "-n", "1", "-u", "64"]
    command = [program, *options, "-m", str(mode), "-a", "3", "digest.txt", mask]
    done = subprocess.run(command, env=environment, cwd=work, capture_output=True, text=True, timeout=900)
    assert f":{password}\n" in done.stdout, (done.stdout + done.stderr)[-300:]


KNOWN = {
    "MD5": (0, "900150983cd24fb0d6963f7d28e17f72", "?l?l?l", "abc"),
    "SHA1": (100, "a9993e364706816aba3e25717850c26c9cd0d89d", "?l?l?l", "abc"),
    "SHA2-256": (1400, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "?l?l?l", "abc"),
    "SHA2-512": (
        1700,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "?l?l?l",
        "abc",
    ),
    "NTLM": (1000, "e0fba38268d0ec66ef1cb452d5885e53", "?l?l?l", "abc"),
    "salted": (10, "1e21f6da01c5047e4bf45b0496bd6937:salt", "?l?l?l", "abc"),
}

cases.run({name: lambda known=known: finds(*known) for name, known in KNOWN.items()})
