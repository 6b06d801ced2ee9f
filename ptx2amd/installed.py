"""Where a package lies that this one needs, found without importing it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ptx2amd.errors import Ptx2amdError


def llvmlite() -> Path:
    """The folder of llvmlite. To import it, or importlib.metadata, would cost `ptx2amd run` more time than all else it
    does."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise Ptx2amdError("llvmlite is not installed: run `pip install ptx2amd` again")
    return Path(spec.origin).parent
