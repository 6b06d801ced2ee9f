"""LightGBM's trees from its CUDA learner against those of its CPU learner.

Of the objectives, those are left out that both learners define differently: ranks (lambdarank's discounts), medians and
percentiles (interpolated at other places), and quantized gradients (LightGBM's issue 6703)."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np

ROWS, FEATURES, ROUNDS = 400, 6, 3
COMMON = {
    "num_leaves": 7,
    "min_data_in_leaf": 10,
    "max_bin": 31,
    "verbose": -1,
    "deterministic": True,
    "num_threads": 1,
}

rng = np.random.default_rng(1)
x = rng.normal(size=(ROWS, FEATURES))
value = x[:, 0] + np.sin(2 * x[:, 1]) + (x[:, 5] > 0) + 0.1 * rng.normal(size=ROWS)
TASKS = {
    "regression": (value, {}),
    "huber": (value, {}),
    "poisson": (np.exp(value / 4), {}),
    "binary": ((value > 0.5).astype(float), {}),
    "multiclass": (np.digitize(value, [-0.5, 1.0]).astype(float), {"num_class": 3}),
}


def predicted(task: str, device: str) -> tuple[np.ndarray, int]:
    """Predictions for the rows that were learned from, and how many splits the trees have."""
    label, options = TASKS[task]
    settings = {"objective": task, **COMMON, **options, "device_type": device}
    model = lgb.train(settings, lgb.Dataset(x, label), ROUNDS)
    splits = sum(tree["num_leaves"] - 1 for tree in model.dump_model()["tree_info"])
    return model.predict(x), splits


wrong = 0
for task in TASKS:
    (cpu, splits), (gpu, own) = predicted(task, "cpu"), predicted(task, "cuda")
    differ = float(np.abs(cpu - gpu).max() / np.abs(cpu).max())
    print(f"{task}: {splits} splits on the CPU, {own} on the GPU, largest difference {differ:.2g}")
    wrong += not (splits == own > ROUNDS and differ <= 1e-6)
print("wrong" if wrong else "right")
