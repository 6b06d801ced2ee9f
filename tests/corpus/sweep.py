"""Translate all kernels of real projects and tell which cannot be, why, and which are slow.

    python -m tests.corpus.sweep compile WORK [PROJECT...]       nvcc makes PTX of the pinned sources, in WORK/ptx
    python -m tests.corpus.sweep translate WORK [PROJECT...]     each kernel for each arch; results in WORK/results
    python -m tests.corpus.sweep report WORK [PROJECT...]        counts, refusals and slow kernels, as Markdown

Both long steps continue where they stopped: what has its output file is not done again. `WORK/src/PROJECT` may be put
there by hand instead of being downloaded. Headers of CUDA's libraries, which some sources include, come from the wheels
nvidia-cublas, nvidia-curand ... : NVCC_APPEND_FLAGS=-I.../nvidia/cu13/include."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tomllib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ptx2amd.compat import toolkit
from ptx2amd.compat.sources import fetched
from ptx2amd.errors import Ptx2amdError
from ptx2amd.translate import parse, translate

ARCHS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201")
HERE = Path(__file__).parent
NVCC_SECONDS = 900
KERNEL_SECONDS = 20  # of processor time; more is named in the report


@dataclass(frozen=True)
class Project:
    """A row of projects.toml."""

    name: str
    origin: str
    sources: list[str]
    include: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    arch: str = "compute_80"

    def folder(self, work: Path) -> Path:
        """The sources, downloaded when they are not there."""
        return fetched(self.origin, work / "src" / Path(self.origin.split()[1]).name)

    def files(self, work: Path) -> list[Path]:
        root = self.folder(work)
        found = {f for glob in self.sources if glob[0] != "!" for f in root.glob(glob)}
        return sorted(found - {f for glob in self.sources if glob[0] == "!" for f in root.glob(glob[1:])})


def projects(names: list[str]) -> list[Project]:
    """The projects of projects.toml, or those named."""
    rows = tomllib.loads((HERE / "projects.toml").read_text())
    return [Project(name, row.pop("from"), **row) for name, row in rows.items() if not names or name in names]


def stem(project: Project, work: Path, source: Path) -> str:
    return str(source.relative_to(project.folder(work)).with_suffix("")).replace("/", "__")


def compile_one(project: Project, work: Path, source: Path) -> str:
    """PTX of one source, or the compiler's error in a file beside it."""
    target = work / "ptx" / project.name / f"{stem(project, work, source)}.ptx"
    failed = target.with_suffix(".error")
    if target.exists() or failed.exists():
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    tools, root = toolkit.find(), project.folder(work)
    command = [tools.nvcc, *tools.flags, "-ptx", "-lineinfo", "-std=c++17", f"-arch={project.arch}"]
    command += ["--expt-relaxed-constexpr", "--extended-lambda", "-w", *project.flags]
    command += [f"-I{root / folder}" for folder in project.include]
    part = target.with_suffix(".part")
    try:
        done = subprocess.run(
            [*command, source, "-o", part], capture_output=True, text=True, timeout=NVCC_SECONDS, check=False
        )
        error = done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired:
        error = f"nvcc took more than {NVCC_SECONDS} s"
    if error:
        failed.write_text(error)
        return f"{project.name}/{source.name}: {error.strip().splitlines()[0] if error.strip() else 'failed'}"
    part.rename(target)
    return f"{project.name}/{source.name}: {target.stat().st_size} bytes"


@dataclass
class Outcome:
    """One kernel for one arch. reason: "" when it was translated; seconds of processor time; peak: MiB that the
    process had grown to."""

    file: str
    kernel: str
    arch: str
    reason: str
    opcode: str
    seconds: float
    peak: int


WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)  # LLVM may run in a child


def used() -> float:
    """Seconds of processor time so far."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, WHO))


def translate_one(path: Path, output: Path, archs: tuple[str, ...]) -> str:
    """Every kernel of a PTX file for every arch, as JSON lines."""
    found = []
    try:
        module = parse(path.read_text(), path.name)
        kernels = [name for name, f in module.functions.items() if f.kind == "entry" and f.text]
    except Ptx2amdError as error:
        found.append(Outcome(path.name, "", "", str(error), "", 0, 0))
        kernels = []
    for kernel in kernels:
        for arch in archs:
            start = used()
            [result] = translate(module, archs=[arch], kernels=[kernel], isolate="all")
            seconds = used() - start
            peak = max(resource.getrusage(who).ru_maxrss for who in WHO) // 1024
            k = result.kernels[kernel]
            opcode = getattr(k.error, "opcode", "")
            found.append(Outcome(path.name, kernel, arch, k.reason, opcode, round(seconds, 2), peak))
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_suffix(".part")
    part.write_text("".join(json.dumps(asdict(o)) + "\n" for o in found))
    part.rename(output)
    return f"{path.parent.name}/{path.name}: {len(found)} kernels, {sum(bool(o.reason) for o in found)} refused"


def report(name: str, results: Path) -> None:
    """What became of a project's kernels."""
    rows = [json.loads(line) for path in sorted(results.glob("*.jsonl")) for line in path.open()]
    refused = [row for row in rows if row["reason"]]
    slow = [row for row in rows if row["seconds"] > KERNEL_SECONDS]
    print(f"## {name}\n\n{len(rows)} kernels times archs, {len(refused)} refused, {len(slow)} slow")
    for row in refused:
        print(f"- {row['file']} {row['kernel']} {row['arch']}: {row['reason']}")
    for row in slow:
        print(f"- {row['file']} {row['kernel']} {row['arch']}: {row['seconds']} s, {row['peak']} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("compile", "translate", "report"))
    parser.add_argument("work", type=Path)
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--archs", default=",".join(ARCHS))
    options = parser.parse_args()
    work, wanted = options.work, projects(options.projects)
    if options.step == "compile":
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(compile_one, p, work, f) for p in wanted for f in p.files(work)]
            for job in jobs:
                if line := job.result():
                    print(line, flush=True)
    elif options.step == "translate":
        archs = tuple(options.archs.split(","))
        with ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as processes:
            runs = []
            for project in wanted:
                for path in sorted((work / "ptx" / project.name).glob("*.ptx"), key=lambda p: p.stat().st_size):
                    output = work / "results" / project.name / f"{path.stem}.jsonl"
                    if not output.exists():
                        runs.append(processes.submit(translate_one, path, output, archs))
            for run in runs:
                print(run.result(), flush=True)
    else:
        for project in wanted:
            report(project.name, work / "results" / project.name)


if __name__ == "__main__":
    main()
