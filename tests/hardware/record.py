"""A plugin of pytest that records what kernels tests launch, so that the hardware can be asked the same:
`pytest tests/lower -p tests.hardware.record -k gfx1100` writes to $RECORD (a folder) a file for each test: its modules'
texts, the contents of its buffers, its launches and the contents that the test read, in order.

Left out: tests in which a buffer's content has another one's address, and kernels that are launched with more lanes
than threads or with arguments of our own (the arena).
"""

from __future__ import annotations

import lzma
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptx2amd import translate as translation
from ptx2amd.hip import device

FOLDER = Path(os.environ.get("RECORD", "record"))
TEXTS: dict[bytes, str] = {}  # of code objects
STEPS: list[tuple[Any, ...]] = []
LIVE: dict[int, device.Buffer] = {}
UNFIT: set[str] = set()


def _translate(text: Any, *more: Any, **named: Any) -> Any:
    results = ORIGINAL(text, *more, **named)
    for result in results:
        if result.code and not any(k.mapping == "padded" for k in result.kernels.values()):
            TEXTS[bytes(result.code)] = text if isinstance(text, str) else bytes(text).decode()
    return results


def _load(self: device.Gpu, image: Any) -> device.Module:
    module = LOAD(self, image)
    text = TEXTS.get(bytes(image)) if isinstance(image, bytes) else None
    if text is not None:
        MODULES[id(module)] = (module, text)
    return module


KEEP: list[Any] = []
MODULES: dict[int, tuple[device.Module, str]] = {}  # all of the session: tests share programs


def _used(module: device.Module) -> None:
    """Modules are loaded where they are used for the first time in a test."""
    if id(module) not in MODULES:
        UNFIT.add("a module without text")
    elif not any(step[:2] == ("module", id(module)) for step in STEPS):
        STEPS.append(("module", id(module), MODULES[id(module)][1]))


def _init(self: device.Buffer, gpu: device.Gpu, size: int, dtype: Any = None, shape: Any = None, address: int = 0,
          keep: Any = None) -> None:  # fmt: skip
    INIT(self, gpu, size, dtype, shape, address, keep)
    LIVE[id(self)] = self
    KEEP.append(self)
    if isinstance(keep, device.Module):
        _used(keep)
        STEPS.append(("variable", id(self), id(keep), NAMES.pop(), size))
    elif address:
        UNFIT.add("memory that is not the driver's")
    else:
        STEPS.append(("buffer", id(self), size))


NAMES: list[str] = []


def _variable(self: device.Module, name: str) -> device.Buffer:
    NAMES.append(name)
    return VARIABLE(self, name)


def _write(self: device.Buffer, content: Any) -> None:
    raw = memoryview(content).tobytes()
    for other in LIVE.values():
        at = raw.find(other.address.to_bytes(8, "little")[:6]) if other.address > 0xFFFF else -1
        if at >= 0 and at % 8 == 0:
            UNFIT.add("addresses in memory")
    STEPS.append(("write", id(self), raw))
    WRITE(self, content)


def _bytes(self: device.Buffer) -> bytes:
    content = BYTES(self)
    STEPS.append(("read", id(self), content))
    return content


def _launch(self: device.Kernel, grid: Any, block: Any, args: Any = (), shared: int = 0, stream: Any = None) -> None:
    given = [("buffer", id(a)) if isinstance(a, device.Buffer) else device.argument_bytes(a) for a in args]
    for a in given:
        if isinstance(a, bytes) and any(o.address <= int.from_bytes(a[:8], "little") < o.address + max(o.size, 1)
                                        for o in LIVE.values()):  # fmt: skip
            UNFIT.add("addresses in arguments")
    _used(self.module)
    STEPS.append(("launch", id(self.module), self.name, device._three(grid), device._three(block), given, shared))
    LAUNCH(self, grid, block, args, shared, stream)


ORIGINAL, LOAD, INIT, VARIABLE = translation.translate, device.Gpu.load, device.Buffer.__init__, device.Module.variable
WRITE, BYTES, LAUNCH = device.Buffer.write, device.Buffer.bytes, device.Kernel.launch


def pytest_configure() -> None:
    translation.translate = _translate
    device.Gpu.load, device.Buffer.__init__, device.Module.variable = _load, _init, _variable
    device.Buffer.write, device.Buffer.bytes, device.Kernel.launch = _write, _bytes, _launch
    FOLDER.mkdir(exist_ok=True, parents=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    STEPS.clear()
    UNFIT.clear()
    yield
    if STEPS and not UNFIT and any(step[0] == "launch" for step in STEPS):
        name = re.sub(r"[^A-Za-z0-9]+", "_", item.nodeid)[-120:]
        (FOLDER / f"{name}.xz").write_bytes(lzma.compress(pickle.dumps((item.nodeid, STEPS)), preset=2))
    elif STEPS:
        with open(FOLDER / "left_out.txt", "a") as f:
            f.write(f"{item.nodeid}: {', '.join(sorted(UNFIT))}\n")
    LIVE.clear()
    KEEP.clear()
