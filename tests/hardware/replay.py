"""Asks the hardware what recorded tests launched: `python -m tests.hardware.replay FOLDER OUT` (see record.py).

Prints how many tests read the same contents, and writes to OUT a JSON line for each: its name, how many of its reads
differ, the first differences, or why it could not be asked.
"""

from __future__ import annotations

import json
import lzma
import os
import pickle
import re
import signal
import sys
from collections import Counter
from multiprocessing import Process, Queue
from pathlib import Path
from typing import Any

from ptx2amd.ptx.special import SPECIAL
from tests.hardware.driver import Device, DriverError

SECONDS = 20  # for one test
WORKERS = 16


NAMES = "|".join(name[1:] for name in SPECIAL if "." not in name)


def for_this_card(text: str) -> str:
    """The module as one that its compiler takes: newer targets and versions as the card's own; what ours takes besides
    (registers named like special ones, volatile accesses of .local) spelled as the manual wants it; redux of floats,
    which later cards have, left out."""
    text = re.sub(r"\.target\s+sm_(1\d\d|9\d)[af]?", ".target sm_90a", text)
    text = re.sub(r"\.version\s+9\.[1-9]", ".version 9.0", text)
    text = text.replace("volatile.local", "local")
    for name in set(re.findall(rf"\.reg\s[^;]*%({NAMES})\b(?![.<])", text)):
        text = re.sub(rf"%{name}\b(?!\.)", f"%own_{name}", text)
    return re.sub(r"redux\.sync\.\w+(?:\.abs)?(?:\.NaN)?\.f32\s+(%\w+),[^;]*;", r"mov.b32 \1, 0;", text)


def differences(name: str, ours: bytes, theirs: bytes) -> dict[str, Any]:
    places = [i for i in range(0, len(ours), 4) if ours[i : i + 4] != theirs[i : i + 4]]
    first = [[i, ours[i : i + 4][::-1].hex(), theirs[i : i + 4][::-1].hex()] for i in places[:12]]
    return {"read": name, "words": len(ours) // 4, "differ": len(places), "first": first}


def replay(device: Device, steps: list[tuple[Any, ...]]) -> dict[str, Any]:
    modules: dict[int, Any] = {}
    buffers: dict[int, tuple[int, int]] = {}
    owned, differ, reads = [], [], 0
    for number, step in enumerate(steps):
        try:
            match step:
                case ("module", key, text):
                    modules[key] = device.load(for_this_card(text))
                case ("buffer", key, size):
                    buffers[key] = (device.allocate(size), size)
                    owned.append(buffers[key][0])
                case ("variable", key, module, name, _):
                    buffers[key] = device.variable(modules[module], name)
                case ("write", key, content):
                    device.write(buffers[key][0], content)
                case ("launch", module, kernel, grid, block, arguments, shared):
                    cells = [
                        buffers[a[1]][0].to_bytes(8, "little") if isinstance(a, tuple) else a.ljust(8, b"\0")
                        for a in arguments
                    ]
                    device.launch(device.function(modules[module], kernel), tuple(grid), tuple(block), cells, shared)
                    device.synchronize()
                case ("read", key, content):
                    reads += 1
                    found = device.read(buffers[key][0], len(content))
                    if found != content:
                        differ.append(differences(f"{reads}", content, found))
        except DriverError as error:
            return {"error": f"step {number} ({step[0]}): {error}"[:500], "reads": reads, "differ": differ}
    for address in owned:
        device.free(address)
    for module in modules.values():
        device.unload(module)
    return {"reads": reads, "differ": differ}


def worker(paths: list[Path], done: Any) -> None:
    """Each test in a child of its own after one that failed: a fault takes the context with it."""
    todo = list(paths)
    while todo:
        receive, send = os.pipe()
        child = os.fork()
        if not child:
            device = Device()
            for path in todo:
                signal.alarm(SECONDS)
                name, steps = pickle.loads(lzma.decompress(path.read_bytes()))
                result = replay(device, steps)
                os.write(send, json.dumps({"test": name, "file": path.name, **result}).encode() + b"\n")
                if "error" in result and ": 218" not in result["error"]:
                    os._exit(0)
            os._exit(0)
        os.close(send)
        with os.fdopen(receive) as lines:
            found = [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        for line in found:
            done.put(line)
        todo = todo[len(found) :]
        if todo and not (found and "error" in found[-1]):
            done.put({"test": todo[0].name, "file": todo[0].name, "error": "no answer in time, or a crash"})
            todo = todo[1:]
    done.put(None)


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    paths = sorted(folder.glob("*.xz"))
    done: Any = Queue()
    for k in range(WORKERS):
        Process(target=worker, args=(paths[k::WORKERS], done), daemon=True).start()
    count: Counter[str] = Counter()
    running = WORKERS
    with out.open("w") as f:
        while running:
            line = done.get()
            if line is None:
                running -= 1
                continue
            f.write(json.dumps(line) + "\n")
            f.flush()
            count["error" if "error" in line else "differs" if line["differ"] else "same"] += 1
    print(dict(count))


if __name__ == "__main__":
    main()
