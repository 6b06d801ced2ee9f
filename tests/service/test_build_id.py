"""The build id: cache entries belong to the translator that asks for them, so it changes with all that translates."""

from __future__ import annotations

import subprocess
import sys

from ptx2amd.service.build_id import PACKAGE, PARTS, build_id

#: Loaded for a translation, but without a say in what comes out of it.
AROUND = {"__init__.py", "environment.py", "errors.py", "service/__init__.py", "service/cache.py", "service/folder.py",
          "service/place.py", "service/protocol.py", "service/shared.py",
          "settings/__init__.py", "settings/values.py"}  # fmt: skip


def test_everything_that_translates_is_in_it() -> None:
    program = "import sys, ptx2amd.service.translation as t; t.warm_up()\n"
    program += "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'ptx2amd'))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    files = {path.removeprefix(f"{PACKAGE}/") for path in loaded} - AROUND
    assert len(files) > 50
    assert not {file for file in files if file not in PARTS and file.partition("/")[0] not in PARTS}
    assert all((PACKAGE / part).exists() for part in PARTS)


def test_line_tables_make_another_translator() -> None:
    assert build_id(debug=True) != build_id(debug=False)
