"""The whole instruction table: the rows of all family files, by mnemonic."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ptx2amd.isa.form import Form

#: The family files in the order of the table, with the mnemonics of which they have rows.
FAMILIES = {
    "integer": (
        "add sub mul mad mul24 mad24 sad div rem abs neg min max clmad popc clz bfind fns brev bfe bfi bmsk "
        "szext dp4a dp2a"
    ),
    "extended": "add addc sub subc mad madc",
    "bits": "and xor or not cnot lop3 shf shl shr prmt",
    "float": "add sub mul fma mad min max div rcp sqrt rsqrt sin cos lg2 ex2 tanh abs neg copysign testp",
    "half": "add sub mul fma neg abs min max tanh ex2",
    "mixed": "add sub fma",
    "compare": "setp set selp slct",
    "convert": "cvt",
    "move": "mov",
    "video": (
        "vadd vsub vabsdiff vmin vmax vshl vshr vset vmad vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vabsdiff2 "
        "vabsdiff4 vmin2 vmin4 vmax2 vmax4 vset2 vset4"
    ),
    "memory": "ld ldu st prefetch prefetchu applypriority discard createpolicy cvta isspacep mapa getctarank",
    "atomic": "atom red",
    "barrier": "bar barrier membar fence griddepcontrol",
    "warp": "shfl vote match redux activemask elect",
    "async_copy": "cp",
    "bulk": "cp st red clusterlaunchcontrol",
    "tensor_copy": "cp tensormap",
    "mbarrier": "mbarrier cp",
    "matrix": "ldmatrix stmatrix movmatrix mma",
    "sparse": "mma",
    "scaled": "mma",
    "wgmma": "wgmma",
    "wmma": "wmma",
    "tensor": "multimem",
    "tensor_memory": "tcgen05",
    "texture": "tex tld4 txq istypep",
    "surface": "suld sust sured suq",
    "control": "bra brx ret exit trap brkpt call nanosleep pmevent setmaxnreg stacksave stackrestore alloca",
}


def family(name: str) -> list[Form]:
    """The rows of one of FAMILIES."""
    forms: list[Form] = import_module(f"ptx2amd.isa.{name}").FORMS
    return forms


@cache
def rows() -> tuple[Form, ...]:
    """All rows, in family order. Raises ValueError for one that does not say what it does to memory."""
    found = [form for name in FAMILIES for form in family(name)]
    for form in found:
        if "[" in form.operands and not form.does and form.exact != "hint":
            raise ValueError(f"{form.syntax}: what it does to memory is not said")
    return tuple(found)


@cache
def forms(mnemonic: str) -> tuple[Form, ...]:
    """The rows of one mnemonic, in table order; () when there is none. Loads the files alone that have some."""
    names = (name for name, mnemonics in FAMILIES.items() if mnemonic in mnemonics.split())
    return tuple(form for name in names for form in family(name) if form.mnemonic == mnemonic)


def mnemonics() -> tuple[str, ...]:
    return tuple(dict.fromkeys(mnemonic for found in FAMILIES.values() for mnemonic in found.split()))
