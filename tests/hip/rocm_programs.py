"""ROCm's own test programs, as Debian packages them, and public HIP examples, on the software GPU:

    python -m tests.hip.rocm_programs [--way WAY] [--clients] [--examples FOLDER] [NAME...]

runs them and what others built for ROCm (rocm_clients.py), and writes docs/support/rocm-programs.{json,md}. Ways:
"drop-in", our HIP library in the place of AMD's (`ptx2amd run --hip`), and "kfd", AMD's own above the software KFD.
FOLDER: a checkout of ROCm/rocm-examples. tests/hip/test_rocm_programs.py compares a few."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ptx2amd import launch, native
from tests import ROOT, rocm
from tests.hip import hip_examples, rocm_clients

HERE = Path(__file__).parent
RESULTS = ROOT / "docs" / "support" / "rocm-programs.json"
PAGE = RESULTS.with_suffix(".md")
RELEASE = "7.2"
CHIP = "gfx942"
WAYS = ("drop-in", "kfd")
LIMIT = 100  # seconds, of one program
CLIENT_LIMIT = 2400  # seconds: some compile each kernel that they launch
#: "suites", "clients": name: way: counts; "examples": way: name: what became of it.
Results = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class Suite:
    """Programs of a package of tests, built on googletest. programs: in usr/libexec/rocm; only: the filter of tests.
    kfd: those of the programs that run above the software KFD as well (None: all)."""

    package: str
    programs: tuple[str, ...]
    only: str = "*"
    kfd: tuple[str, ...] | None = None
    said: str = ""
    why: str = ""  # of those that fail
    limit: float = LIMIT  # some read their tests' data for minutes

    def chosen(self, way: str) -> tuple[str, ...]:
        return self.kfd if way == "kfd" and self.kfd is not None else self.programs


ROCRAND = (
    "cpp_utils", "log_normal_distribution", "normal_distribution", "poisson_distribution", "rocrand_basic",
    "rocrand_config_dispatch", "rocrand_generate", "rocrand_generate_log_normal", "rocrand_generate_normal",
    "rocrand_generate_poisson", "rocrand_generate_uniform", "rocrand_generator_type", "rocrand_hipgraphs",
    "rocrand_host", "rocrand_kernel_lfsr113", "rocrand_kernel_mrg", "rocrand_kernel_mtgp32",
    "rocrand_kernel_philox4x32_10", "rocrand_kernel_scrambled_sobol32", "rocrand_kernel_scrambled_sobol64",
    "rocrand_kernel_sobol32", "rocrand_kernel_sobol64", "rocrand_kernel_threefry2x32_20",
    "rocrand_kernel_threefry2x64_20", "rocrand_kernel_threefry4x32_20", "rocrand_kernel_threefry4x64_20",
    "rocrand_kernel_xorwow", "rocrand_linkage", "rocrand_log_normal", "rocrand_mrg31k3p_prng",
    "rocrand_mrg32k3a_prng", "rocrand_mrg_prng", "rocrand_mt19937_octo_engine_prng", "rocrand_mtgp32_prng",
)  # fmt: skip
SUITES = {
    "rocRAND": Suite(
        "librocrand1-tests", tuple(f"test_{name}" for name in ROCRAND),
        kfd=("test_rocrand_basic", "test_rocrand_generate", "test_rocrand_hipgraphs", "test_rocrand_kernel_xorwow"),
        said="the quicker of its 50 programs",
    ),
    "hipRAND": Suite("libhiprand1-tests", ("test_hiprand_kernel", "test_hiprand_linkage")),
    "rocFFT": Suite(
        "librocfft0-tests", ("rocfft-test",), "pow2_1D/*_len_16_*:prime_2D/accuracy_test*_len_7_*single*",
        said="1D of length 16; single precision, 2D of 7 times a prime",
    ),
    "hipFFT": Suite("libhipfft0-tests", ("hipfft-test",), "pow2_1D/*_len_16_*:prime_2D/accuracy_test*_len_7_*single*",
        said="1D of length 16; single precision, 2D of 7 times a prime",
    ),
    "rocSPARSE": Suite(
        "librocsparse1-tests", ("rocsparse-test",), "*quick/csrmv.level2/f64_r*:*quick*axpyi*:*quick*csr2coo*",
        said="quick tests of axpyi, csr2coo and csrmv with f64", limit=500,
    ),
    "rocSOLVER": Suite(
        "librocsolver0-tests", ("rocsolver-test",), "*checkin_lapack*GETRF*:*checkin_lapack*POTRF*",
        said="check-in tests of getrf, potrf",
        why="a race in the shared memory of rocSOLVER's `potf2_kernel_small`, which `--racecheck` names",
    ),
    "rocBLAS": Suite(
        "librocblas5-tests", ("rocblas-test",), "*axpy*quick*:*dot_*quick*", said="quick tests of axpy and dot",
        limit=500,
    ),
    "hipBLAS": Suite(
        "libhipblas3-tests", ("hipblas-test",), "*quick*axpy*:*quick*gemv*:*quick*dot*",
        said="quick tests of axpy, dot, gemv",
    ),
}  # fmt: skip
DATA = {
    "rocblas-test": "usr/share/librocblas5-tests/data/rocblas_gtest.data",
    "hipblas-test": "usr/libexec/rocm/libhipblas3-tests/data/hipblas_gtest.data",
}


@cache
def redirection() -> Path:
    """A library that lets programs find their package's files in /usr."""
    source, library = HERE / "at_prefix.c", rocm.CACHE / "at_prefix.so"
    part = library.with_suffix(f".{os.getpid()}")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", source, "-o", part, "-ldl"], check=True)
    return part.replace(library)


def command(prefix: rocm.Prefix, way: str, program: Path, *words: str | Path) -> list[str]:
    """The program under the release's own loader, with the HIP library of the way."""
    ours = (native.DIRECTORY / "hip", native.DIRECTORY) if way == "drop-in" else ()
    loader, *rest = prefix.command(program, *words, before=(*ours, prefix.libraries / "openblas-pthread"))
    return [loader, "--argv0", str(program), *rest]


def environment(prefix: rocm.Prefix, way: str, chip: str = CHIP) -> dict[str, str]:
    preload = [str(redirection())]
    settings = {"GTEST_LISTENER": "PASS_LINE_IN_LOG", "AT_PREFIX": str(prefix.root)}
    if way == "drop-in":
        settings |= launch.hip_environment(f"vgpu:{chip}")
    else:
        preload.append(str(native.DIRECTORY / "libptx2amd_kfd.so"))
        settings["PTX2AMD_DEVICE"] = f"kfd:{chip}"
    return {**os.environ, **settings, "LD_PRELOAD": " ".join(preload)}


def run(line: list[str], variables: dict[str, str], limit: float = LIMIT) -> tuple[str, int]:
    """A program's output and its exit status; 124 if it was ended after `limit` seconds."""
    with subprocess.Popen(
        line, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        try:
            return process.communicate(timeout=limit)[0], process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0], 124


def counted(output: str) -> Counter[str]:
    """Counts of googletest's result lines; `left` are tests without a result, because the program ended before."""
    lines = {"passed": r"^\[ +OK \] ", "failed": r"^\[ +FAILED +\] .* ms\)$", "skipped": r"^\[ +SKIPPED \] .* ms\)$"}
    counts = Counter({what: len(re.findall(line, output, re.M)) for what, line in lines.items()})
    chosen = sum(int(number) for number in re.findall(r"^\[=+\] Running (\d+) test", output, re.M))
    return counts + Counter(left=chosen - counts.total())


def suite(name: str, way: str, tell: Callable[[str], None] = print) -> Counter[str]:
    """Runs a suite's programs, and counts."""
    about, counts, begin = SUITES[name], Counter[str](), time.monotonic()
    prefix = rocm.fetch(RELEASE, about.package)
    folder = prefix.root / "usr" / "libexec" / "rocm" / about.package
    for program in about.chosen(way):
        words = [f"--gtest_filter={about.only}", *(("--data", prefix.root / DATA[program]) if program in DATA else ())]
        output, status = run(command(prefix, way, folder / program, *words), environment(prefix, way), about.limit)
        if not re.search(r"^\[=+\] Running [1-9]\d* test", output, re.M):
            raise RuntimeError(f"{program} ran no test ({status}): {output[-1000:]}")
        found = counted(output)
        counts += found
        if status and (found["failed"] or status != 1):
            tell(f"{name} {way} {program}: status {status}, {dict(found)}: {output[-400:]}")
    counts["seconds"] = round(time.monotonic() - begin)
    return counts


def examples(checkout: Path, way: str, names: list[str]) -> Iterator[tuple[str, str]]:
    """The examples of a checkout, and what became of each: passed, or why not."""
    for example in hip_examples.found(checkout):
        if names and example.name not in names:
            continue
        try:
            program = hip_examples.built(example, CHIP)
        except subprocess.CalledProcessError as error:
            yield example.name, f"not compiled: {hip_examples.reason(error)}"
            continue
        prefix = rocm.fetch(RELEASE, *hip_examples.PACKAGES)
        output, status = run(command(prefix, way, program, *example.words), environment(prefix, way))
        yield example.name, "passed" if status == 0 else hip_examples.why(output, status)


def client(name: str, way: str) -> dict[str, Any]:
    """Counts of a client's cases, and the names of those that failed."""
    begin = time.monotonic()
    done = rocm_clients.run(rocm_clients.CLIENTS[name], way, CHIP, CLIENT_LIMIT)
    failed = re.findall(r"^FAIL ([^:]*)", done.stdout, re.M)
    total = re.search(r"^\d+ of (\d+) cases pass", done.stdout, re.M)
    if not total:
        raise RuntimeError(f"{name} did not come to its end ({done.returncode}): {(done.stdout + done.stderr)[-1000:]}")
    seconds = round(time.monotonic() - begin)
    return {"passed": int(total[1]) - len(failed), "cases": int(total[1]), "failed": failed, "seconds": seconds}


def page(results: Results) -> str:
    lines = [
        "# ROCm programs on the software GPU",
        "",
        "Generated by `python -m tests.hip.rocm_programs`: the test programs of ROCm's libraries in Debian's packages",
        f"(ROCm 7.2.4), and examples of ROCm/rocm-examples, compiled for {CHIP}. Not run on an AMD GPU. *Drop-in*: our",
        "HIP library instead of AMD's (`ptx2amd run --hip`); *KFD*: AMD's own libamdhip64 and ROCr on the software KFD",
        f"([kfd.md](../kfd.md)). A program is ended after {LIMIT} s (rocBLAS, rocSPARSE: 500 s); *not reached* are the",
        "tests that had not run by then.",
        "",
        "| library | tests | HIP library | passed | failed | skipped by the program | not reached | seconds |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, about in SUITES.items():
        for way in WAYS:
            if counts := results["suites"].get(name, {}).get(way):
                programs = f" ({len(about.chosen(way))} programs)" if len(about.programs) > 1 else ""
                cells = [str(counts.get(what, 0)) for what in ("passed", "failed", "skipped", "left", "seconds")]
                lines.append(f"| {name} | {(about.said or 'all') + programs} | {way} | " + " | ".join(cells) + " |")
    lines += ["", *(f"- Failures of {name}: {about.why}." for name, about in SUITES.items() if about.why)]
    lines += ["- rocFFT's callbacks fail: the software GPU does not execute functions of another code object."]
    lines += ["", "## Clients", "", "Programs that others built for ROCm; each compares with the host.", ""]
    lines += ["| client | drop-in | KFD |", "| --- | --- | --- |"]
    for name, ways in sorted(results.get("clients", {}).items()):
        shown = (f"{ways[way]['passed']} of {ways[way]['cases']}" if way in ways else "not run" for way in WAYS)
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    there = " ".join(results.get("clients", {}))
    lines += ["", *(f"- {one}, {case}: {text}." for (one, case), text in rocm_clients.WHY.items() if one in there)]
    lines += ["", "## Examples", "", "Passed: the program exited with status 0; most compare with the host.", ""]
    lines += ["| example | drop-in | KFD |", "| --- | --- | --- |"]
    both = [results["examples"].get(way, {}) for way in WAYS]
    for name in sorted({name for one in both for name in one}):
        lines.append(f"| {name} | " + " | ".join(str(one.get(name, "not run")) for one in both) + " |")
    totals = [f"{sum(what == 'passed' for what in one.values())} of {len(one)}" for one in both]
    return "\n".join([*lines, "| **passed** | " + " | ".join(totals) + " |", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=WAYS, action="append", help="default: both")
    parser.add_argument("--examples", type=Path, metavar="FOLDER", help="a checkout of ROCm/rocm-examples: only these")
    parser.add_argument("--clients", action="store_true", help="only clients")
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites, clients or examples (default: all)")
    options = parser.parse_args()
    for way in options.way or WAYS:
        if options.clients:
            for name in options.names or rocm_clients.CLIENTS:
                if way in rocm_clients.CLIENTS[name].ways:
                    keep("clients", name, way, client(name, way))
        elif options.examples:
            for name, outcome in examples(options.examples, way, options.names):
                keep("examples", way, name, outcome)
        else:
            for name in options.names or SUITES:
                keep("suites", name, way, dict(suite(name, way)))


def keep(kind: str, first: str, second: str, value: object) -> None:
    print(first, second, value, flush=True)
    results: Results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"suites": {}, "examples": {}}
    results.setdefault(kind, {}).setdefault(first, {})[second] = value
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(page(results))


if __name__ == "__main__":
    main()
