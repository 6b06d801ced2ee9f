"""FLIP of two small images: the statistics that the CUDA program prints are those of the CPU program."""

import math
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

WIDTH, HEIGHT = 96, 64


def png(path: Path, phase: float) -> None:
    rows = b""
    for y in range(HEIGHT):
        rows += b"\0" + bytes(
            int(127 + 120 * math.sin(x / a + phase) * math.cos(y / b))
            for x in range(WIDTH)
            for a, b in ((7, 9), (5, 4), (11, 6))
        )
    data = b"\x89PNG\r\n\x1a\n"
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    for kind, body in ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        data += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    path.write_bytes(data)


def numbers(tool: str, folder: Path) -> list[float]:
    command = [tool, "-r", "a.png", "-t", "b.png", "-nexm"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    print(done.stdout)
    lines = [line for line in done.stdout.splitlines() if re.search("(?i)mean|median|quartile|min|max", line)]
    return [float(number) for line in lines for number in re.findall(r"\d+\.\d+", line)]


gpu, folder = sys.argv[1], Path(tempfile.mkdtemp())
png(folder / "a.png", 0)
png(folder / "b.png", 0.6)
got, wanted = numbers(gpu, folder), numbers(f"{gpu}-cpu", folder)
assert len(wanted) >= 5 and len(got) == len(wanted), (got, wanted)
assert all(abs(a - b) < 2e-4 for a, b in zip(got, wanted, strict=True)), (got, wanted)
print("right")
