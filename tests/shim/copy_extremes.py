"""2-D and 3-D copies and fills with every size, position and pitch drawn from numbers that wrap around.

    python -m tests.shim.copy_extremes LIBRARY COUNT SEED

What is right says Python, whose numbers do not wrap. Prints one JSON line per call that answered otherwise or wrote
where nothing was to be written, and then the number of calls.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

from tests.shim.conformance_world import Driver

HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
SIZE, ROW, ROWS, SLICES = 4096, 64, 8, 8
SMALL = (0, 1, 2, 3, 4, 8, 16, 63, 64)
LARGE = tuple((1 << bits) + more for bits in (16, 31, 32, 40, 61, 62, 63) for more in (-1, 0, 1, 16)) + tuple(
    (1 << 64) - less for less in (1, 2, 16, 64, 256, 4096, 60000))  # fmt: skip


class Copies:
    """Memory in a larger memory: what lies around it has to stay as it was."""

    def __init__(self, driver: Driver, random_: random.Random) -> None:
        self.driver, self.ffi, self.random = driver, driver.ffi, random_
        self.device = [self._allocated() for _ in range(2)]
        self.host = self.ffi.new("char[]", 3 * SIZE)
        self.arrays = [self._array() for _ in range(2)]

    def _do(self, symbol: str, *arguments: Any) -> None:
        assert self.driver.call(symbol, list(arguments)) == 0, symbol

    def _allocated(self) -> int:
        made = self.ffi.new("CUdeviceptr *")
        self._do("cuMemAlloc_v2", made, 3 * SIZE)
        return int(made[0]) + SIZE

    def _array(self) -> Any:
        made = self.ffi.new("CUarray *")
        values = {"Width": ROW, "Height": ROWS, "Depth": SLICES, "Format": 1, "NumChannels": 1}
        self._do("cuArray3DCreate_v2", made, self.ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", values))
        return made[0]

    def number(self) -> int:
        return self.random.choice(SMALL if self.random.random() < 0.85 else LARGE)

    def side(self, name: str, deep: bool, values: dict[str, Any], extent: tuple[int, int, int]) -> bool:
        """Fills in one side; whether the copy's part of it lies in the memory, from its begin to its allocation's end.
        The host's memory is nobody's allocation: there it has to lie in, or the call is not made."""
        width, height, depth = extent
        kind = self.random.choice((HOST, DEVICE, ARRAY, UNIFIED))
        x, y, z = self.number(), self.number(), self.number() if deep else 0
        pitch, rows = self.random.choice((0, ROW, self.number())), self.random.choice((0, ROWS, self.number()))
        rows = rows if deep else 0
        values |= {f"{name}MemoryType": kind, f"{name}XInBytes": x, f"{name}Y": y, f"{name}Pitch": pitch}
        values |= {f"{name}Z": z, f"{name}Height": rows} if deep else {}
        if kind == ARRAY:
            values[f"{name}Array"] = self.arrays[name == "src"]
            return x + width <= ROW and y + height <= ROWS and z + depth <= SLICES
        if kind == HOST:
            values[f"{name}Host"] = self.host + SIZE
        else:
            values[f"{name}Device"] = self.device[name == "src"]
        pitch, rows = pitch or x + width, rows or y + height
        narrow = pitch < (x + width if height > 1 or depth > 1 else width)
        if narrow or (depth > 1 and rows < y + height) or max(x + width, y + height, z + depth) >= 1 << 64:
            return False
        end = ((z + depth - 1) * rows + y + height - 1) * pitch + x + width if width and height and depth else 0
        return end <= 2 * SIZE

    def copy(self) -> dict[str, Any] | None:
        """What was wrong, if anything; None: not called."""
        deep, values = self.random.random() < 0.7, dict[str, Any]()
        extent = self.number(), self.number(), self.number() if deep else 1
        right = [self.side(name, deep, values, extent) for name in ("src", "dst")]
        values |= dict(zip(("WidthInBytes", "Height", "Depth")[: 3 if deep else 2], extent, strict=False))
        if not all(right) and HOST in (values["srcMemoryType"], values["dstMemoryType"]):
            on_host = [values[f"{name}MemoryType"] == HOST for name in ("src", "dst")]
            if all(ok or host for ok, host in zip(right, on_host, strict=True)):
                return None  # only the program's own memory would be overrun
        copy = self.ffi.new("CUDA_MEMCPY3D *" if deep else "CUDA_MEMCPY2D *", values)
        symbol = "cuMemcpy3D_v2" if deep else "cuMemcpy2D_v2"
        code = self.driver.call(symbol, [copy])
        if (code == 0) == all(right):
            return {}
        return {"symbol": symbol, "code": code, "right": right, **{k: str(v) for k, v in values.items()}}

    def fill(self) -> dict[str, Any]:
        """The same for a fill."""
        bits = self.random.choice((8, 16, 32))
        element, pitch, width, height = bits // 8, self.number(), self.number(), self.number()
        pitch -= pitch % element
        end = (height - 1) * pitch + width * element if width and height else 0
        right = end <= 2 * SIZE and not (end and height > 1 and pitch < width * element)
        code = self.driver.call(f"cuMemsetD2D{bits}_v2", [self.device[0], pitch, 0, width, height])
        wrong = (code == 0) != right
        facts = {"bits": bits, "pitch": pitch, "width": width, "height": height, "code": code}
        return facts if wrong else {}

    def mark(self) -> None:
        self.ffi.buffer(self.host)[:] = b"\xaa" * (3 * SIZE)
        for at in self.device:
            self._do("cuMemsetD8_v2", at - SIZE, 0xAA, SIZE)

    def untouched(self) -> bool:
        before = self.ffi.new("char[]", SIZE)
        views = [self.ffi.buffer(self.host)[:SIZE]]
        for at in self.device:
            self._do("cuMemcpyDtoH_v2", before, at - SIZE, SIZE)
            views.append(self.ffi.buffer(before)[:])
        return all(view == b"\xaa" * SIZE for view in views)


def main() -> None:
    driver, count, random_ = Driver(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    assert driver.lib.cuInit(0) == 0
    assert driver.lib.cuCtxCreate_v2(driver.ffi.new("CUcontext *"), 0, 0) == 0
    copies, made = Copies(driver, random_), 0
    copies.mark()
    for _ in range(count):
        wrong = copies.copy() if random_.random() < 0.8 else copies.fill()
        made += wrong is not None
        if wrong:
            print(json.dumps(wrong), flush=True)
        if not copies.untouched():
            print(json.dumps({"overwritten": wrong}), flush=True)
            copies.mark()
    print(json.dumps({"made": made}))


if __name__ == "__main__":
    main()
