"""Run by suites.py under `ptx2amd run`: PhysX (ovphysx) drops boxes onto a plane on the GPU, and on the CPU."""

from functools import cache
from pathlib import Path

import cases
import numpy as np
import ovphysx
import ovstage
from ovphysx.samples.python_samples.schema_support import physx_schema_paths
from ovphysx.types import ObjectScope, SimObjectType

SCENES = Path(ovphysx.__file__).parent / "samples" / "data"
FRAME = 1 / 60


def positions(physx: ovphysx.PhysX) -> np.ndarray:
    with physx.read_sync(SimObjectType.RIGID_BODY, ["position"], scope=ObjectScope.ALL) as read:
        return np.concatenate(
            [np.array(group.tensors[0].numpy(), np.float64) for group in read.groups if group.tensors]
        )


@cache
def heights(scene: str, frames: tuple[int, ...]) -> np.ndarray:
    """The positions of all bodies after so many frames, one row for each."""
    stage = ovstage.Stage(scene)
    ovstage.population.open_usd(stage, str(SCENES / scene), ordinal=1, domains=ovstage.PopulationDomain.ALL)
    stage.advance_write_floor(ordinal=1).wait()
    physx = ovphysx.PhysX()
    physx.wait_task(physx.attach_ovstage(stage, read_ordinal=1))
    found = []
    for frame in range(1, max(frames) + 1):
        physx.step_sync(FRAME)
        if frame in frames:
            found.append(positions(physx))
    physx.wait_task(physx.detach_ovstage())
    physx.destroy()
    stage.destroy()
    return np.array(found)


GPU, CPU = "boxes_falling_on_groundplane_gpu.usda", "boxes_falling_on_groundplane.usda"
FRAMES = (5, 20)


def falling() -> None:
    """As long as nothing collides."""
    gpu, cpu = heights(GPU, FRAMES)[0], heights(CPU, FRAMES)[0]
    np.testing.assert_allclose(gpu, cpu, atol=1e-4)


def landed() -> None:
    """No box falls through the plane or flies off."""
    gpu, cpu = heights(GPU, FRAMES)[1], heights(CPU, FRAMES)[1]
    assert np.isfinite(gpu).all() and abs(np.sort(gpu[:, 2]) - np.sort(cpu[:, 2])).max() < 0.3, (gpu, cpu)


ovstage.population.register_usd_schemas([*map(str, physx_schema_paths()), str(ovphysx.newton_schema_root())])
cases.run({"falling": falling, "landed": landed})
