"""Arithmetic instructions on the hardware: `python -m tests.hardware.alu OUT [FAMILY...]` writes what each opcode
that its compute capability has computes of the operand sets of tests/lower/alu_inputs.py, as digests; and where that is
not what tests/reference says, the first such result.

A digest covers the results of all threads, where every NaN counts as the same.
"""

from __future__ import annotations

import json
import sys
import traceback
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

from tests.hardware.answers import digest, results, title
from tests.hardware.driver import Device, DriverError
from tests.lower import alu_check, alu_programs
from tests.lower.alu_inputs import CORNERS, CROSSED, DENSE, MIXED, Inputs
from tests.lower.alu_programs import SLOT, Case, Program

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
NEWEST = 90  # compute capability
BLOCK = 256
SETS = {data.name: data for data in (MIXED, CORNERS, CROSSED, DENSE)}
REFERENCED = ("mixed", "corners")  # the others are too many for a reference in Python


def run(device: Device, batch: list[Case], data: Inputs) -> tuple[Program, bytes]:
    [program] = alu_programs.programs(batch, "k", len(batch), False, data)
    module = device.load(HEAD + program.text())
    try:
        given = alu_programs.input_bytes(program)
        size = len(program.outputs) * program.array
        inputs, outputs = device.allocate(len(given)), device.allocate(size)
        device.write(inputs, given)
        device.write(outputs, bytes(size))
        arguments = [inputs.to_bytes(8, "little"), outputs.to_bytes(8, "little")]
        device.launch(device.function(module, "k_0"), (data.threads // BLOCK, 1, 1), (BLOCK, 1, 1), arguments, 0)
        device.synchronize()
        found = device.read(outputs, size)
        device.free(inputs)
        device.free(outputs)
        return program, found
    finally:
        device.unload(module)


def ask(device: Device, batch: list[Case], data: Inputs, found: dict[str, Any]) -> None:
    """Runs the cases, halves of them where the compiler refuses."""
    try:
        program, output = run(device, batch, data)
    except DriverError as error:
        if len(batch) == 1:
            found["refused"][title(batch[0], "", 0)] = str(error)[:300]
            return
        ask(device, batch[: len(batch) // 2], data, found)
        ask(device, batch[len(batch) // 2 :], data, found)
        return
    digests = found["digests"].setdefault(data.name, {})
    table = np.frombuffer(output, np.uint8).reshape(len(program.outputs), data.threads, SLOT)
    if data is MIXED:
        found["raw"].update((title(*program.outputs[i]), table[i].tobytes()) for i in range(len(program.outputs)))
    for case, name, values in results(program, output):
        digests[name] = digest(values)
        if case.form.exact.startswith("approx") and data.name in REFERENCED:
            width = max(1, SLOT // 2)
            found["approximate"].setdefault(data.name, {})[name] = values[:, :width].tobytes().hex()
    if data.name in REFERENCED:
        found["wrong"] += [f"{data.name}: {line}" for line in alu_check.mismatches(program, output)]


def part(work: tuple[str, int, int]) -> dict[str, Any]:
    family, start, size = work
    found: dict[str, Any] = {"digests": {}, "refused": {}, "approximate": {}, "wrong": [], "failed": [], "raw": {}}
    try:
        device = Device()
        found["from"] = device.describe()
        ours = [case for case in alu_programs.all_cases(family) if case.form.sm <= NEWEST]
        batch = ours[start : start + size]
        for data in SETS.values():
            if data is CORNERS:
                some = [c for c in batch if c.form.exact.startswith("approx")]
            elif data is MIXED or family != "video":
                some = batch
            else:
                some = batch[::11]
            if data is DENSE:
                some = [c for c in some if all(ptype != "pred" for _, ptype, _ in c.sources)]
            for at in range(0, len(some), 20):
                ask(device, some[at : at + 20], data, found)
    except Exception:
        found["failed"].append(f"{work}: {traceback.format_exc()}")
    return found


def main() -> None:
    out, *families = sys.argv[1:]
    sizes = {f: len([c for c in alu_programs.all_cases(f) if c.form.sm <= NEWEST]) for f in alu_programs.FAMILIES}
    work = [(f, i, 60) for f in families or alu_programs.FAMILIES for i in range(0, sizes[f], 60)]
    raw: dict[str, bytes] = {}
    whole: dict[str, Any] = {
        "from": {},
        "digests": {},
        "refused": {},
        "approximate": {},
        "wrong": [],
        "failed": [],
        "raw": {},
    }
    with Pool(16) as pool:
        for found in pool.imap_unordered(part, work):
            whole["from"] = found.get("from") or whole["from"]
            for key in ("digests", "approximate"):
                for name, more in found[key].items():
                    whole[key].setdefault(name, {}).update(more)
            whole["refused"].update(found["refused"])
            whole["wrong"] += found["wrong"]
            whole["failed"] += found["failed"]
            raw.update(found["raw"])
    Path(out).write_text(json.dumps(whole))
    titles = sorted(raw)
    table = np.stack([np.frombuffer(raw[t], np.uint8).reshape(MIXED.threads, SLOT) for t in titles])
    np.savez_compressed(Path(out).with_suffix(".npz"), titles=np.array(titles), values=table)
    print({k: len(v) for k, v in whole.items()}, {k: len(v) for k, v in whole["digests"].items()})
    print(*whole["wrong"][:15], *whole["failed"][:3], sep="\n")


if __name__ == "__main__":
    main()
