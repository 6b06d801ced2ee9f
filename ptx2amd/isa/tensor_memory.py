"""Tensor memory and its matrix operations (tcgen05, sm_100 and later), and sparse warp-level matrices with block
scales (sm_120): rows of the instruction table, all refused."""

from ptx2amd.isa.form import Form

MEMORY = "refused: tensor memory (tcgen05)"
SCALED = "refused: sparse matrices with block scales (mma.sp with kind::mx...)"

OPERATIONS = (
    "alloc|dealloc|relinquish_alloc_permit|ld|st|cp|shift|mma|commit|"
    "wait::ld|wait::st|fence::before_thread_sync|fence::after_thread_sync"
)
KINDS = "kind::mxf8f6f4|kind::mxf4|kind::mxf4nvf4"

FORMS = [
    Form(f"tcgen05.{{op:{OPERATIONS}}}.*", "*", "", MEMORY, (8, 6), 100),
    Form(
        "mma.{sparse:sp::ordered_metadata}.sync.aligned.{shape:m16n8k64|m16n8k128}.row.col"
        f".{{kind:{KINDS}}}.*",
        "*",
        "",
        SCALED,
        (8, 7),
        120,
    ),
]
