"""Lowering functions by the name that a table row uses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from ptx2amd import prepared
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.ptx.ast import Inst

Lowering = Callable[["FunctionLowering", "Inst"], None]
LOWERINGS: dict[str, Lowering] = {}
INDEX = prepared.FOLDER / "lowerings.json"


def lowers(name: str) -> Callable[[Lowering], Lowering]:
    """Register a lowering under the name that rows of ptx2amd/isa give in `lower`."""

    def add(function: Lowering) -> Lowering:
        assert name not in LOWERINGS, f"lowering {name} registered twice"
        LOWERINGS[name] = function
        return function

    return add


def lowering(name: str) -> Lowering | None:
    """The lowering of a name. Imports the file alone that has it, where the index of the build knows it."""
    if name not in LOWERINGS and (module := _index().get(name)):
        with suppress(ModuleNotFoundError):  # the index is of an older state
            import_module(f"ptx2amd.lower.{module}")
    return LOWERINGS.get(name) or load().get(name)


@cache
def _index() -> dict[str, str]:
    """Name -> file below ptx2amd/lower, as the build found them."""
    return prepared.read(INDEX)


def write_index(path: Path = INDEX) -> None:
    """Write the index of this state of the package."""
    found = {name: function.__module__.removeprefix("ptx2amd.lower.") for name, function in load().items()}
    prepared.write(path, dict(sorted(found.items())))


@cache
def load() -> dict[str, Lowering]:
    """All lowerings: imports the files of ptx2amd/lower, which register theirs."""
    from pkgutil import walk_packages

    import ptx2amd.lower

    for module in walk_packages(ptx2amd.lower.__path__, "ptx2amd.lower."):
        import_module(module.name)
    return LOWERINGS
