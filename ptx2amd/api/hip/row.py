"""One row per function of HIP."""

from __future__ import annotations

from typing import Final

from ptx2amd.api import spec
from ptx2amd.records import dataclass

#: What is done if the HIP library lacks the function (`Function.before`).
REFUSED: Final = "CUDA_ERROR_NOT_SUPPORTED"
LAID_OUT: Final = f"{REFUSED}, as the properties of memory were laid out otherwise"


@dataclass(frozen=True)
class Function(spec.Function):
    """A function that AMD's libamdhip64 exports, with the types of AMD's headers.

    `since` is the HIP version (503 = 5.3) that introduced it, `until` the first version without it. `node` is the
    version node of its symbol if that belongs to another version; "4.2" is the first one.

    `ours`: the software GPU has it. `shim`: libcuda calls it, in HIP libraries from version `taken` (default: `since`);
    with an older library it does what `before` says. `public`: HIP's C headers declare it.
    """

    ours: bool = True
    shim: bool = False
    node: str = ""
    until: int = 0
    taken: int = 0
    before: str = ""
    public: bool = True

    @property
    def version_node(self) -> str:
        """The version node of its symbol: "hip_4.2"."""
        return f"hip_{self.node or f'{self.since // 100}.{self.since % 100}'}"

    def there(self, version: int) -> bool:
        """Whether the HIP library of that version exports it."""
        return self.since <= version and not 0 < self.until <= version

    @property
    def shim_since(self) -> int:
        """The HIP version from which libcuda calls it; 0: all supported versions (5.2 is the oldest)."""
        return self.taken or (self.since if self.before else 0)
