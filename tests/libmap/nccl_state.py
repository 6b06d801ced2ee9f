"""Calls of libnccl on communicators, configurations, operations, memory, streams and captures, and with wrong
arguments."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tests.libmap.ranks import SUM, Ranks, decoded, encoded

INVALID_ARGUMENT, INVALID_USAGE, IN_PROGRESS, UNHANDLED = 4, 5, 7, 1
FLOAT, DOUBLE, BFLOAT16 = 7, 8, 9
UNSET = -(2**31)
CONFIG = """
typedef struct {
  size_t size; unsigned magic, version; int blocking, cgaClusterSize, minCTAs, maxCTAs; const char *netName;
  int splitShare, trafficClass; const char *commName; int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs;
  int later[12];
} config;
typedef struct { size_t size; unsigned magic, version; float estimatedTime; } simulated;
int cuGraphExecDestroy(void *); int cuGraphDestroy(void *);
"""


def config(ranks: Ranks, later: int = 0, **values: Any) -> Any:
    """A configuration as a program's header initialises it; `later`: bytes that releases after 2.27 have more."""
    made = ranks.ffi.new("config *")
    for name in ("blocking", "cgaClusterSize", "minCTAs", "maxCTAs", "splitShare", "trafficClass", "collnetEnable"):
        setattr(made, name, UNSET)
    made.CTAPolicy = made.shrinkShare = made.nvlsCTAs = UNSET
    made.later = [UNSET] * 12
    made.size, made.magic = ranks.ffi.offsetof("config", "later") + later, 0xCAFEBEEF
    made.version = 22707 if not later else 23203
    for name, value in values.items():
        setattr(made, name, value)
    return made


def sums(ranks: Ranks, what: str, comms: Any, members: list[int]) -> None:
    """That the ranks of a communicator add up: `members` are their GPUs."""
    parts = {r: np.arange(50, dtype=np.float64) * (r + 1) for r in members}
    held = {r: ranks.on(r, parts[r]) for r in members}
    with ranks.group():
        for r in members:
            ranks.call("AllReduce", held[r], held[r], 50, DOUBLE, SUM, comms[r], ranks.streams[r])
    ranks.wait()
    for r in members:
        ranks.same(what, held[r].now(), sum(parts.values()))


def destroy(ranks: Ranks, comms: Any) -> None:
    with ranks.group():
        for comm in comms:
            if comm != ranks.ffi.NULL:
                ranks.call("CommDestroy", comm)


def facts(ranks: Ranks) -> None:
    ffi, library = ranks.ffi, ranks.client.library
    value = ffi.new("int *")
    ranks.call("GetVersion", value)
    ranks.call("GetVersion", value)
    ranks.client.check(f"version {value[0]}", 21800 <= value[0] < 30000)
    for rank in range(ranks.count):
        for name, expected in (("CommCount", ranks.count), ("CommUserRank", rank), ("CommCuDevice", rank)):
            ranks.call(name, ranks.comms[rank], value)
            ranks.client.check(f"{name} {value[0]}", value[0] == expected)
        state = ffi.new("ncclResult_t *", 99)
        ranks.call("CommGetAsyncError", ranks.comms[rank], state)
        ranks.client.check("no error", state[0] == 0)
    for prefix in ("nccl", "pnccl"):
        texts = {ffi.string(getattr(library, f"{prefix}GetErrorString")(code)) for code in range(8)}
        ranks.client.check(f"texts {texts}", len(texts) == 8 and b"no error" in texts)
        last = getattr(library, f"{prefix}GetLastError")(ranks.comms[0])
        ranks.client.check("last error", isinstance(ffi.string(last), bytes))
        getattr(library, f"{prefix}ResetDebugInit")()
    ranks.use(0)
    ranks.client.check("the device stays", ranks.on(0, np.zeros(4)).now().sum() == 0)


def made_in_threads(ranks: Ranks) -> None:
    """A thread for each rank, by a unique id; then split, shrunk, finalised."""
    ffi, n = ranks.ffi, ranks.count
    for how in ("", "Config", "later", "Scalable"):
        unique = ffi.new("ncclUniqueId[2]")
        ranks.call("GetUniqueId", unique)
        ranks.call("GetUniqueId", unique + 1)
        comms = ffi.new("ncclComm_t[]", n)

        def start(rank: int) -> None:
            ranks.use(rank)
            into = comms + rank  # noqa: B023
            if how == "Scalable":  # noqa: B023
                given = ffi.cast("ncclConfig_t *", config(ranks))
                ranks.call("CommInitRankScalable", into, n, rank, min(2, n), unique, given)  # noqa: B023
            elif how:  # noqa: B023
                kept = config(ranks, 48 if how == "later" else 0, maxCTAs=1)  # noqa: B023
                ranks.call("CommInitRankConfig", into, n, unique[0], rank, ffi.cast("ncclConfig_t *", kept))  # noqa: B023
            else:
                ranks.call("CommInitRank", into, n, unique[0], rank)  # noqa: B023

        threads = [threading.Thread(target=start, args=(rank,)) for rank in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sums(ranks, f"made in threads {how}", comms, list(range(n)))
        if not how:
            parted(ranks, comms)
        with ranks.group():
            for comm in comms:
                ranks.call("CommFinalize", comm)
        destroy(ranks, comms)


def parted(ranks: Ranks, comms: Any) -> None:
    ffi, n = ranks.ffi, ranks.count
    made = ffi.new("ncclComm_t[]", n)
    with ranks.group():
        for r in range(n):
            ranks.call("CommSplit", comms[r], r % 2, -r, made + r, ffi.NULL)
    for colour in (0, 1):
        members = [r for r in range(n) if r % 2 == colour]
        sums(ranks, f"split {colour}", made, members)
        value = ffi.new("int *")
        ranks.call("CommUserRank", made[members[-1]], value)
        ranks.client.check("by keys, the last is the first", value[0] == 0)
    destroy(ranks, made)
    with ranks.group():
        for r in range(n):
            ranks.call("CommSplit", comms[r], 0 if r else -1, r, made + r, ffi.NULL)
    ranks.client.check("no colour", made[0] == ffi.NULL)
    sums(ranks, "split without the first", made, list(range(1, n)))
    destroy(ranks, made)
    without = ffi.new("int[]", [n - 1])
    for _ in range(2):
        with ranks.group():
            for r in range(n - 1):
                ranks.call("CommShrink", comms[r], without, 1, made + r, ffi.NULL, 0)
        made[n - 1] = ffi.NULL
        sums(ranks, "shrunk", made, list(range(n - 1)))
        destroy(ranks, made)


def operations(ranks: Ranks) -> None:
    """Sums of parts that are multiplied first, by numbers of the host and of the device."""
    for kind, residence in ((FLOAT, 1), (FLOAT, 0), (DOUBLE, 1), (BFLOAT16, 1), (2, 1)):
        parts = [encoded(kind, np.arange(1, 9) * (r + 1)) for r in range(ranks.count)]
        held = [ranks.on(r, part) for r, part in enumerate(parts)]
        chosen = []
        for r in range(ranks.count):
            factor = encoded(kind, np.array([r + 2]))
            scalar = factor if residence else ranks.on(r, factor)
            place = ranks.ffi.new("ncclRedOp_t *")
            ranks.call("RedOpCreatePreMulSum", place, scalar, kind, residence, ranks.comms[r])
            chosen.append((place[0], scalar))
        ranks.each("AllReduce", lambda r: (held[r], held[r], 8, kind, chosen[r][0]))  # noqa: B023
        expected = sum(decoded(kind, part).astype(np.float64) * (r + 2) for r, part in enumerate(parts))
        for r in range(ranks.count):
            ranks.same(f"multiplied {kind} {residence}", decoded(kind, held[r].now()), expected)
            ranks.call("RedOpDestroy", chosen[r][0], ranks.comms[r])
    ranks.answers("an operation that is gone", INVALID_ARGUMENT, "RedOpDestroy", chosen[0][0], ranks.comms[0])
    ranks.answers("one that is built in", INVALID_ARGUMENT, "RedOpDestroy", SUM, ranks.comms[0])


def memory(ranks: Ranks) -> None:
    ffi = ranks.ffi
    held, registered, windows = [], [], []
    for r in range(ranks.count):
        ranks.use(r)
        place, handle = ffi.new("void **"), ffi.new("void **")
        ranks.call("MemAlloc", place, 1 << 16)
        held.append(place[0])
        ranks.call("CommRegister", ranks.comms[r], place[0], 1 << 16, handle)
        registered.append(handle[0])
        values = np.full(100, r + 1.0)
        address = int(ffi.cast("unsigned long long", place[0]))
        assert not ranks.client.cuda.cuMemcpyHtoD_v2(address, ranks.client.address(values), values.nbytes)
    with ranks.group():
        for r in range(ranks.count):
            windows.append(ffi.new("ncclWindow_t *"))
            ranks.call("CommWindowRegister", ranks.comms[r], held[r], 1 << 16, windows[r], 0)
    ranks.each("AllReduce", lambda r: (held[r], held[r], 100, DOUBLE, SUM))
    for r in range(ranks.count):
        found = np.zeros(100)
        address = int(ffi.cast("unsigned long long", held[r]))
        assert not ranks.client.cuda.cuMemcpyDtoH_v2(ranks.client.address(found), address, found.nbytes)
        ranks.same("in NCCL's memory", found, np.full(100, ranks.count * (ranks.count + 1) / 2))
        ranks.use(r)
        ranks.call("CommWindowDeregister", ranks.comms[r], windows[r][0])
        ranks.call("CommDeregister", ranks.comms[r], registered[r])
        ranks.call("MemFree", held[r])
    ranks.call("MemFree", ffi.NULL)
    ranks.answers("what is free", UNHANDLED, "MemFree", held[0])
    ranks.answers("nowhere to put it", UNHANDLED, "MemAlloc", ffi.NULL, 16)


def captured(ranks: Ranks) -> None:
    """A collective in a graph of each GPU, launched twice; the null stream."""
    cuda, ffi = ranks.client.cuda, ranks.ffi
    held = [ranks.on(r, np.full(64, r + 1.0)) for r in range(ranks.count)]
    for r in range(ranks.count):
        ranks.use(r)
        assert not cuda.cuStreamBeginCapture_v2(ranks.streams[r], 1)
    with ranks.group():
        for r in range(ranks.count):
            ranks.call("AllReduce", held[r], held[r], 64, DOUBLE, SUM, ranks.comms[r], ranks.streams[r])
    graphs = []
    for r in range(ranks.count):
        ranks.use(r)
        graph, ready = ffi.new("void **"), ffi.new("void **")
        assert not cuda.cuStreamEndCapture(ranks.streams[r], graph)
        assert not cuda.cuGraphInstantiateWithFlags(ready, graph[0], 0) and not cuda.cuGraphDestroy(graph[0])
        graphs.append(ready[0])
    total = np.full(64, ranks.count * (ranks.count + 1) / 2)
    ranks.same("nothing happens in a capture", held[0].now(), np.full(64, 1.0))
    for launch in range(2):
        for r in range(ranks.count):
            ranks.use(r)
            assert not cuda.cuGraphLaunch(graphs[r], ranks.streams[r])
        ranks.wait()
        for r in range(ranks.count):
            ranks.same(f"launch {launch}", held[r].now(), total * ranks.count**launch)
    for ready in graphs:  # or communicators cannot end
        assert not cuda.cuGraphExecDestroy(ready)
    with ranks.group():
        for r in range(ranks.count):
            ranks.call("AllReduce", held[r], held[r], 64, DOUBLE, SUM, ranks.comms[r], ffi.NULL)
    ranks.wait()
    ranks.same("in the null stream", held[0].now(), total * ranks.count**2)


def without_waiting(ranks: Ranks) -> None:
    """Calls that do not block, and an end by force while an operation cannot be completed."""
    ffi, n = ranks.ffi, ranks.count
    unique, comms = ffi.new("ncclUniqueId *"), ffi.new("ncclComm_t[]", n)
    ranks.call("GetUniqueId", unique)
    kept = [config(ranks, blocking=0) for _ in range(n)]
    ranks.call("GroupStart")
    for r in range(n):
        ranks.use(r)
        given = ffi.cast("ncclConfig_t *", kept[r])
        status = ranks.client.call("ncclCommInitRankConfig", comms + r, n, unique[0], r, given)
        ranks.client.check(f"begun: {status}", status in (0, IN_PROGRESS))
    status = ranks.client.call("ncclGroupEnd")
    ranks.client.check(f"begun as a group: {status}", status in (0, IN_PROGRESS))
    state = ffi.new("ncclResult_t *", IN_PROGRESS)
    for r in range(n):
        state[0] = IN_PROGRESS
        while state[0] == IN_PROGRESS:
            ranks.call("CommGetAsyncError", comms[r], state)
        ranks.client.check(f"made: {state[0]}", state[0] == 0)
    held = ranks.on(0, np.ones(16))
    ranks.client.call("ncclAllReduce", held, held, 16, DOUBLE, SUM, comms[0], ranks.streams[0])
    with ranks.group():  # the others never take part
        for comm in comms:
            ranks.call("CommAbort", comm)
    ranks.wait()


def wrong(ranks: Ranks) -> None:
    ffi, comm, stream = ranks.ffi, ranks.comms[0], ranks.streams[0]
    null, place = ffi.NULL, ranks.on(0, np.zeros(64))
    for name in ("CommInitAll", "GetUniqueId", "GetVersion"):
        nothing = (null, 1, null) if name == "CommInitAll" else (null,)
        ranks.answers("nowhere to put it", INVALID_ARGUMENT, name, *nothing)
    unique, made = ffi.new("ncclUniqueId *"), ffi.new("ncclComm_t *")
    for rank, count in ((-1, 2), (2, 2), (0, 0)):
        ranks.answers(f"rank {rank} of {count}", INVALID_ARGUMENT, "CommInitRank", made, count, unique[0], rank)
    bad = config(ranks, magic=1)
    ranks.answers("no configuration", INVALID_ARGUMENT, "CommInitRankConfig", made, 1, unique[0], 0,
        ffi.cast("ncclConfig_t *", bad))  # fmt: skip
    ranks.answers("no GPUs", INVALID_ARGUMENT, "CommInitAll", made, -1, null)
    ranks.answers("a GPU that is not there", INVALID_ARGUMENT, "CommInitAll", made, 1, ffi.new("int[]", [99]))
    ranks.answers("the same GPU twice", INVALID_USAGE, "CommInitAll", ffi.new("ncclComm_t[2]"), 2, ffi.new("int[2]"))
    for name in ("CommCount", "CommCuDevice", "CommUserRank"):
        ranks.answers("no communicator", INVALID_ARGUMENT, name, null, ffi.new("int *"))
        ranks.answers("nowhere to put it", INVALID_ARGUMENT, name, comm, null)
    moving: tuple[tuple[Any, ...], ...] = (
        ("AllReduce", place, place, 16, DOUBLE, SUM), ("Broadcast", place, place, 16, DOUBLE, 0),
        ("AllGather", place, place, 16, DOUBLE), ("ReduceScatter", place, place, 16, DOUBLE, SUM),
        ("Reduce", place, place, 16, DOUBLE, SUM, 0), ("Send", place, 16, DOUBLE, 1), ("Recv", place, 16, DOUBLE, 1),
    )  # fmt: skip
    for name, *given in moving:
        at = given.index(DOUBLE)
        ranks.answers("no communicator", INVALID_ARGUMENT, name, *given, null, stream)
        ranks.answers("no stream", INVALID_ARGUMENT, name, *given, comm, ffi.cast("cudaStream_t", 4096))
        for kind in (-1, 12, 99):
            other = [*given[:at], kind, *given[at + 1 :]]
            ranks.answers(f"type {kind}", INVALID_ARGUMENT, name, *other, comm, stream)
    for operation in (-1, 5, 77):
        ranks.answers(f"operation {operation}", INVALID_ARGUMENT, "AllReduce", place, place, 8, DOUBLE, operation, comm,
            stream)  # fmt: skip
    for root in (-1, ranks.count):
        for name, *given in (("Broadcast",), ("Reduce", SUM)):
            ranks.answers(f"root {root}", INVALID_ARGUMENT, name, place, place, 8, DOUBLE, *given, root, comm, stream)
        ranks.answers(f"peer {root}", INVALID_ARGUMENT, "Send", place, 8, DOUBLE, root, comm, stream)
    ranks.answers("outside a group", INVALID_USAGE, "GroupEnd")
    simulated = ffi.new("simulated *", {"size": ffi.sizeof("simulated"), "magic": 0x74685283, "version": 22707})
    for _ in range(2):
        ranks.call("GroupStart")
        ranks.call("GroupSimulateEnd", ffi.cast("ncclSimInfo_t *", simulated))
    for name in ("CommGrow", "WaitSignal", "AllReduceConfig", "DevCommCreate"):
        for prefix in ("nccl", "pnccl"):
            status = getattr(ranks.client.library, prefix + name)()
            ranks.client.check(f"{name} is refused: {status}", status == INVALID_USAGE)


def run(ranks: Ranks) -> None:
    ranks.ffi.cdef(CONFIG)
    facts(ranks)
    wrong(ranks)
    operations(ranks)
    memory(ranks)
    captured(ranks)
    made_in_threads(ranks)
    without_waiting(ranks)
