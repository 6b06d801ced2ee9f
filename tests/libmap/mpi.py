"""Debian's Open MPI in a folder of its own, which starts programs as ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests import debian, rocm

#: Of the system's own release, as mpirun is started without the loader of another.
SUITE = "bookworm"
#: What its packages depend on, but the launcher does not load: compilers, interpreters, the C library.
NOT_LOADED = (
    "gcc", "g++", "cpp", "libstdc++", "libc6", "libc-", "linux-", "manpages", "perl", "libperl", "binutils", "gfortran",
    "libgfortran", "libgcc", "python3", "openssh",
)  # fmt: skip


@dataclass(frozen=True)
class Mpi:
    root: Path

    @property
    def libraries(self) -> Path:
        return self.root / "usr" / "lib" / "x86_64-linux-gnu"

    def command(self, count: int) -> tuple[str | Path, ...]:
        return (self.root / "usr" / "bin" / "mpirun.openmpi", "--oversubscribe", "-np", str(count))

    @property
    def environment(self) -> dict[str, str]:
        """Where it finds itself; and transports that every machine has."""
        return {
            "OPAL_PREFIX": str(self.root / "usr"),
            "LD_LIBRARY_PATH": str(self.libraries),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_btl": "self,tcp",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_mca_base_component_show_load_errors": "0",
        }


def fetch() -> Mpi:
    return Mpi(debian.unpacked(rocm.CACHE / "openmpi", SUITE, ["openmpi-bin", "libopenmpi-dev"], NOT_LOADED))
