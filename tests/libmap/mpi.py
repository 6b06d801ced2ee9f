"""Debian's Open MPI in a folder of its own, which starts programs as ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests import debian, rocm
from tests.libmap.nodes import Node, shell

#: Of the system's own release, as mpirun is started without the loader of another.
SUITE = "bookworm"
#: What its packages depend on, but the launcher does not load: compilers, interpreters, the C library.
NOT_LOADED = (
    "gcc", "g++", "cpp", "libstdc++", "libc6", "libc-", "linux-", "manpages", "perl", "libperl", "binutils", "gfortran",
    "libgfortran", "libgcc", "python3", "openssh",
)  # fmt: skip


@dataclass(frozen=True)
class Mpi:
    """nodes: where ranks start, as many on each; none: here."""

    root: Path
    nodes: tuple[Node, ...] = ()

    @property
    def libraries(self) -> Path:
        return self.root / "usr" / "lib" / "x86_64-linux-gnu"

    def command(self, count: int) -> tuple[str | Path, ...]:
        launcher = (self.root / "usr" / "bin" / "mpirun.openmpi", "-np", str(count))
        if not self.nodes:
            return (*launcher, "--oversubscribe")
        hosts = ",".join(f"{node.address}:{count // len(self.nodes)}" for node in self.nodes)
        return (*self.nodes[0].enter, *launcher, "--host", hosts)

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
            **({"OMPI_MCA_plm_rsh_agent": shell(self.nodes)} if self.nodes else {}),
        }


def fetch(nodes: tuple[Node, ...] = ()) -> Mpi:
    return Mpi(debian.unpacked(rocm.CACHE / "openmpi", SUITE, ["openmpi-bin", "libopenmpi-dev"], NOT_LOADED), nodes)
