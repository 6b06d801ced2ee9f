"""What vector instructions of gfx942 and gfx1100 compute: all rows of the table (valu_table.py has the notation)."""

from tests.reference import valu_conversions, valu_floating, valu_integers  # noqa: F401  rows of REFERENCE
from tests.reference.valu_table import APPROXIMATE, REFERENCE

__all__ = ["APPROXIMATE", "REFERENCE"]
