"""Translating ahead, if PTX2AMD_AHEAD is set: kernels that a program will probably request next, on idle processors.

When a program requests a kernel, the module's other kernels become candidates: those that follow it in the module, then
those before it. The service translates candidates where no request needs the processor, with the scheduler's idle
policy, so that neither requests nor the program itself get less time. A program has at most PTX2AMD_AHEAD of them, and
none once it has ended."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ptx2amd.records import dataclass, field
from ptx2amd.service import cache, entry
from ptx2amd.service.entry import EntryError
from ptx2amd.service.folder import FolderError

KERNEL = "kernel "  # how a line of an index begins that has a kernel's name
IMAGE_BYTES = 256 << 20  # that are kept for a program's candidates
Key = tuple[str, ...]


def key_of(header: dict[str, str]) -> Key:
    """What a request for a kernel is about."""
    return tuple(header.get(name, "") for name in ("module", "arch", "options", "kernel"))


@dataclass(slots=True)
class Job:
    """A request that nobody has made. memory: the file with the program's own request, for the image."""

    header: dict[str, str]
    memory: int


@dataclass(slots=True)
class Program:
    """A process that asks for kernels. started: what was asked for, or begun; left: how many more it may have."""

    watch: int
    left: int
    images: dict[str, int] = field(default_factory=dict)  # module -> file with a request that has it
    held: int = 0  # bytes in these
    started: set[Key] = field(default_factory=set)
    candidates: deque[Job] = field(default_factory=deque)

    def image(self, module: str, memory: int) -> int | None:
        """A file of our own with the module's image; None where there would be too much of them."""
        if module not in self.images:
            size = os.fstat(memory).st_size
            if self.held + size > IMAGE_BYTES:
                return None
            self.images[module], self.held = os.dup(memory), self.held + size
        return self.images[module]

    def close(self) -> None:
        for handle in (self.watch, *self.images.values()):
            os.close(handle)


class Ahead:
    """The candidates of all programs. limit: for each of them."""

    def __init__(self, build: str, limit: int) -> None:
        self.build, self.limit = build, limit
        self.programs: dict[int, Program] = {}  # by pid

    def asked(self, pid: int, header: dict[str, str], memory: int) -> int | None:
        """A program asks for a kernel, by the request in the file `memory`. Returns a descriptor that can be read once
        the program has ended, when it is seen for the first time."""
        if not self.limit or pid <= 0 or not header.get("cache"):
            return None
        watch = None
        if pid not in self.programs:
            try:
                watch = os.pidfd_open(pid)
            except OSError:  # it has ended, or is in another namespace
                return None
            self.programs[pid] = Program(watch, self.limit)
        program = self.programs[pid]
        program.started.add(key_of(header))
        if (own := program.image(header["module"], memory)) is not None:
            jobs = [Job({**header, "kernel": name}, own) for name in self._others(header)]
            mine = {key_of(job.header) for job in jobs}
            others = [job for job in program.candidates if key_of(job.header) not in mine]
            program.candidates = deque([*jobs, *others])
        return watch

    def _others(self, header: dict[str, str]) -> list[str]:
        """The other kernels of the module, by its index in the cache: first those behind the one that was asked for."""
        path = cache.path_of(Path(header["cache"]), entry.index_key(header["module"], self.build))
        try:
            lines = cache.read(path).text.splitlines()
        except (EntryError, FolderError, OSError, ValueError):  # the last: a path with NULs
            return []
        names = [line.removeprefix(KERNEL) for line in lines if line.startswith(KERNEL)]
        at = names.index(header["kernel"]) if header["kernel"] in names else 0
        return [*names[at + 1 :], *names[:at]]

    def next(self) -> tuple[int, Job] | None:
        """The pid of a program, and what is to be translated for it; the programs take turns."""
        for pid, program in list(self.programs.items()):
            while program.left and program.candidates:
                job = program.candidates.popleft()
                key = key_of(job.header)
                if key in program.started or self._stored(job.header):
                    continue
                program.started.add(key)
                program.left -= 1
                self.programs[pid] = self.programs.pop(pid)
                return pid, job
        return None

    def _stored(self, header: dict[str, str]) -> bool:
        module, arch, options, kernel = key_of(header)
        key = entry.kernel_key(module, self.build, arch, options, kernel)
        return cache.path_of(Path(header["cache"]), key).exists()

    def ended(self, pid: int) -> None:
        self.programs.pop(pid).close()


def idle_priority(group: int = 0) -> None:
    """Let this process have only time that no other wants."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(group, os.SCHED_IDLE, os.sched_param(0))


def usual_priority(group: int) -> None:
    """Let the processes of a group have time as others do: somebody waits for them."""
    for pid in _members(group):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


def _members(group: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pid = int(folder.name)
            if os.getpgid(pid) == group:
                yield pid
