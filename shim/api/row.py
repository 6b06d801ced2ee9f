"""One row per exported symbol of the driver API."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """An exported function.

    `symbol` is the exported name, with its `_v2`, `_v3` suffix; `since` the CUDA version (12040 = 12.4) from
    which cuGetProcAddress answers it for the plain name; `args` the C parameter list. `ptsz` and `ptds` are the
    versions from which a variant with the per-thread default stream exists (`_ptsz`: the function takes a
    stream; `_ptds`: it uses the default stream implicitly).

    What it does is one of
    - `hip`: a call of a HIP function (parameters of type CUstream and CUevent are converted and checked);
    - `c`: a C expression of type CUresult;
    - `ours`: a C function of that name in shim/src;
    - `absent`: nothing but checks of its arguments: it belongs to a feature that no device here has (absent.py), and
      answers `answer`; with `ours` too, a C function does that;
    - nothing of these: it answers CUDA_ERROR_NOT_SUPPORTED and says so once.
    `context` says in which context it works (contexts.py has the reasons by group, and cuda.h's word on each):
    - "current": in the calling thread's current one; without, CUDA_ERROR_INVALID_CONTEXT;
    - a parameter, or an expression that leads to one: in the current one, or if there is none in that object's own; the
      default streams have none;
    - "any": in the current one, or if there is none in that of the first device;
    - "none": it does not look.
    `required` names pointers that a HIP call or a check may not be given as null, besides the first parameter.
    `ranges` pairs addresses with sizes ("dst:ByteCount", in elements "dst:N*4"): a HIP call is not made where one would
    run over the end of all addresses, for HIP's own checks wrap around there.
    `early`: it works before cuInit, where others answer CUDA_ERROR_NOT_INITIALIZED. `also` lists further (name, since)
    pairs under which cuGetProcAddress finds the symbol.
    """

    symbol: str
    since: int
    args: str
    ptsz: int = 0
    ptds: int = 0
    hip: str = ""
    c: str = ""
    ours: bool = False
    absent: str = ""
    answer: str = "CUDA_ERROR_NOT_SUPPORTED"
    required: tuple[str, ...] = ()
    ranges: str = ""
    early: bool = False
    context: str = "current"
    also: tuple[tuple[str, int], ...] = field(default=())

    @property
    def name(self) -> str:
        """The name that cuGetProcAddress is asked for: the symbol without its version suffix."""
        head, _, tail = self.symbol.rpartition("_v")
        return head if head and tail.isdigit() else self.symbol

    @property
    def named(self) -> dict[str, str]:
        """The type of each parameter, by its name."""
        return {name: kind for kind, name in self.parameters()}

    @property
    def owner(self) -> str:
        """The type of the object whose context it works in where none is current; "": none."""
        if self.context in ("current", "any", "none"):
            return ""
        return self.named.get(self.context, "CUstream")

    @property
    def disposition(self) -> str:
        """`absent`, `hip`, `ours` or `refused`: what the support table shows."""
        return "absent" if self.absent else "hip" if self.hip else "ours" if self.ours or self.c else "refused"

    @property
    def works(self) -> bool:
        return self.disposition in ("hip", "ours")

    @property
    def exports(self) -> list[str]:
        """The symbol and its per-thread-stream variants."""
        variants = (("", 1), ("_ptsz", self.ptsz), ("_ptds", self.ptds))
        return [self.symbol + suffix for suffix, since in variants if since]

    def parameters(self) -> list[tuple[str, str]]:
        """(type, name) of each parameter."""
        if self.args == "void":
            return []
        pairs = []
        for arg in self.args.split(","):
            head, star, tail = arg.strip().rpartition("*")
            if star:
                pairs.append((f"{head.strip()} *", tail.strip()))
            else:
                kind, _, name = arg.strip().rpartition(" ")
                pairs.append((kind.strip(), name))
        return pairs
