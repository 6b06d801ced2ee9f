"""Calls of libnccl's collectives: every type and operation, in place and not, against numpy."""

from __future__ import annotations

import os
from functools import reduce
from typing import Any

import numpy as np

from tests.libmap.client import Array
from tests.libmap.ranks import AVG, MAX, MIN, PROD, SUM, TYPES, Ranks, decoded, encoded, narrow

OPERATIONS = {"sum": SUM, "product": PROD, "maximum": MAX, "minimum": MIN, "average": AVG}
_FOLD = {SUM: np.add, PROD: np.multiply, MAX: np.maximum, MIN: np.minimum, AVG: np.add}
SIZES = (1, 1000)
INVALID_USAGE = 5


def numbers(ranks: Ranks, kind: int, count: int) -> list[Array]:
    """Of each rank: small numbers, so that results are exact in every type."""
    choice = np.array([1, 2] if TYPES[kind][0].startswith("u") else [-2, -1, 1, 2])
    return [encoded(kind, ranks.client.draw.choice(choice, count)) for _ in range(ranks.count)]


def folded(kind: int, operation: int, parts: list[Array]) -> Array:
    """What a reduction gives."""
    result = reduce(_FOLD[operation], [decoded(kind, part).astype(np.float64) for part in parts])
    if operation == AVG:
        result = result / len(parts)
        if np.issubdtype(TYPES[kind][1], np.integer) and not narrow(kind):
            result = np.trunc(result)
    return encoded(kind, result)


def computed(ranks: Ranks) -> list[tuple[int, str]]:
    """The types that the chip computes with; for others, reductions are refused."""
    ocp8 = os.environ["PTX2AMD_DEVICE"].partition(":")[2] in ("gfx90a", "gfx1200", "gfx1201")
    for kind in () if ocp8 else (10, 11):
        given = (ranks.ffi.NULL, ranks.ffi.NULL, 0, kind, SUM)
        for what in ("AllReduce", "ReduceScatter"):
            ranks.answers("8 bits", INVALID_USAGE, what, *given, ranks.comms[0], ranks.streams[0])
    return [(kind, name) for kind, (name, _, _) in enumerate(TYPES) if ocp8 or kind < 10]


def all_reduce(ranks: Ranks) -> None:
    for kind, name in computed(ranks):
        for title, operation in OPERATIONS.items():
            for count in SIZES:
                parts = numbers(ranks, kind, count)
                source = [ranks.on(rank, part) for rank, part in enumerate(parts)]
                target = [ranks.on(rank, np.zeros_like(part)) for rank, part in enumerate(parts)]
                expected = folded(kind, operation, parts)
                for into, how in ((target, ""), (source, "in place")):
                    ranks.each("AllReduce", lambda r, to=into: (source[r], to[r], count, kind, operation))  # noqa: B023
                    for rank in range(ranks.count):
                        ranks.same(f"AllReduce {name} {title} {count} {how}", into[rank].now(), expected)


def reductions(ranks: Ranks) -> None:
    """To one rank, and in parts to each."""
    for kind, name in computed(ranks):
        for root, (title, operation) in enumerate(OPERATIONS.items()):
            root %= ranks.count
            parts = numbers(ranks, kind, 240)
            source = [ranks.on(rank, part) for rank, part in enumerate(parts)]
            target = [ranks.on(rank, np.zeros_like(part)) for rank, part in enumerate(parts)]
            ranks.each("Reduce", lambda r: (source[r], target[r], 240, kind, operation, root))  # noqa: B023
            expected = folded(kind, operation, parts)
            ranks.same(f"Reduce {name} {title}", target[root].now(), expected)
            ranks.each("Reduce", lambda r: (source[r], source[r], 240, kind, operation, root))  # noqa: B023
            ranks.same(f"Reduce {name} {title} in place", source[root].now(), expected)
            share = 240 // ranks.count
            source = [ranks.on(rank, part) for rank, part in enumerate(parts)]
            ranks.each("ReduceScatter", lambda r: (source[r], target[r], share, kind, operation))  # noqa: B023
            for rank in range(ranks.count):
                mine = slice(rank * share, (rank + 1) * share)
                ranks.same(f"ReduceScatter {name} {title}", target[rank].now()[:share], expected[mine])
            place = [at(ranks, source[r], r * share) for r in range(ranks.count)]
            ranks.each("ReduceScatter", lambda r: (source[r], place[r], share, kind, operation))  # noqa: B023
            for rank in range(ranks.count):
                mine = slice(rank * share, (rank + 1) * share)
                ranks.same(f"ReduceScatter {name} {title} in place", source[rank].now()[mine], expected[mine])


def at(ranks: Ranks, device: Any, index: int) -> Any:
    """The address of an element."""
    return ranks.ffi.cast("void *", device.at[0] + index * device.values.itemsize)


def moves(ranks: Ranks) -> None:
    """Elements of any bits arrive as they are, whatever the type."""
    n, count = ranks.count, 37
    for kind, (name, number, _) in enumerate(TYPES):
        width = np.dtype(number).itemsize
        bits = [ranks.client.draw.integers(0, 256, n * count * width, np.uint8).view(number) for _ in range(n)]
        source = [ranks.on(rank, part) for rank, part in enumerate(bits)]

        def moved(what: str, expected: list[Array], *arguments: Any, out: Any = None, here: int = kind) -> None:
            into = out or [ranks.on(r, np.zeros(n * count, bits[0].dtype)) for r in range(n)]  # noqa: B023
            ranks.each(what, lambda r: (source[r], into[r], count, here, *arguments))  # noqa: B023
            for r, wanted in enumerate(expected):
                if wanted is not None:
                    found = into[r].now()[: len(wanted)].view(np.uint8)
                    ranks.same(f"{what} {name} of {r}", found, wanted.view(np.uint8))  # noqa: B023

        first = [part[:count] for part in bits]
        together = np.concatenate(first)
        moved("AllGather", [together] * n)
        moved("AlltoAll", [np.concatenate([bits[s][r * count : (r + 1) * count] for s in range(n)]) for r in range(n)])
        for root in range(n):
            nothing: list[Any] = [None] * n
            moved("Broadcast", [first[root]] * n, root)
            moved("Gather", [together if r == root else nothing[r] for r in range(n)], root)
            moved("Scatter", [bits[root][r * count : (r + 1) * count] for r in range(n)], root)
        # in place
        spread = [np.zeros(n * count, number) for _ in range(n)]
        for r in range(n):
            spread[r][r * count : (r + 1) * count] = first[r]
        whole = [ranks.on(r, part) for r, part in enumerate(spread)]
        own = [at(ranks, whole[r], r * count) for r in range(n)]
        ranks.each("AllGather", lambda r: (own[r], whole[r], count, kind))  # noqa: B023
        for r in range(n):
            ranks.same(f"AllGather {name} in place", whole[r].now().view(np.uint8), together.view(np.uint8))
        ranks.each("Bcast", lambda r: (source[r], count, kind, n - 1))  # noqa: B023
        for r in range(n):
            ranks.same(f"Bcast {name}", source[r].now()[:count].view(np.uint8), first[-1].view(np.uint8))


def pairs(ranks: Ranks) -> None:
    """Sends and receives: round the ring, to oneself, and several of a pair in their order."""
    n, count = ranks.count, 300
    for kind in (0, 3, 7, 9):
        number = TYPES[kind][1]
        bits = [ranks.client.draw.integers(0, 99, count).astype(number) for _ in range(n)]
        source = [ranks.on(r, bits[r]) for r in range(n)]
        target = [ranks.on(r, np.zeros(count, number)) for r in range(n)]
        with ranks.group():
            for r in range(n):
                ranks.call("Send", source[r], count, kind, (r + 1) % n, ranks.comms[r], ranks.streams[r])
                ranks.call("Recv", target[r], count, kind, (r - 1) % n, ranks.comms[r], ranks.streams[r])
        ranks.wait()
        for r in range(n):
            ranks.same(f"round the ring {kind}", target[r].now(), bits[(r - 1) % n])
        with ranks.group():
            for r in range(n):
                ranks.call("Send", source[r], count, kind, r, ranks.comms[r], ranks.streams[r])
                ranks.call("Recv", target[r], count, kind, r, ranks.comms[r], ranks.streams[r])
        ranks.wait()
        for r in range(n):
            ranks.same(f"to oneself {kind}", target[r].now(), bits[r])
        half = count // 2
        with ranks.group():
            for part in (0, half):
                ranks.call("Send", at(ranks, source[0], part), half, kind, 1, ranks.comms[0], ranks.streams[0])
                ranks.call("Recv", at(ranks, target[1], half - part), half, kind, 0, ranks.comms[1], ranks.streams[1])
        ranks.wait()
        ranks.same(f"in order {kind}", target[1].now(), np.concatenate([bits[0][half:], bits[0][:half]]))


def large(ranks: Ranks) -> None:
    """More than the buffers between ranks hold at once; sums of many numbers."""
    count = 1 << 20
    parts = [ranks.client.draw.standard_normal(count).astype(np.float32) for _ in range(ranks.count)]
    source = [ranks.on(rank, part) for rank, part in enumerate(parts)]
    ranks.each("AllReduce", lambda r: (source[r], source[r], count, 7, SUM))
    expected = np.sum([part.astype(np.float64) for part in parts], axis=0)
    for rank in range(ranks.count):
        error = abs(source[rank].now() - expected).max()
        ranks.client.check(f"a large AllReduce: error {error}", error < 1e-5)


def run(ranks: Ranks) -> None:
    all_reduce(ranks)
    reductions(ranks)
    moves(ranks)
    pairs(ranks)
    large(ranks)
