"""A smooth image through `gpujpegtool -e` and `-d`: what comes back is nearly what went in."""

import math
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 160, 96
tool, folder = sys.argv[1], Path(tempfile.mkdtemp())
pixels = bytearray()
for y in range(HEIGHT):
    for x in range(WIDTH):
        pixels += bytes(int(127 + 120 * math.sin(x / a) * math.cos(y / b)) for a, b in ((17, 23), (31, 11), (13, 29)))
(folder / "in.rgb").write_bytes(pixels)
size = ["-s", f"{WIDTH}x{HEIGHT}"]
subprocess.run([tool, *size, "-e", "-q", "90", "in.rgb", "out.jpg"], cwd=folder, check=True)
subprocess.run([tool, "-d", "out.jpg", "back.rgb"], cwd=folder, check=True)
back = (folder / "back.rgb").read_bytes()
assert len(back) == len(pixels), len(back)
error = sum((a - b) ** 2 for a, b in zip(pixels, back, strict=True)) / len(back)
ratio = 10 * math.log10(255**2 / max(error, 1e-9))
size_of_jpeg = (folder / "out.jpg").stat().st_size
print(f"{size_of_jpeg} bytes, PSNR {ratio:.1f} dB")
assert ratio > 35 and size_of_jpeg < len(pixels) / 4
print("right")
