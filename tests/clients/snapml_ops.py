"""Run by suites.py under `ptx2amd run`: Snap ML trains linear models and boosted trees on the GPU as on the CPU."""

from functools import partial

import cases
import numpy as np
import snapml

rng = np.random.default_rng(0)
x = rng.standard_normal((1500, 12)).astype(np.float32)
y = x[:, 0] * 2 - x[:, 3] + np.sin(3 * x[:, 1]) + 0.1 * rng.standard_normal(1500)
label = np.where(y > 0, 1.0, -1.0)


def fitted(model: type, target: np.ndarray, gpu: bool, **settings: object) -> object:
    return model(use_gpu=gpu, device_ids=[0] if gpu else [], **settings).fit(x, target)


def linear(model: type, target: np.ndarray, **settings: object) -> None:
    """The same coefficients: the problems are convex."""
    gpu, cpu = (fitted(model, target, gpu, tol=1e-7, max_iter=300, **settings).coef_ for gpu in (True, False))
    largest = abs(np.ravel(cpu)).max()
    assert largest > 0.1 and abs(np.ravel(gpu) - np.ravel(cpu)).max() < 0.01 * largest, (gpu, cpu)


def trees() -> None:
    """As good as on the CPU."""
    common = {"num_round": 8, "max_depth": 4, "random_state": 1}
    errors = []
    for gpu in (True, False):
        found = snapml.BoostingMachineRegressor(use_gpu=gpu, **common).fit(x, y).predict(x)
        errors.append(float(np.sqrt(np.mean((found - y) ** 2))))
    assert abs(errors[0] - errors[1]) < 0.05 * errors[1] and errors[0] < 0.8 * y.std(), errors


cases.run(
    {
        "logistic regression": partial(linear, snapml.LogisticRegression, label),
        "ridge regression": partial(linear, snapml.LinearRegression, y, regularizer=10.0),
        "support vectors": partial(linear, snapml.SupportVectorMachine, label),
        "boosted trees": trees,
    }
)
