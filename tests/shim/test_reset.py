"""cuDevicePrimaryCtxReset, and the last release: what a program finds afterwards.

Protects: the variables of a library, which outlives contexts, have their initial values again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch

DRIVER = Path(__file__).resolve().parents[1] / "bad_input" / "driver.py"
SCRIPT = """
import sys
VARIABLES = HEAD + b".visible .global .u32 seven = 7;\\n.visible .global .u32 zero;\\n"
library, place = c.c_void_p(), c.c_uint64()

def variables(cu):
    found = []
    for name in (b"seven", b"zero"):
        cu.cuLibraryGetGlobal(c.byref(place), None, library, name)
        found.append((place.value, int.from_bytes(cu.read(place, 4), "little")))
    return found

cu = Driver().start()
cu.cuLibraryLoadData(c.byref(library), VARIABLES, None, None, 0, None, None, 0)
before = variables(cu)
assert [value for _, value in before] == [7, 0]
for at, _ in before:
    cu.cuMemsetD8_v2(c.c_uint64(at), 0x55, c.c_size_t(4))
assert [value for _, value in variables(cu)] == [0x55555555] * 2
END
cu.start()
print([value for _, value in variables(cu)])
"""


@pytest.mark.parametrize("end", ["cu.cuDevicePrimaryCtxReset_v2(0)", "cu.cuDevicePrimaryCtxRelease_v2(0)"])
def test_variables_start_again(tmp_path: Path, end: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("END", end))
    environment = {**os.environ, **launch.environment("vgpu:gfx942")}
    command = [sys.executable, str(DRIVER), str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[7, 0]", done.stdout + done.stderr
