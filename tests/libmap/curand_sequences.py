"""The sequences of pseudorandom generators are those of NVIDIA's cuRAND on a GPU (nvidia/sequences.json): bits, uniform
numbers, and normal ones but for rounding; after offsets, other seeds, and calls of other distributions."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.libmap.client import Array, Client

GOLDEN = json.loads(Path(__file__).with_name("nvidia").joinpath("sequences.json").read_text())["engines"]
KINDS = {"xorwow": 101, "mrg32k3a": 121, "philox": 161}
NUMBERS = {"": np.uint32, "Uniform": np.float32, "UniformDouble": np.float64}
#: Of single and double precision: differences of normal numbers, which are below 8.
ERROR = {"": 3e-6, "Double": 2e-15}


class Sequence:
    """One generator, of the host or the device."""

    def __init__(self, client: Client, kind: str, host: bool = False) -> None:
        self.client, self.host = client, host
        place = client.ffi.new("curandGenerator_t *")
        assert not client.call(f"curandCreateGenerator{'Host' if host else ''}", place, KINDS[kind])
        self.handle = place[0]

    def call(self, name: str, *arguments: Any) -> int:
        return self.client.call(f"curand{name}", self.handle, *arguments)

    def draw(self, name: str, count: int) -> tuple[int, Array]:
        number = np.float64 if name.endswith("Double") else NUMBERS.get(name, np.float32)
        rest = (0.5, 0.25) if name.startswith("Log") else (0.0, 1.0) if name.startswith("Normal") else ()
        out = np.zeros(count, number)
        target = out if self.host else self.client.on_device(out)
        status = self.call(f"Generate{name}", target, count, *rest)
        return status, out if isinstance(target, np.ndarray) else target.now()

    def set(self, order: int | None = None, seed: int | None = None, offset: int | None = None) -> None:
        settings = {"GeneratorOrdering": order, "PseudoRandomGeneratorSeed": seed, "GeneratorOffset": offset}
        for name, value in settings.items():
            self.client.check(name, value is None or self.call(f"Set{name}", value) == 0)

    def end(self) -> None:
        self.client.check("end", self.call("DestroyGenerator") == 0)


def numbers(client: Client, kind: str, host: bool) -> None:
    for order, seed, offset, name, counts, first, digest in GOLDEN[kind]["numbers"]:
        one = Sequence(client, kind, host)
        one.set(order, seed, offset)
        parts = [one.draw(name, count) for count in counts]
        found = np.concatenate([part for _, part in parts])
        what = f"{kind} {order} {seed} {offset} {name} {counts}{' on the host' if host else ''}"
        client.check(f"{what}: status", not any(status for status, _ in parts))
        expected = np.array([float.fromhex(x) if isinstance(x, str) else x for x in first], found.dtype)
        if digest:
            same = hashlib.sha256(found.tobytes()).hexdigest()[:16] == digest
            client.check(f"{what}: {found[:6]}", same and np.array_equal(found[:6], expected))
        else:
            error = abs(found[:6].astype(float) - expected).max()
            client.check(f"{what}: error {error}", error <= ERROR["Double" if name.endswith("Double") else ""])
        one.end()


def steps(client: Client, kind: str) -> None:
    """Calls in turn: the first word says which."""
    one, place = Sequence(client, kind), client.ffi.new("unsigned[8]")
    draws = {"1000": ("", 1000), "uniform": ("Uniform", 7), "n": ("", 0)}
    for what, status, *first in GOLDEN[kind]["steps"]:
        word, _, rest = what.partition(" ")
        found: Array | None = None
        if word in draws or word == "normal":
            got, found = one.draw(*draws.get(word, ("Normal", 7 if rest == "odd" else 8)))
        elif word in ("seed", "offset"):
            name = "PseudoRandomGeneratorSeed" if word == "seed" else "GeneratorOffset"
            got = one.call(f"Set{name}", int(rest))
        elif word == "generate":
            got = one.call("GenerateSeeds")
        elif word == "ordering":
            got = one.call("SetGeneratorOrdering", 999 if rest else 101)
        elif word == "dims":
            got = one.call("SetQuasiRandomGeneratorDimensions", int(rest or 2))
        else:
            got = one.call("GeneratePoisson", place, 4, float(rest))
        client.check(f"{kind}, {what}: status {got}, not {status}", got == status)
        if first and found is not None and found.dtype == np.uint32:
            client.check(f"{kind}, {what}: {found[:4]}, not {first[0]}", found[:4].tolist() == first[0])
    one.end()


def far(client: Client, kind: str) -> None:
    for what, first in GOLDEN[kind]["far"].items():
        order, _, offset = what.partition(" ")
        one = Sequence(client, kind)
        one.set(int(order), 1234, int(offset))
        client.check(f"{kind} from {what}", one.draw("", 16)[1][:6].tolist() == first)
        one.end()
    names = {"uniform": "Uniform", "uniformd": "UniformDouble", "normal": "Normal", "normald": "NormalDouble"}
    for name, first in GOLDEN[kind]["then"].items():
        one = Sequence(client, kind)
        one.set(seed=7)
        one.draw(names[name], 40000)
        client.check(f"{kind} after {name}", one.draw("", 16)[1][:6].tolist() == first)
        one.end()


def check_all(client: Client) -> None:
    for kind in KINDS:
        for host in (False, True):
            numbers(client, kind, host)
        steps(client, kind)
        far(client, kind)
