"""Run by suites.py under `ptx2amd run`: ASTRA's tomography on the GPU, against its CPU code or a sum in numpy."""

from functools import partial

import astra
import cases
import numpy as np

SIZE, ANGLES = 48, 40
rows, columns = np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2
phantom = ((rows / 18) ** 2 + (columns / 12) ** 2 < 1).astype(np.float32)
phantom += 0.5 * ((rows - 4) ** 2 + columns**2 < 25)
volume = astra.create_vol_geom(SIZE, SIZE)
angles = np.linspace(0, np.pi, ANGLES, endpoint=False)
parallel = astra.create_proj_geom("parallel", 1.0, 72, angles)
fan = astra.create_proj_geom("fanflat", 1.5, 72, 2 * angles, 150.0, 60.0)


def close(got: np.ndarray, want: np.ndarray, share: float) -> None:
    assert np.linalg.norm(want) > 1, "nothing to compare"
    error = np.linalg.norm(got - want) / np.linalg.norm(want)
    assert error < share, f"differs by {error:.4f}"


def projected(kind: str, geometry: dict, image: np.ndarray = phantom) -> np.ndarray:
    return astra.create_sino(image, astra.create_projector(kind, geometry, volume))[1]


def forward(geometry: dict, cpu: str) -> None:
    """Both integrate along lines, with other weights at the pixels' edges."""
    close(projected("cuda", geometry), projected(cpu, geometry), 0.02)


def back(geometry: dict, cpu: str) -> None:
    sinogram = projected(cpu, geometry)
    found = []
    for kind in ("cuda", cpu):
        projector = astra.create_projector(kind, geometry, volume)
        found.append(astra.create_backprojection(sinogram, projector)[1])
    close(found[0], found[1], 0.05)


def reconstructed(method: str, sinogram: np.ndarray, kind: str, iterations: int) -> np.ndarray:
    settings = astra.astra_dict(method)
    settings["ProjectorId"] = astra.create_projector(kind, parallel, volume)
    settings["ProjectionDataId"] = astra.data2d.create("-sino", parallel, sinogram)
    settings["ReconstructionDataId"] = astra.data2d.create("-vol", volume)
    algorithm = astra.algorithm.create(settings)
    astra.algorithm.run(algorithm, iterations)
    return astra.data2d.get(settings["ReconstructionDataId"])


def method(name: str, iterations: int, share: float) -> None:
    """The same image as on the CPU, and close to the phantom."""
    sinogram = projected("linear", parallel)
    found = reconstructed(f"{name}_CUDA", sinogram, "cuda", iterations)
    close(found, reconstructed(name, sinogram, "linear", iterations), 0.05)
    close(found, phantom, share)


def projected_3d() -> None:
    """Parallel rays along an axis add the voxels that they meet."""
    box = astra.create_vol_geom(24, 24, 16)
    geometry = astra.create_proj_geom("parallel3d", 1.0, 1.0, 16, 24, [0.0, np.pi / 2])
    voxels = np.random.default_rng(0).random((16, 24, 24), dtype=np.float32)
    found = astra.create_sino3d_gpu(voxels, geometry, box)[1]  # row of the detector, angle, column
    close(found[:, 0], voxels.sum(1), 1e-3)
    close(found[:, 1], voxels.sum(2), 1e-3)


def reconstructed_3d() -> None:
    """A cone beam through a ball, by Feldkamp's method."""
    box = astra.create_vol_geom(32, 32, 32)
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    geometry = astra.create_proj_geom("cone", 1.5, 1.5, 48, 48, turn, 200.0, 60.0)
    at = np.mgrid[:32, :32, :32] - 15.5
    ball = ((at**2).sum(0) < 81).astype(np.float32)
    settings = astra.astra_dict("FDK_CUDA")
    settings["ProjectionDataId"] = astra.create_sino3d_gpu(ball, geometry, box)[0]
    settings["ReconstructionDataId"] = astra.data3d.create("-vol", box)
    algorithm = astra.algorithm.create(settings)
    astra.algorithm.run(algorithm)
    close(astra.data3d.get(settings["ReconstructionDataId"]), ball, 0.3)


cases.run(
    {
        "forward projection, parallel": partial(forward, parallel, "linear"),
        "forward projection, fan": partial(forward, fan, "line_fanflat"),
        "back projection, parallel": partial(back, parallel, "linear"),
        "SIRT": partial(method, "SIRT", 60, 0.3),
        "CGLS": partial(method, "CGLS", 12, 0.3),
        "filtered back projection": partial(method, "FBP", 1, 0.4),
        "forward projection, 3-D": projected_3d,
        "FDK, 3-D": reconstructed_3d,
    }
)
