"""The settings: one table of the environment variables that ptx2amd reads. In Python they are read here only.

From the table come the C table of the driver and the software GPU (`generate.py`; `settings.c` reads it), the tables in
docs/settings.md (`page.py`), and what `ptx2amd doctor` lists. A variable that is set to nothing counts as not set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass
from ptx2amd.settings.values import EXPECTED, number_of

PREFIX = "PTX2AMD_"

#: Readers: the driver (libcuda.so.1), the software GPU, the translator and its service, the command line, the
#: build of the native half, tests and benchmarks.
READERS = ("driver", "gpu", "translator", "command", "build", "tests")


class SettingError(Ptx2amdError):
    """A setting that has a value which it cannot have."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable. kind: text, path, switch, choice, count, bytes, seconds or version. default: as a user would write
    it. readers: words of READERS. choices: of a choice. least, most: of numbers. internal: for development and tests,
    or between our own parts."""

    name: str
    kind: str
    default: str
    meaning: str
    readers: str
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 1e15
    internal: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.name

    @property
    def expected(self) -> str:
        """What is allowed, in words."""
        words = EXPECTED[self.kind] or ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        at_least = f", at least {self.least:g}" if self.least and self.kind in ("count", "seconds", "bytes") else ""
        return words + at_least + (f", at most {self.most:g}" if self.most < 1e15 else "")

    def text(self, environment: Mapping[str, str] = os.environ) -> str:
        """What it is set to, else its default. Raises SettingError."""
        given = environment.get(self.variable) or self.default
        if given and not self.allows(given):
            raise SettingError(f"{self.variable}={given}: expected {self.expected}")
        return given

    def allows(self, text: str) -> bool:
        if self.kind in ("text", "path"):
            return True
        if self.kind == "choice":
            return text in self.choices
        number = number_of(self.kind, text)
        return number is not None and self.least <= number <= self.most

    def number(self) -> float:
        """Of a count, in bytes or in seconds; 0 or 1 of a switch. Raises SettingError."""
        return number_of(self.kind, self.text()) or 0


def _internal(name: str, kind: str, default: str, meaning: str, readers: str, choices: tuple[str, ...] = (),
              least: float = 0, most: float = 1e15) -> Setting:  # fmt: skip
    return Setting(name, kind, default, meaning, readers, choices, least, most, internal=True)


DEVICE = Setting("DEVICE", "text", "",
    "`hip`, `vgpu` or `vgpu:ARCH`, `kfd` or `kfd:ARCH` (the software GPU below AMD's own HIP library; `run "
    "--device` sets up what it needs); unset: hip if a HIP device answers, else `vgpu:gfx942`",
    "driver gpu command")  # fmt: skip
MAPPING = Setting("MAPPING", "choice", "",
    "warp mapping for all kernels; unset: an analysis chooses one for each kernel",
    "driver", ("native", "paired", "padded"))  # fmt: skip
LIBRARIES = Setting("LIBRARIES", "choice", "auto",
    "whose cuBLAS and other libraries a program gets: `rocm`, `nvidia`, or `auto`: ROCm's if they are installed "
    "and have code for the chip (`run --libraries`)",
    "command", ("rocm", "nvidia", "auto"))  # fmt: skip
MATRIX = Setting("MATRIX", "choice", "chip",
    "`fast`: on gfx90a, f16 and bf16 products flush subnormal numbers to zero, as the chip's instructions do; `chip` "
    "gives exact products; `software`: do not use the chip's matrix instructions",
    "driver", ("chip", "fast", "software"))  # fmt: skip
TRACE = Setting("TRACE", "path", "", "write events to this file as JSON lines", "driver")
CACHE = Setting("CACHE", "switch", "1", "`0`: do not keep translated kernels", "driver command")
CACHE_DIR = Setting("CACHE_DIR", "path", "",
    "folder of the cache; unset: `$XDG_CACHE_HOME/ptx2amd`, else `~/.cache/ptx2amd`",
    "driver translator command")  # fmt: skip
CACHE_LIMIT = Setting("CACHE_LIMIT", "bytes", "4G",
    "maximum size of the cache; the least recently used entries are deleted", "translator command")  # fmt: skip
SHARED_CACHE = Setting("SHARED_CACHE", "text", "",
    "second level of the cache, which others have too: a folder (NFS), or an fsspec URL such as `s3://bucket/ptx2amd`",
    "translator command")  # fmt: skip
SHARED_CACHE_SECRET = Setting("SHARED_CACHE_SECRET", "path", "",
    "file with the secret that authenticates the entries of the shared cache, mode 600",
    "translator command")  # fmt: skip
SHARED_CACHE_TRUSTED = Setting("SHARED_CACHE_TRUSTED", "text", "",
    "the shared cache once more, to trust all who can write there: their code runs in this user's programs",
    "translator command")  # fmt: skip
QUIET = Setting("QUIET", "switch", "0",
    "`1`: no line on the terminal while the program waits for translations, nor what they took", "driver")  # fmt: skip
COMPUTE_CAPABILITY = Setting("COMPUTE_CAPABILITY", "version", "",
    "compute capability to report; unset: 8.0, and 13.0 to NVIDIA's libraries that have PTX for "
    "newer chips", "driver", least=100, most=9999)  # fmt: skip
RUNTIME_DIR = Setting("RUNTIME_DIR", "path", "",
    "folder of the translation service's socket and log, mode 700; unset: `$XDG_RUNTIME_DIR/ptx2amd`, "
    "else `/tmp/ptx2amd-UID`, else `run` in the cache's folder", "driver translator command")  # fmt: skip
SERVICE_IDLE = Setting("SERVICE_IDLE", "seconds", "10m",
    "time of inactivity after which the translation service exits", "translator", least=0.1)  # fmt: skip
AHEAD = Setting("AHEAD", "count", "0",
    "how many kernels the translation service translates ahead for a running program, in idle time; `0`: none",
    "translator", most=100_000)  # fmt: skip
HANDSHAKE = Setting("HANDSHAKE", "switch", "1", "`0`: do not answer the CUDA runtime's start-up check", "driver")
HIP_LIBRARY = Setting("HIP_LIBRARY", "path", "",
    "AMD's HIP library; unset: `libamdhip64.so` as the loader finds it", "driver command")  # fmt: skip
LD = Setting("LD", "path", "", "linker for AMDGPU code objects, a path of `ld.lld`; unset: ours", "translator")
LLVM = Setting("LLVM", "path", "",
    "LLVM for translation, a path of a system's `libLLVM.so.22.1`: usually built without assertions, so that "
    "translation takes a quarter less time; unset: llvmlite's", "translator")  # fmt: skip
DEBUG = Setting("DEBUG", "choice", "0",
    "`1`: code objects have line tables (`run --debug`); `accesses`: also keep LLVM from merging loads and stores, so "
    "that memcheck can check their alignment (`run --memcheck`)",
    "translator", ("0", "1", "accesses"))  # fmt: skip
MEMCHECK = Setting(
    "MEMCHECK", "switch", "0",
    "software GPU: report invalid accesses and reads of uninitialised memory (`run --memcheck`)", "gpu")  # fmt: skip
RACECHECK = Setting("RACECHECK", "switch", "0", "software GPU: report data races (`run --racecheck`)", "gpu")
WEAK = Setting("WEAK", "count", "",
    "software GPU: memory as weakly ordered as AMD's documents allow; the value is the seed (`run --weak`)", "gpu",
    least=1)  # fmt: skip
VGPU_COUNT = Setting("VGPU_COUNT", "count", "1", "number of software GPUs", "gpu")
VGPU_THREADS = Setting("VGPU_THREADS", "count", "",
    "threads of the software GPU; unset: one for each processor", "gpu", least=1, most=65536)  # fmt: skip
VGPU_DEADLOCK = Setting("VGPU_DEADLOCK", "seconds", "30",
    "software GPU: time after which a launch is ended if all its waves wait for each other; `0`: never",
    "gpu")  # fmt: skip
VGPU_TIMEOUT = Setting("VGPU_TIMEOUT", "seconds", "0",
    "software GPU: time limit of every launch; `0`: none", "gpu")  # fmt: skip
TOOLKIT = Setting("TOOLKIT", "choice", "",
    "`wheel`: use nvcc from PyPI even if a CUDA toolkit is installed; `path`: never use it",
    "command", ("wheel", "path"))  # fmt: skip

BUILD_ID = _internal("BUILD_ID", "text", "", "build id of the translator that the driver uses", "driver translator")
PYTHON = _internal("PYTHON", "path", "", "Python interpreter that runs the translation service", "driver")
NATIVE = _internal("NATIVE", "path", "",
    "folder of another build of the C libraries, for example with sanitizers", "command build tests")  # fmt: skip
DRIVER_VERSION = _internal("DRIVER_VERSION", "count", "13050",
    "the result of cuDriverGetVersion", "driver", least=1000, most=99999)  # fmt: skip
SERVED = _internal("SERVED", "text", "",
    "sonames of NVIDIA's libraries that are replaced by ours on top of ROCm's", "driver")  # fmt: skip
PROGRESS_AFTER = _internal("PROGRESS_AFTER", "seconds", "2",
    "how long a program waits for translations before a line on the terminal says so", "driver")  # fmt: skip
HIP_TRACE = _internal("HIP_TRACE", "path", "", "file of the trace of a HIP program (`run --hip --trace`)", "gpu")
PROFILE = _internal("PROFILE", "path", "",
    "software GPU: count instructions into files that begin so (`run --profile`)", "gpu")  # fmt: skip
VGPU_NATIVE = _internal("VGPU_NATIVE", "choice", "1",
    "translation of blocks to x86: `0` off, `always` at first use, `report` what it does not know",
    "gpu", ("0", "1", "always", "report"))  # fmt: skip
VGPU_LEVEL = _internal("VGPU_LEVEL", "choice", "",
    "the x86-64 level of the software GPU's code; unset: the best that the processor has",
    "gpu", ("v2", "v3", "v4"))  # fmt: skip
VGPU_MAX_INSTRUCTIONS = _internal("VGPU_MAX_INSTRUCTIONS", "count", "0",
    "instructions after which a wave is ended; `0`: no limit", "gpu")  # fmt: skip
FUZZ_SECONDS = _internal("FUZZ_SECONDS", "seconds", "60",
    "time of the coverage-guided fuzzer of the software GPU", "tests")  # fmt: skip
FUZZ_PROGRAMS = _internal("FUZZ_PROGRAMS", "count", "200", "programs of the fuzzer that compares two mappings", "tests")
CONFORMANCE_LIBRARY = _internal("CONFORMANCE_LIBRARY", "path", "libcuda.so.1",
    "the driver that the conformance cases are run against", "tests")  # fmt: skip
BENCH_TINYGRAD = _internal("BENCH_TINYGRAD", "path", "",
    "tinygrad's source tree, of which an emulator is measured", "tests")  # fmt: skip

#: All of them, in the order of the pages.
TABLE: tuple[Setting, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Setting))
BY_VARIABLE = {setting.variable: setting for setting in TABLE}


def given(environment: Mapping[str, str] = os.environ) -> Iterator[tuple[str, str]]:
    """The variables of ours that are set, known or not: (name, value)."""
    return ((name, value) for name, value in sorted(environment.items()) if name.startswith(PREFIX) and value)


def problems(environment: Mapping[str, str] = os.environ) -> Iterator[tuple[str, str]]:
    """What is wrong with the variables that are set: (name, why)."""
    for name, value in given(environment):
        setting = BY_VARIABLE.get(name)
        if setting is None:
            yield name, f"there is no such setting{_similar(name)}"
        elif not setting.allows(value):
            yield name, f"{name}={value}: expected {setting.expected}"


def forget_wrong() -> list[str]:
    """For the service, which nobody sees starting: wrong values count as not set. What is wrong with them."""
    wrong = [(name, why) for name, why in problems() if name in BY_VARIABLE]
    for name, _ in wrong:
        del os.environ[name]
    return [why for _, why in wrong]


def _similar(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, BY_VARIABLE, n=1, cutoff=0.75)
    return f"; did you mean {found[0]}?" if found else ""
