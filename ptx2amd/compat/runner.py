"""Builds the programs of a manifest and runs them unmodified under our libcuda."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from string import Template

from ptx2amd import launch, native
from ptx2amd.cli.trace import read
from ptx2amd.compat import toolkit
from ptx2amd.compat.manifest import Manifest, Program
from ptx2amd.compat.packages import interpreter, libraries, options
from ptx2amd.compat.sources import fetched
from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass, field

BUILD_LIMIT = 900  # seconds
TELLING = re.compile("error:|undefined reference|cannot find|[Ee]rror")
RIGHT, WRONG, REFUSED, CRASHED, LATE, UNBUILT = "right", "wrong", "refused", "crashed", "out of time", "not built"


@dataclass
class Outcome:
    """What became of one program on one device. why: a line for the reader, empty when it is right. mappings: kernels
    that ran, by warp mapping."""

    project: str
    program: str
    device: str
    verdict: str
    why: str = ""
    known: str = ""
    seconds: float = 0.0
    launches: int = 0
    mappings: dict[str, int] = field(default_factory=dict)

    @property
    def unexpected(self) -> bool:
        return self.verdict not in (RIGHT, UNBUILT) and not self.known


class Project:
    """A manifest at work. Everything lies below `work`: sources, programs, what they printed. build_limit: seconds of
    each command that builds."""

    def __init__(
        self, manifest: Manifest, work: Path, mirror: Path | None = None, build_limit: float = BUILD_LIMIT
    ) -> None:
        self.manifest, self.work, self.build_limit = manifest, work, build_limit
        self.root = fetched(manifest.origin, work / "src" / manifest.name, mirror)
        for part, origin in manifest.parts.items():
            fetched(origin, self.root / part, mirror)
        self.python = interpreter(manifest.python, work / "python" / manifest.name) if manifest.python else None
        self.logs = work / "logs" / manifest.name
        self.bin = work / "bin" / manifest.name
        for folder in (self.logs, self.bin):
            folder.mkdir(parents=True, exist_ok=True)
        if manifest.prepare and not (self.bin / ".prepared").exists():
            log = self.logs / "prepare"
            if why := self._shell(manifest.prepare, self.root, self._settings(), log, build_limit)[1]:
                raise Ptx2amdError(f"{manifest.name}: cannot prepare: {why}")
            (self.bin / ".prepared").touch()

    @property
    def programs(self) -> list[Program]:
        return self.manifest.programs(self.root)

    def _settings(self, program: Program | None = None) -> dict[str, str]:
        """The variables that commands of the manifest use."""
        tools, manifest = toolkit.find(), self.manifest
        number = manifest.arch.partition("_")[2]
        code = f"-gencode=arch={manifest.arch},code=compute_{number}"
        wheels = options(manifest.packages, self.work / "packages")
        nvcc = [tools.nvcc, *tools.flags, code, "-w", "-lineinfo", *wheels, f"-L{native.DIRECTORY}"]
        found = {
            "CUDACXX": tools.nvcc,  # what CMake takes
            "CUDAARCHS": f"{number}-virtual",
            "CUDA_HOME": str(tools.home),
            "HERE": str(manifest.home),
            "PROJECT": str(self.root.resolve()),
            "PYTHON": str(self.python or sys.executable),
        }
        found["NVCC"] = f"{shlex.join(nvcc)} {Template(manifest.flags).safe_substitute(found)}"
        if program is not None:
            found |= {"NAME": program.name, "OUT": str((self.bin / program.name).resolve())}
            folder = self._folder(program).relative_to(self.root)
            found["SOURCE"] = os.path.relpath(program.source or ".", folder)
        return found

    def _folder(self, program: Program) -> Path:
        """Where a program's commands run."""
        path = self.root / program.source
        return self.root if not program.group.beside else path if path.is_dir() else path.parent

    def build(self, program: Program) -> str:
        """Build a program that is not there yet. Returns why that failed, or ""."""
        settings = self._settings(program)
        if Path(settings["OUT"]).exists():
            return ""
        log = self.logs / f"{program.name}.build"
        return self._shell(program.group.build, self._folder(program), settings, log, self.build_limit)[1]

    def run(self, program: Program, device: str) -> Outcome:
        """Build, run and judge a program."""
        outcome = Outcome(self.manifest.name, program.name, device, UNBUILT, known=program.known)
        if why := self.build(program):
            outcome.why = why
            return outcome
        log = self.logs / f"{program.name}.{device.replace(':', '-')}"
        trace = log.with_name(log.name + ".trace")
        found = launch.environment(device, trace, program=str(self.python) if self.python else None)
        wheels = [lib for name in self.manifest.packages for lib in libraries(self.work / "packages" / name)]
        found["LD_LIBRARY_PATH"] = ":".join([found["LD_LIBRARY_PATH"], *map(str, wheels)])
        settings = {**self._settings(program), **found}
        begin = time.perf_counter()
        status, why = self._shell(program.run, self._folder(program), settings, log, program.group.limit)
        outcome.seconds = round(time.perf_counter() - begin, 2)
        self._look(outcome, trace)
        outcome.verdict, outcome.why = judged(program, status, why, log.read_text(errors="replace"))
        return outcome

    def _look(self, outcome: Outcome, trace: Path) -> None:
        """What the trace says of the kernels."""
        used: dict[str, str] = {}
        for event in read(trace) if trace.exists() else ():
            if event["event"] == "launch":
                outcome.launches += 1
                used[event["kernel"]] = event["mapping"]
        outcome.mappings = dict(Counter(used.values()))
        for file in launch.trace_files(trace):
            file.unlink(missing_ok=True)

    def _shell(
        self, command: str, folder: Path, settings: dict[str, str], log: Path, limit: float
    ) -> tuple[int | None, str]:
        """Run a shell command with its output in `log`. Returns its status (None: out of time), and why it failed."""
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["sh", "-ec", command], cwd=folder, env={**os.environ, **settings},
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None, f"no end after {limit:g} s"
        return status, "" if status == 0 else f"exit status {status}: {_telling(log.read_text(errors='replace'))}"


def judged(program: Program, status: int | None, why: str, output: str) -> tuple[str, str]:
    """The verdict on a run, and why."""
    said = [line for line in output.splitlines() if line.startswith("ptx2amd")]
    remark = said[-1] if said else why
    if status is None:
        return LATE, why
    if status < 0 or status > 128:
        return CRASHED, remark
    group = program.group
    missing = group.expect and not re.search(group.expect, output, re.MULTILINE)
    found = group.reject and re.search(group.reject, output, re.MULTILINE)
    if status == 0 and not missing and not found:
        return RIGHT, ""
    if said:
        return REFUSED, remark
    return WRONG, why or (f"printed {found.group()!r}" if found else f"did not print {group.expect!r}")


def _telling(text: str) -> str:
    """The line of an output that says most: the first error, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(filter(TELLING.search, lines), lines[-1] if lines else "")[:300]


def outcomes(work: Path) -> Iterator[Outcome]:
    """What earlier runs wrote."""
    for path in sorted((work / "results").glob("*.jsonl")):
        yield from loaded(path)


def loaded(path: Path) -> list[Outcome]:
    """Outcomes from a file of JSON lines. Raises Ptx2amdError."""
    try:
        return [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise Ptx2amdError(f"{path} has no results of `ptx2amd compat`: {error}") from None


def save(path: Path, found: Iterable[Outcome]) -> None:
    """Write outcomes as JSON lines."""
    path.write_text("".join(json.dumps(asdict(o)) + "\n" for o in found))


def keep(work: Path, found: list[Outcome]) -> None:
    """Write outcomes, in the place of earlier ones of the same program and device."""
    newest = {(o.project, o.program, o.device): o for o in [*outcomes(work), *found]}
    (work / "results").mkdir(parents=True, exist_ok=True)
    for project in {o.project for o in found}:
        save(work / "results" / f"{project}.jsonl", [o for o in newest.values() if o.project == project])
