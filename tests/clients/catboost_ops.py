"""Run by suites.py under `ptx2amd run`: CatBoost trains on the GPU as on the CPU."""

import cases
import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor

rng = np.random.default_rng(0)
x = rng.standard_normal((2000, 10)).astype(np.float32)
y = x[:, 0] * 2 + np.sin(x[:, 1] * 3) + x[:, 2] * x[:, 3]
category = rng.integers(0, 8, (2000, 1))
mixed = np.hstack([x.astype(object), category.astype(str).astype(object)])
COMMON = {"iterations": 15, "depth": 4, "learning_rate": 0.3, "random_seed": 1, "verbose": 0}


def train(kind: type, device: str, data: np.ndarray, target: np.ndarray, **settings: object) -> object:
    model = kind(task_type=device, allow_writing_files=False, **{**COMMON, **settings})
    return model.fit(data, target)


def regression(data: np.ndarray = x, target: np.ndarray = y, **settings: object) -> None:
    models = [train(CatBoostRegressor, device, data, target, **settings) for device in ("CPU", "GPU")]
    errors = [float(np.sqrt(np.mean((model.predict(data) - target) ** 2))) for model in models]
    assert abs(errors[0] - errors[1]) < 0.15 * errors[0] + 0.02 and errors[1] < 0.6 * target.std(), errors


def classification() -> None:
    wanted = (y > 0).astype(int)
    models = [train(CatBoostClassifier, device, x, wanted) for device in ("CPU", "GPU")]
    right = [float(np.mean(model.predict(x) == wanted)) for model in models]
    assert min(right) > 0.85 and abs(right[0] - right[1]) < 0.05, right


CASES = {
    "squared-error": lambda: regression(loss_function="RMSE"),
    "lossguide": lambda: regression(loss_function="RMSE", grow_policy="Lossguide", max_leaves=12),
    "categories": lambda: regression(mixed, y + np.sin(category[:, 0]), cat_features=[10]),
    "classification": classification,
}

cases.run(CASES)
