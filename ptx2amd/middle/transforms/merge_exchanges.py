"""Exchanges that lanes of a warp reach on different paths.

The lanes that a `.sync` operation names wait for each other, also where some of them are at another operation with the
same qualifiers and the same mask: compilers duplicate operations, for example in a loop with `if (lane == 0)` in it. On
AMD's chips the lanes of each path would exchange among themselves. So operations that lanes reach together are merged
into one, which all paths lead through:

          @p bra B;                                    @p bra B;
    A: shfl.sync d, x, ...;                  A: mov side, 0; mov a, x;
       ...                           ->   meet: shfl.sync d, a, ...;  @side==1 bra after;
    B: shfl.sync e, y, ...;                     ...
       ...                                   B: mov side, 1; mov a, y; bra meet;
                                         after: mov e, d; ...

analyses/exchanges.py says which operations these are."""

from __future__ import annotations

from ptx2amd.middle.analyses.exchanges import meetings
from ptx2amd.middle.transforms.exchange import Exchange, replaced
from ptx2amd.middle.unit import Unit


def run(unit: Unit) -> None:
    """Merge the exchanges that lanes of a warp may be at together."""
    found = unit.body.analysis(meetings)
    if found:
        unit.exchanges = [Exchange(unit.body, number, meeting) for number, meeting in enumerate(found)]
        unit.transform(replaced(unit.body, unit.exchanges))
