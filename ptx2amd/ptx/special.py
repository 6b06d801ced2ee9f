"""PTX's predefined registers and the widths they are read with (PTX ISA, "Special Registers")."""

from __future__ import annotations

_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_U32 = (
    *("laneid", "warpid", "nwarpid", "smid", "nsmid", "clock", "clock_hi", "globaltimer_lo", "globaltimer_hi"),
    *("lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"),
    *("cluster_ctarank", "cluster_nctarank", "total_smem_size", "aggr_smem_size", "dynamic_smem_size"),
    *(f"reserved_smem_offset_{what}" for what in ("begin", "end", "cap", "0", "1")),
)
_U64 = ("clock64", "globaltimer", "current_graph_exec")

# name -> kind as ptx2amd/ptx/check.py reads it: "%32", "%64", "%32|64", "%pred", "%32*4" (all four components)
SPECIAL: dict[str, str] = {
    **{f"%{name}": "%32*4" for name in _VECTORS},
    **{f"%{name}.{component}": "%32" for name in _VECTORS for component in "xyzw"},
    **{f"%{name}": "%32" for name in _U32},
    **{f"%{name}": "%64" for name in _U64},
    **{f"%pm{n}": "%32" for n in range(8)},
    **{f"%pm{n}_64": "%64" for n in range(8)},
    **{f"%envreg{n}": "%32" for n in range(32)},
    "%gridid": "%32|64",
    "%is_explicit_cluster": "%pred",
}
