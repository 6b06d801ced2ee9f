"""Litmus tests on the hardware: `python -m tests.hardware.litmus OUT` runs those of tests/memory_model whose outcome is
published and that need one GPU and no textures, and writes to OUT (json) how many instances of each ended, and how many
were in the state that the condition singles out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from tests.hardware.driver import Device, DriverError
from tests.memory_model import dat3m, kernels
from tests.memory_model.campaign import Outcome, count
from tests.memory_model.litmus import Test

BLOCKS, LAUNCHES = 256, 6  # blocks of 32 instances


def run(device: Device, test: Test) -> Outcome:
    module = device.load(kernels.HEAD + kernels.kernel(test, "k", test.gpus[0]))
    function = device.function(module, "k")
    instances, results = BLOCKS * kernels.LANES, max(1, len(test.outputs))
    ctas = test.ctas(test.gpus[0])
    grid, block = (BLOCKS * len(ctas), 1, 1), (kernels.LANES * max(map(len, ctas)), 1, 1)
    outcome = Outcome()
    for launch in range(LAUNCHES):
        content = np.zeros((len(test.variables), instances, kernels.LINE // 4), np.int32)
        for v, value in enumerate(test.variables.values()):
            content[v, :, 0] = value
        memory, out = device.allocate(content.nbytes), device.allocate(4 * instances * results)
        device.write(memory, content.tobytes())
        device.write(out, bytes(4 * instances * results))
        numbers = (memory, 8), (out, 8), (0, 8), (instances, 4), (launch % 2, 4)
        device.launch(function, grid, block, [n.to_bytes(size, "little") for n, size in numbers], 0)
        device.synchronize()
        variables = np.frombuffer(device.read(memory, content.nbytes), np.int32).reshape(content.shape)[:, :, 0]
        count(test, outcome, variables, np.frombuffer(device.read(out, 4 * instances * results), np.int32))
        device.free(memory)
        device.free(out)
    device.unload(module)
    return outcome


def main() -> None:
    device = Device()
    answers = {}
    for case in dat3m.cases()[0]:
        if case.allowed is None or case.proxies or len(case.test.gpus) > 1:
            continue
        try:
            outcome = run(device, case.test)
        except (DriverError, kernels.NotPtx) as error:
            print(case.name, error)
            continue
        answers[case.path] = [outcome.ended, outcome.found]
    Path(sys.argv[1]).write_text(json.dumps({"from": device.describe(), "answers": answers}))


if __name__ == "__main__":
    main()
