"""Doing it: tasks go to processes of this machine, or to a dask cluster; what they make goes into the cache at once, so
that a run that was stopped goes on where it was."""

from __future__ import annotations

import contextlib
import importlib
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import Image
from ptx2amd.precompile.images import module_id
from ptx2amd.precompile.work import Done, Task, Worker, do, do_apart
from ptx2amd.records import dataclass, field
from ptx2amd.service import cache, entry, shared
from ptx2amd.service.build_id import current_build_id

KERNELS, LENGTH = 8, 200_000  # that a task has at most, and the characters of PTX after which it gets no further kernel
FIXED = 8_000  # characters of PTX that take as long as what every kernel needs, however small it is
TICK = 0.5  # seconds between looks at the progress


@dataclass(slots=True)
class Progress:
    """What is known so far. modules: listed, of `all_modules`; kernels and the work that they are, in characters of
    PTX, found and done; ready: kernels that were in the cache before; now: the module at hand."""

    all_modules: int
    modules: int = 0
    kernels: int = 0
    done: int = 0
    ready: int = 0
    work: int = 0
    work_done: int = 0
    now: str = ""
    problems: list[str] = field(default_factory=list)


@contextlib.contextmanager
def executor(where: str) -> Iterator[tuple[Executor, Worker]]:
    """Where tasks run: "" for processes here, "dask:ADDRESS" for a cluster; and what does one. Raises Ptx2amdError."""
    kind, _, address = where.partition(":")
    if not where:
        with ProcessPoolExecutor(initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_DFL)) as pool:
            try:
                yield pool, do
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return
    if kind != "dask" or not address:
        raise Ptx2amdError(f"--executor {where}: expected dask:ADDRESS, such as dask:tcp://scheduler:8786")
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise Ptx2amdError("--executor dask needs dask.distributed: pip install ptx2amd[dask]") from None
    try:
        client = distributed.Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise Ptx2amdError(f"--executor {where}: no scheduler answers: {error}") from None
    with client, client.get_executor(pure=False) as cluster:
        yield cluster, do_apart


def fill(images: list[Image], archs: list[str], options: str, where: str, show: Callable[[Progress], None]) -> Progress:
    """Translate all kernels of the images into the cache. show: called as it goes on. Raises Ptx2amdError."""
    root, build = cache.directory(), current_build_id()
    progress = Progress(len(images))
    with executor(where) as (pool, worker):
        waiting: dict[Future[Any], Task] = {pool.submit(worker, task): task for task in map(Task, images)}
        lengths: dict[str, dict[str, int]] = {}
        while waiting:
            finished, _ = wait(waiting, timeout=TICK, return_when=FIRST_COMPLETED)
            for future in finished:
                task, done = waiting.pop(future), _result(future)
                _check(done, build, where)
                _keep(root, done)
                progress.now = task.image.origin
                progress.problems += done.problems.values()
                if task.kernels:
                    taken = lengths[module_id(task.image)]
                    progress.done += len(task.kernels) - len(done.problems)
                    progress.work_done += _work(taken[name] for name in task.kernels)
                    continue
                progress.modules += 1
                lengths[module_id(task.image)] = done.kernels
                for arch in archs:
                    for names in _parts(_missing(root, build, task.image, arch, options, done.kernels, progress)):
                        more = Task(task.image, arch, options, names)
                        waiting[pool.submit(worker, more)] = more
            show(progress)
    return progress


def _result(future: Future[Any]) -> Done:
    try:
        done: Done = future.result()
    except BrokenProcessPool:
        raise Ptx2amdError("a worker process was killed, as when memory runs out; the same command goes on") from None
    return done


def _check(done: Done, build: str, where: str) -> None:
    if done.build != build:
        raise Ptx2amdError(f"{where}: its workers have another ptx2amd (build {done.build[:16]}, here {build[:16]}): "
                           "install the same version there")  # fmt: skip


def _keep(root: Path, done: Done) -> None:
    for key, packed in done.entries.items():
        entry.write(cache.path_of(root, key), packed)
    for key in done.entries.keys() - done.fetched if not done.kernels else ():
        shared.offer(key, done.entries[key])


def _work(lengths: Iterable[int]) -> int:
    return sum(FIXED + length for length in lengths)


def _missing(
    root: Path, build: str, image: Image, arch: str, options: str, kernels: dict[str, int], progress: Progress
) -> dict[str, int]:
    """The kernels that the cache does not have."""
    identity = module_id(image)
    missing = {}
    for name, length in kernels.items():
        if cache.path_of(root, entry.kernel_key(identity, build, arch, options, name)).exists():
            progress.ready += 1
        else:
            missing[name] = length
    progress.kernels += len(missing)
    progress.work += _work(missing.values())
    return missing


def _parts(kernels: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """Kernels in parts for tasks."""
    part: list[str] = []
    length = 0
    for name, size in kernels.items():
        part.append(name)
        length += size
        if len(part) == KERNELS or length >= LENGTH:
            yield tuple(part)
            part, length = [], 0
    if part:
        yield tuple(part)
