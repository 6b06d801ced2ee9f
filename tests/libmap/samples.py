"""NVIDIA's CUDALibrarySamples, and those of cuda-samples that use libraries, unmodified, over ROCm's libraries and the
software GPU.

`python -m tests.libmap.samples [--chip CHIP] FOLDER COMMIT INCLUDE... [LIBRARY ...]` compiles and runs those of FOLDER
(a checkout of COMMIT) against CUDA's headers in INCLUDE (paths with a slash), of all libraries or of those named, and
writes samples.json, of which the page of libraries counts.

A sample is `right` where it ends with 0 and says that it passed, or the numbers that it prints last are those of the
last comment with a result in its source, `ran` where the source has no such comment (they compare with a host
computation of their own, or only print), `other` where it says that its result is wrong, or the numbers differ,
`refused` where it asks for something that ours refuse by name, whatever it makes of that, else `failed`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ptx2amd import native
from ptx2amd.compat import toolkit
from ptx2amd.libraries import ALL
from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES
from tests.libmap.page import CUDA_SAMPLES

RECORD = Path(__file__).with_name("samples.json")
CHIPS, ROCM, LONGEST = ("gfx1100", "gfx942"), "7.2", 300


@dataclass(frozen=True)
class Samples:
    """Of a library: files that are a program each, or (`folders`) folders that are one with the files `also`. links:
    further libraries. without: what is not tried, and why. says: comments with numbers are results. data: programs read
    files of their folder, and have parts in C."""

    pattern: str
    folders: bool = False
    also: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    without: tuple[str, str] = ("(?!)", "")
    says: bool = True
    data: bool = False


SETS = {
    "cublas": Samples("cuBLAS/[LE]*/*/*.cu", without=("cuBLAS/Emulation", "")),
    "cublaslt": Samples("cuBLASLt/Lt*", folders=True, also=("cuBLASLt/Common/helpers.cpp",)),
    "curand": Samples("cuRAND/Host/*/*.cpp", without=("mt19937", "its set-up takes minutes on the software GPU")),
    "cufft": Samples("cuFFT/[123]d_*/*.cpp"),
    "cusparse": Samples(
        "cuSPARSE/*/*.c*",
        links=("libcublas.so.12", "libcuda.so.1"),
        without=(r"cg/|bicgstab|_op_example", "not finished in 5 minutes (490,000 unknowns), or made for NVRTC"),
    ),
    "cusolver": Samples(
        "cuSOLVER/*/*.cu",
        links=("libcublas.so.12", "libcusparse.so.12"),
        without=(r"/Mg", "of libcusolverMg, several GPUs"),
        says=False,
    ),
}


#: Of a checkout of cuda-samples, which are of no single library.
_OTHERS = ("libcufft.so.12", "libcurand.so.10", "libcusolver.so.12", "libcusparse.so.12", "libcuda.so.1")
SETS[CUDA_SAMPLES] = Samples(
    "Samples/4_CUDA_Libraries/*",
    folders=True,
    links=_OTHERS,
    without=("NPP|nvJPEG|NvSci|jitLto|oceanFFT|randomFog|lineOfSight|_callback", ""),
    says=False,
    data=True,
)
REPOSITORIES = {False: "NVIDIA/CUDALibrarySamples", True: "NVIDIA/cuda-samples"}


def programs(folder: Path, name: str) -> Iterator[tuple[str, list[Path]]]:
    """(name, sources) of the samples of a library."""
    about = SETS[name]
    for path in sorted(folder.glob(about.pattern)):
        if re.search(about.without[0], str(path)) and not about.without[1]:
            continue
        if about.folders and not path.is_dir():
            continue
        suffixes = (".cu", ".cpp", ".c") if about.data else (".cu", ".cpp")
        own = sorted(part for part in path.iterdir() if part.suffix in suffixes) if about.folders else [path]
        yield str(path.relative_to(folder).with_suffix("")), [*own, *(folder / other for other in about.also)]


_NUMBER = r"-?\d+\.\d+"


def numbers(text: str) -> list[float]:
    """All that have a point, with signs that stand apart."""
    return [float(found) for found in re.findall(_NUMBER, re.sub(r"([-+]) +(?=\d)", r"\1", text))]


def expected(source: str) -> list[float]:
    """The numbers of the last comment after the computation that gives a result."""
    _, _, after = source.rpartition("compute */")
    comments = [numbers(part) for part in re.findall(r"/\*.*?\*/", after, re.S) if re.search(r"=\s*(\||-?\d)", part)]
    return comments[-1] if comments else []


def agrees(wanted: list[float], printed: str) -> bool:
    """Whether the last numbers printed are those, as far as the comment has digits. Comments have several matrices
    side by side, so that the order is left out of account."""
    found = numbers(printed)[-len(wanted) :]
    return len(found) == len(wanted) and all(
        abs(one - other) <= 0.0051 + 1e-6 * abs(other) for one, other in zip(sorted(found), sorted(wanted), strict=True)
    )


def outcome(
    prefix: rocm.Prefix, chip: str, about: Samples, soname: str, sources: list[Path], flags: list[str], folder: Path
) -> str:  # fmt: skip
    """What became of a sample: a word, and the reason behind a colon."""
    tools, program = toolkit.find(), folder / "sample"
    include = {f"-I{part}" for path in sources for part in (path.parent, path.parents[1] / "Common")}
    include |= {f"-I{part}" for part in sources[0].parents[:4] for part in (*part.glob("utils"), *part.glob("Common"))}
    link = [
        f"-L{on_rocm.LIBRARIES}",
        f"-L{native.DIRECTORY}",
        *(f"-l:{name}" for name in (soname, *about.links)),
        "-lcudart_static",
        "-lpthread",
        "-ldl",
    ]
    command = [tools.nvcc, *tools.flags, *sorted(include), *flags, "-std=c++17", "-arch=sm_80", "-o", program]
    language = [] if about.data else ["-x", "cu"]
    built = subprocess.run([*command, *language, *sources, *link], capture_output=True, text=True)
    if built.returncode:
        error = next((line for line in built.stderr.splitlines() if "error" in line), "?")
        return f"failed: not built: {error.strip()[-120:]}"
    try:
        through = ("env", "-C", str(sources[0].parent)) if about.data else ()
        done = on_rocm.run(prefix, chip, program, limit=LONGEST, through=through)
    except subprocess.TimeoutExpired:
        return f"failed: not finished in {LONGEST} s"
    refused = re.findall(r"^ptx2amd: lib\w+: (.+): not supported$", done.stderr, re.M)
    if refused:  # which not all samples look at
        return f"refused: {', '.join(dict.fromkeys(refused))}"
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines() or ["?"]
        without_folders = re.sub(r"/\S*/", "", said[-1])
        return f"failed: {done.returncode}: {without_folders[:100]}"
    if verdict := re.search(r"(?:test|Check:) (PASSED|FAILED)", done.stdout, re.I):
        return "right" if verdict[1].upper() == "PASSED" else "other: it says that its result is wrong"
    wanted = expected(sources[0].read_text()) if about.says else []
    if not wanted:
        return "ran"
    return "right" if agrees(wanted, done.stdout) else f"other: {numbers(done.stdout)[-len(wanted) :]}, not {wanted}"


def tried(
    prefix: rocm.Prefix, chip: str, name: str, soname: str, flags: list[str], sample: tuple[str, list[Path]]
) -> str:
    """The outcome of a sample, in a folder of its own."""
    pattern, why = SETS[name].without
    if re.search(pattern, sample[0]):
        return f"not tried: {why}"
    with tempfile.TemporaryDirectory() as work:
        return outcome(prefix, chip, SETS[name], soname, sample[1], flags, Path(work))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", choices=CHIPS, default=CHIPS[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("commit")
    parser.add_argument("words", nargs="+", metavar="INCLUDE, LIBRARY")
    options = parser.parse_args()
    folder, chip = options.folder.resolve(), options.chip
    flags = [f"-I{path}" for path in options.words if "/" in path]
    only = {word for word in options.words if "/" not in word}
    whole = (folder / "Samples").is_dir()
    sonames = {CUDA_SAMPLES: "libcublas.so.12"} if whole else {one.name: list(one.sonames)[-1] for one in ALL}
    for name, soname in sonames.items():
        if name not in SETS or (only and name not in only):
            continue
        packages = (package for one in (SETS if whole else [name]) for package in PACKAGES.get(one, ()))
        prefix, found = rocm.fetch(ROCM, *dict.fromkeys(packages)), dict[str, str]()
        all_of_it = list(programs(folder, name))
        with ThreadPoolExecutor(2) as pool:
            for (sample, _), result in zip(
                all_of_it, pool.map(partial(tried, prefix, chip, name, soname, flags), all_of_it), strict=True
            ):
                found[sample] = result
                print(f"{sample}: {result}", flush=True)
        if found:
            about = {"samples": REPOSITORIES[whole], "commit": options.commit, "rocm": ROCM}
            record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
            record.setdefault(name, {})[chip] = {**about, "outcomes": found}
            RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
