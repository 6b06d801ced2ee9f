"""Files in ptx2amd/_native that `python -m ptx2amd.native` prepares, so that no process has to compute their content
again. They are JSON: reading them executes nothing. Readers check that a file belongs to the present state of its
source, and do without it if not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "_native"


def read(path: Path, hook: Callable[[dict[str, Any]], Any] | None = None) -> dict[str, Any]:
    """A file's content; empty if there is no such file, or it is damaged. hook: as `json.loads` has it."""
    try:
        found = json.loads(path.read_bytes(), object_hook=hook)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, content: dict[str, Any]) -> None:
    """Write a file, which readers see whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    temporary.write_text(json.dumps(content))
    os.replace(temporary, path)
