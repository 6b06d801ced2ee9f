"""Tensor memory and its matrix operations (tcgen05, sm_100 and later): a row of the instruction table, refused."""

from ptx2amd.isa.effects import ANYTHING
from ptx2amd.isa.form import family

row = family("9.7.18", "", does=ANYTHING, name_words=1)

MEMORY = "refused: tensor memory (tcgen05)"

OPERATIONS = (
    "alloc|dealloc|relinquish_alloc_permit|ld|st|cp|shift|mma|commit|"
    "wait::ld|wait::st|fence::before_thread_sync|fence::after_thread_sync"
)

FORMS = [row(f"tcgen05.{{op:{OPERATIONS}}}.*", "*", "", MEMORY, (8, 6), 100)]
