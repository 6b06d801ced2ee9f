"""Calls that are made again with the same memory: `python repeated.py LIBCUDA LIBRARY NAME PATTERN` runs the calls of
NAME_calls.py; those of functions that match the pattern are made again, and it prints how often each function was, and
which calls (a function with the numbers among its arguments) had other bits then."""

from __future__ import annotations

import re
import sys
import weakref
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

if sys.path[0] == str(Path(__file__).parent):  # its neighbours have names of other packages
    sys.path.pop(0)

from tests.libmap import client
from tests.libmap.client import Array, Device

#: Calls of one function that are made again, and how often.
MOST, TIMES = 40, 3
NAME, PATTERN = sys.argv.pop(3), re.compile(sys.argv.pop(3))


class Cuda:
    """Our libcuda; a captured call is not executed, and therefore not made again."""

    def __init__(self, library: Any) -> None:
        self.library, self.captures = library, False

    def __getattr__(self, name: str) -> Any:
        if "Capture" in name:
            self.captures = "Begin" in name
        return getattr(self.library, name)


class Repeating(client.Client):
    """All arrays of the device are put back before a call is made again: descriptors hold addresses of some."""

    def __init__(self, mapped: Any) -> None:
        super().__init__(mapped)
        self.cuda = Cuda(self.cuda)
        self.devices = weakref.WeakSet[Device]()
        self.repeated, self.differ = Counter[str](), Counter[str]()

    def on_device(self, values: Array) -> Device:
        device = super().on_device(values)
        self.devices.add(device)
        return device

    def call(self, name: str, *arguments: Any) -> int:
        if self.cuda.captures or not PATTERN.search(name) or self.repeated[name] >= MOST:
            return super().call(name, *arguments)
        devices, arrays = list(self.devices), [a for a in arguments if isinstance(a, np.ndarray)]
        before = [d.now() for d in devices], [a.copy() for a in arrays]
        status = super().call(name, *arguments)
        if status:
            return status
        first = self.bits(devices, arrays)
        self.repeated[name] += 1
        same = True
        for _ in range(TIMES):
            for device, values in zip(devices, before[0], strict=True):
                device.put(values)
            for array, values in zip(arrays, before[1], strict=True):
                array[...] = values
            same &= super().call(name, *arguments) == 0 and self.bits(devices, arrays) == first
        numbers = ",".join(str(a) for a in arguments if isinstance(a, int))
        self.differ[f"{name}({numbers})"] += not same
        return status

    def bits(self, devices: list[Device], arrays: list[Array]) -> list[bytes]:
        assert not self.cuda.cuCtxSynchronize()
        return [*(d.now().tobytes() for d in devices), *(a.tobytes() for a in arrays)]

    def report(self) -> None:
        super().report()
        print(" ".join(f"{name}:{count}" for name, count in sorted(self.repeated.items())))
        print(" ".join(sorted(+self.differ)))


if __name__ == "__main__":
    client.Client = Repeating  # type: ignore[misc]
    import_module(f"tests.libmap.{NAME}_calls").main()
