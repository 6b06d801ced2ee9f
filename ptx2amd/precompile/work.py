"""The work of one process: the index of an image, or some of its kernels. What it makes goes back as cache entries, so
that it may be done on another machine."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import Image
from ptx2amd.modules import module_of
from ptx2amd.precompile.images import module_id
from ptx2amd.ptx.ast import Module
from ptx2amd.records import dataclass, field
from ptx2amd.service import entry, shared
from ptx2amd.service.build_id import current_build_id
from ptx2amd.service.translation import index_entry, kernel_entry, parse_options
from ptx2amd.translate import module_index


@dataclass(frozen=True, slots=True)
class Task:
    """Kernels of an image to translate for an arch, with options as in keys; no kernels: to list the image."""

    image: Image
    arch: str = ""
    options: str = ""
    kernels: tuple[str, ...] = ()


@dataclass(slots=True)
class Done:
    """What came of a task. entries: packed, by key, of which `fetched` come from the shared cache; kernels: of a listed
    image, with the lengths of their PTX; problems: by kernel, or of the whole image ("")."""

    build: str
    entries: dict[str, bytes] = field(default_factory=dict)
    fetched: set[str] = field(default_factory=set)
    kernels: dict[str, int] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def do(task: Task) -> Done:
    """Do a task."""
    done = Done(current_build_id())
    identity = module_id(task.image)
    try:
        module = _module(task.image)
        if not task.kernels:
            index = module_index(module)
            done.entries[entry.index_key(identity, done.build)] = index_entry(index).pack()
            done.kernels = {kernel.name: len(module.functions[kernel.name].text) for kernel in index.kernels}
    except Ptx2amdError as error:
        done.problems = dict.fromkeys(task.kernels or ("",), str(error))
        return done
    for kernel in task.kernels:
        key = entry.kernel_key(identity, done.build, task.arch, task.options, kernel)
        found, _ = shared.fetch(key)
        if found is not None:
            done.fetched.add(key)
        try:
            options = parse_options(task.options)
            made = found or kernel_entry(module, kernel, task.arch, done.build, options, isolate="all")
            done.entries[key] = made.pack()
        except Ptx2amdError as error:
            done.problems[kernel] = str(error)
    return done


@lru_cache(maxsize=4)
def _module(image: Image) -> Module:
    return module_of(image)


def do_apart(task: Task) -> Done:
    """Do a task in a process of its own: a worker of a cluster has other threads, beside which nothing can be forked.
    Raises Ptx2amdError where that process fails."""
    command = [sys.executable, "-m", "ptx2amd.precompile.work"]
    ended = subprocess.run(command, input=_text(task), capture_output=True)
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise Ptx2amdError(f"a worker of the cluster failed: {said[-1] if said else ended.returncode}")
    return _done(json.loads(ended.stdout))


def _text(value: Task | Done) -> bytes:
    """A task or its result as JSON for the other process, with bytes in base64."""
    return json.dumps(asdict(value), default=_plain).encode()


def _plain(value: bytes | set[str]) -> str | list[str]:
    return b64encode(value).decode() if isinstance(value, bytes) else sorted(value)


def _task(read: dict[str, Any]) -> Task:
    image = read["image"]
    image |= {"version": tuple(image["version"]), "stored": b64decode(image["stored"])}
    return Task(Image(**image), read["arch"], read["options"], tuple(read["kernels"]))


def _done(read: dict[str, Any]) -> Done:
    read["entries"] = {key: b64decode(packed) for key, packed in read["entries"].items()}
    return Done(**read | {"fetched": set(read["fetched"])})


Worker = Callable[[Task], Any]

if __name__ == "__main__":
    sys.stdout.buffer.write(_text(do(_task(json.load(sys.stdin)))))
