"""The AMDGPU architectures that LLVM 22 has code generation for, with what decides our code for them.

LLVM only warns about a name that it does not know and then generates nonsense, so names are checked here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptx2amd.errors import Ptx2amdError

CODE_OBJECT_VERSIONS = (4, 5, 6)


class UnknownArch(Ptx2amdError):
    """An arch name that is not in the table."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown AMDGPU arch {name!r}; known: {', '.join(ARCHS)}")


@dataclass(frozen=True, slots=True)
class Arch:
    """One AMDGPU architecture.

    waves: wave sizes in lanes, the default first; lds: bytes a workgroup can have; lds_granule: bytes in
    which LDS is handed out; images: has image instructions; matrix: families of matrix instructions
    ("mfma": f16 and f32, "flushes": subnormal f16 and bf16 in them, "bf16_1k", "f64", "i8_k16", "i8_k32", "fp8",
    "ocp8": its formats are OCP's, as PTX's, "xf32", "f16_k32"; "wmma11", "wmma12", "wmma1250"); dot: v_dot4;
    fp8: conversions between f32 and fp8; bitop3: three-input logic in one instruction; named_barriers,
    async_lds (bytes a lane can copy from memory to LDS in one instruction); flat_scratch: stack pointers are a lane's
    addresses, not a wave's; cycle_counter_bits: of the shader
    clock; code_object: version of our code objects."""

    name: str
    waves: tuple[int, ...]
    lds: int = 65536
    lds_granule: int = 512
    images: bool = True
    matrix: frozenset[str] = frozenset()
    dot: bool = True
    fp8: bool = False
    bitop3: bool = False
    tanh: bool = False
    permlane16: bool = False
    permlane64: bool = False
    permlane32_swap: bool = False
    row_share: bool = True
    named_barriers: bool = False
    async_lds: tuple[int, ...] = ()
    flat_scratch: bool = False
    cycle_counter_bits: int = 64
    code_object: int = 5

    @property
    def generic(self) -> bool:
        """Whether code for it runs on several architectures."""
        return self.name.endswith("-generic")

    @property
    def major(self) -> int:
        """The generation: 9, 10, 11, 12."""
        digits = self.name.removeprefix("gfx").split("-")[0]
        return int(digits) if self.generic else int(digits[:-2])


def _family(base: Arch, *names: str, **changes) -> list[Arch]:
    return [replace(base, name=name, **changes) for name in names]


_GFX9 = Arch("", (64,), dot=False, row_share=False, async_lds=(1, 2, 4))
_GFX908 = replace(_GFX9, dot=True, matrix=frozenset({"mfma", "i8_k16"}))
_GFX90A = replace(_GFX908, matrix=_GFX908.matrix | {"flushes", "bf16_1k", "f64"}, row_share=True)
_GFX94 = replace(_GFX90A, matrix=frozenset({"mfma", "bf16_1k", "f64", "i8_k32"}), images=False, flat_scratch=True)
_GFX10 = Arch("", (32, 64), dot=False, permlane16=True, async_lds=(1, 2, 4))
_GFX11 = replace(
    _GFX10,
    dot=True,
    permlane64=True,
    matrix=frozenset({"wmma11"}),
    async_lds=(),
    flat_scratch=True,
    cycle_counter_bits=20,
)
_GFX12 = replace(_GFX11, matrix=frozenset({"wmma12"}), fp8=True, named_barriers=True, cycle_counter_bits=64)
_GFX125 = replace(
    _GFX12,
    waves=(32,),
    lds=327680,
    lds_granule=2048,
    images=False,
    matrix=frozenset({"wmma1250"}),
    bitop3=True,
    tanh=True,
    async_lds=(1, 4, 8, 16),
)

ARCHS: dict[str, Arch] = {
    arch.name: arch
    for arch in [
        *_family(_GFX9, "gfx900", "gfx902", "gfx904"),
        *_family(_GFX9, "gfx906", dot=True),
        *_family(_GFX908, "gfx908"),
        *_family(_GFX9, "gfx909"),
        *_family(_GFX90A, "gfx90a"),
        *_family(_GFX9, "gfx90c"),
        *_family(_GFX94, "gfx942", matrix=_GFX94.matrix | {"fp8", "xf32"}, fp8=True),
        *_family(
            _GFX94,
            "gfx950",
            lds=163840,
            lds_granule=1280,
            matrix=_GFX94.matrix | {"fp8", "ocp8", "f16_k32"},
            fp8=True,
            bitop3=True,
            permlane32_swap=True,
            async_lds=(1, 2, 4, 12, 16),
        ),
        *_family(_GFX10, "gfx1010"),
        *_family(_GFX10, "gfx1011", "gfx1012", dot=True),
        *_family(_GFX10, "gfx1013"),
        *_family(_GFX10, "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", dot=True),
        *_family(_GFX11, "gfx1100", "gfx1101", "gfx1102", "gfx1103"),
        *_family(_GFX11, "gfx1150", "gfx1151", "gfx1152", "gfx1153"),
        *_family(_GFX12, "gfx1200", "gfx1201"),
        *_family(_GFX125, "gfx1250", "gfx1251"),
        *_family(_GFX9, "gfx9-generic", code_object=6),
        *_family(_GFX94, "gfx9-4-generic", matrix=_GFX94.matrix, code_object=6),
        *_family(_GFX10, "gfx10-1-generic", code_object=6),
        *_family(_GFX10, "gfx10-3-generic", dot=True, code_object=6),
        *_family(_GFX11, "gfx11-generic", code_object=6),
        *_family(_GFX12, "gfx12-generic", code_object=6),
    ]
}


def arch(name: str) -> Arch:
    """The arch called `name` (feature suffixes as in gfx90a:sramecc+:xnack- are ignored).

    Raises UnknownArch with the names that exist."""
    found = ARCHS.get(name.split(":")[0])
    if found is None:
        raise UnknownArch(name)
    return found
