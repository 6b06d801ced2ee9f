"""Run by suites.py under `ptx2amd run`: cupoch's point clouds on the GPU, against numpy."""

import cases
import cupoch as cph
import numpy as np

rng = np.random.default_rng(0)
POINTS = rng.uniform(-1, 1, (2000, 3)).astype(np.float32)
SPHERE = rng.standard_normal((2000, 3)).astype(np.float32)
SPHERE /= np.linalg.norm(SPHERE, axis=1, keepdims=True)
TURN = np.eye(4, dtype=np.float32)
TURN[:3, :3] = [[0.9998, -0.02, 0], [0.02, 0.9998, 0], [0, 0, 1]]
TURN[:3, 3] = [0.02, -0.01, 0.015]


def cloud(points: np.ndarray) -> cph.geometry.PointCloud:
    found = cph.geometry.PointCloud()
    found.points = cph.utility.Vector3fVector(points)
    return found


def array(vector: object) -> np.ndarray:
    return np.asarray(vector.cpu())


def transform() -> None:
    moved = cloud(POINTS)
    moved.transform(TURN)
    np.testing.assert_allclose(array(moved.points), POINTS @ TURN[:3, :3].T + TURN[:3, 3], atol=1e-5)


def bounds() -> None:
    np.testing.assert_allclose(cloud(POINTS).get_min_bound(), POINTS.min(0), atol=1e-6)
    np.testing.assert_allclose(cloud(POINTS).get_max_bound(), POINTS.max(0), atol=1e-6)


def voxels() -> None:
    """One point, the mean, for each cell that has points."""
    size = 0.25
    cells = np.floor((POINTS - (POINTS.min(0) - size / 2)) / size).astype(int)
    _, which = np.unique(cells, axis=0, return_inverse=True)
    which = which.ravel()
    wanted = np.stack([np.bincount(which, POINTS[:, k]) / np.bincount(which) for k in range(3)], 1)
    got = array(cloud(POINTS).voxel_down_sample(size).points)
    assert len(got) == len(wanted)
    np.testing.assert_allclose(got[np.lexsort(got.T)], wanted[np.lexsort(wanted.T)], atol=1e-5)


def normals() -> None:
    """Of a sphere. (Those of an exactly flat cloud are not numbers: cupoch divides 0 by 0 for a sign.)"""
    found = cloud(SPHERE)
    found.estimate_normals(cph.geometry.KDTreeSearchParamKNN(20))
    assert abs((array(found.normals) * SPHERE).sum(1)).min() > 0.9


def registration() -> None:
    """The motion between two clouds."""
    moved = cloud(POINTS)
    moved.transform(TURN)
    found = cph.registration.registration_icp(cloud(POINTS), moved, 0.2, np.eye(4, dtype=np.float32))
    np.testing.assert_allclose(found.transformation, TURN, atol=2e-3)


cases.run(
    {"transform": transform, "bounds": bounds, "voxels": voxels, "normals": normals, "registration": registration}
)
