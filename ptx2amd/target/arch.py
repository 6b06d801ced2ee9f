"""The AMDGPU architectures for which LLVM 22 generates code, with the properties that our code depends on.

LLVM only warns about an unknown name and then generates invalid code, so names are checked here."""

from __future__ import annotations

from typing import Any

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass, fields
from ptx2amd.target import chips

CODE_OBJECT_VERSIONS = (4, 5, 6)


class UnknownArch(Ptx2amdError):
    """An unknown architecture name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown AMDGPU arch {name!r}; known: {', '.join(ARCHS)}")


@dataclass(frozen=True, slots=True)
class Arch:
    """One AMDGPU architecture: the fields are keys of chips.toml, whose head explains them."""

    name: str
    waves: tuple[int, ...]
    lds: int
    lds_granule: int
    images: bool
    matrix: frozenset[str]
    dot: bool
    packed_f32: bool
    fp8: bool
    bitop3: bool
    tanh: bool
    permlane16: bool
    permlane64: bool
    permlane32_swap: bool
    row_share: bool
    named_barriers: bool
    async_lds: tuple[int, ...]
    apertures: bool
    flat_scratch: bool
    cycle_counter_bits: int
    code_object: int

    @property
    def generic(self) -> bool:
        """Whether its code runs on several architectures."""
        return self.name.endswith("-generic")

    @property
    def major(self) -> int:
        """The generation: 9, 10, 11, 12."""
        return chips.generation(self.name)


def _arch(name: str, table: dict[str, Any]) -> Arch:
    values = {field.name: table[field.name] for field in fields(Arch) if field.name != "name"}
    for key in ("waves", "async_lds"):
        values[key] = tuple(values[key])
    return Arch(name, **values | {"matrix": frozenset(values["matrix"])})


ARCHS: dict[str, Arch] = {name: _arch(name, table) for name, table in chips.chips().items()}


def arch(name: str) -> Arch:
    """The architecture called `name`; feature suffixes, as in gfx90a:sramecc+:xnack-, are ignored. Raises UnknownArch
    with the list of known names."""
    found = ARCHS.get(name.split(":")[0])
    if found is None:
        raise UnknownArch(name)
    return found
