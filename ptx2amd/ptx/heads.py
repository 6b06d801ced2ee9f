"""Facts from function heads: parameter layout, block limits."""

from __future__ import annotations

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.ptx.layout import align_of, size_of

NO_LIMIT = 255  # registers, as many as an instruction can name
VARIABLE_BYTES = 1 << 32  # of a parameter or result, at least: ptxas takes no number as large


def param_layout(function: Function) -> list[tuple[int, int, int]]:
    """(offset, size, align) in bytes of each kernel parameter, packed as PTX packs them."""
    layout, at = [], 0
    for var in function.proto.params:
        size, align = size_of(var), align_of(var)
        at = -(-at // align) * align
        layout.append((at, size, align))
        at += size
    return layout


def check_sizes(module: Module) -> None:
    """Raise PtxError for parameters that ptxas finds too large; nothing could pass them."""
    for name, function in module.functions.items():
        proto = function.proto
        for var in (*proto.params, *proto.results):
            if size_of(var) >= VARIABLE_BYTES:
                raise PtxError(f"{size_of(var):,} bytes for {var.name} of {name}", module.source, function.line, 1)


def required_block(function: Function) -> tuple[int, int, int] | None:
    """The block that .reqntid asks for, in threads."""
    if "reqntid" not in function.directives:
        return None
    x, y, z = (*function.directives["reqntid"], 1, 1)[:3]
    return x, y, z


def max_threads(function: Function) -> int:
    """The block size limit that .maxntid or .reqntid set, else the largest there is (1024)."""
    for directive in ("reqntid", "maxntid"):
        if directive in function.directives:
            n = 1
            for size in function.directives[directive]:
                n *= size
            return min(n, 1024)
    return 1024


def register_limit(function: Function) -> int:
    """The registers that a kernel's .maxnreg allows."""
    return function.directives.get("maxnreg", (NO_LIMIT,))[0]


def most_registers(module: Module) -> int:
    """The registers that functions may use, which any kernel may call."""
    if module.whole is not None:
        return module.whole.registers
    return max((register_limit(f) for f in module.functions.values() if f.kind == "entry"), default=NO_LIMIT)
