"""The table of AMD's architectures, chips.toml, with `like` filled in. Its head explains the keys."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ptx2amd import prepared
from ptx2amd.errors import Ptx2amdError

TABLE = Path(__file__).with_name("chips.toml")
#: The same as `python -m ptx2amd.native` read it: JSON, which loads in a tenth of TOML's time.
READ = prepared.FOLDER / "chips.json"
#: Keys that apply to one chip only: families and `like` do not pass them on.
OWN = ("like", "mach", "product")


@cache
def tables() -> dict[str, dict[str, Any]]:
    """All tables of the file, including families, with inherited keys filled in. Raises Ptx2amdError for a key that no
    family introduces."""
    result: dict[str, dict[str, Any]] = {}
    for name, table in _read().items():
        if "like" in table and table["like"] not in result:
            raise Ptx2amdError(f"{TABLE.name}: {name} is like {table['like']!r}, which is no table above it")
        above = result[table["like"]] if "like" in table else {}
        result[name] = {key: value for key, value in above.items() if key not in OWN} | table
    return result


def _read() -> dict[str, dict[str, Any]]:
    """The file's tables: from the build, or from itself if the build had another state of it, or there was none."""
    text = TABLE.read_text("utf-8")
    found = prepared.read(READ)
    if found.get("of") == text and isinstance(found.get("tables"), dict):
        return dict(found["tables"])
    return _parsed(text)


def _parsed(text: str) -> dict[str, dict[str, Any]]:
    import tomllib

    return tomllib.loads(text)


def write(path: Path = READ) -> None:
    """Write what `_read` reads."""
    text = TABLE.read_text("utf-8")
    prepared.write(path, {"of": text, "tables": _parsed(text)})


@cache
def chips() -> dict[str, dict[str, Any]]:
    """The architectures for which code can be generated, including generic ones."""
    return {name: table for name, table in tables().items() if "mach" in table}


@cache
def devices() -> dict[str, dict[str, Any]]:
    """The chips that the software GPU can simulate."""
    return {name: table for name, table in tables().items() if "product" in table}


def generation(name: str) -> int:
    """gfx90a: 9; gfx1100: 11; gfx9-4-generic: 9."""
    digits = name.removeprefix("gfx").split("-")[0]
    return int(digits) if name.endswith("-generic") else int(digits[:-2])
