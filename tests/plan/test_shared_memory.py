"""The plan of shared memory: what stays in LDS, what goes to the slot."""

from __future__ import annotations

import random

from ptx2amd.plan.shared_memory import OWN_LDS, Array, packed, plan
from ptx2amd.target import arch

SMALL, BIG, HUGE = Array("small", 1000, 4), Array("big", 40000, 16), Array("huge", 100000, 16)


def test_what_fits_needs_no_plan() -> None:
    assert plan([SMALL, BIG], arch("gfx942")) is None
    assert plan([HUGE, BIG], arch("gfx950")) is None  # 160 KiB
    assert plan([HUGE, BIG, Array("x", 150000, 4)], arch("gfx1250")) is None  # 320 KiB


def test_the_smallest_stay_in_lds() -> None:
    found = plan([HUGE, SMALL, BIG], arch("gfx942"))
    assert found is not None
    assert (found.offsets, found.dynamic, found.mixed, found.split) == ({"huge": 0}, 100352, True, 65536)
    alone = plan([HUGE], arch("gfx942"))
    assert alone is not None and not alone.mixed


def test_spilled_dynamic_memory_comes_after_the_variables() -> None:
    found = plan([SMALL], arch("gfx942"), "spilled")
    assert found is not None and (found.offsets, found.dynamic, found.mixed) == ({}, 0, True)
    empty = plan([], arch("gfx942"), "spilled")
    assert empty is not None and (empty.dynamic, empty.mixed) == (0, False)


def test_random_plans_overlap_nowhere() -> None:
    source = random.Random(5)
    for _ in range(300):
        count = source.randrange(1, 12)
        arrays = [Array(f"v{i}", source.randrange(1, 30000), 1 << source.randrange(8)) for i in range(count)]
        found = plan(arrays, arch("gfx942"), source.choice(["lds", "spilled"]))
        if found is None:
            assert packed(arrays) <= 65536
            continue
        kept = [a for a in arrays if a.name not in found.offsets]
        assert packed(kept) <= 65536 - OWN_LDS
        spilled = [a for a in arrays if a.name in found.offsets]
        places = sorted(((found.offsets[a.name], a) for a in spilled), key=lambda place: place[0])
        ends = [*(at for at, _ in places[1:]), found.dynamic]
        for (at, array), end in zip(places, ends, strict=False):
            assert at % array.align == 0 and at + array.size <= end
