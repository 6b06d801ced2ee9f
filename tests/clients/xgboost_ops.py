"""Run by suites.py under `ptx2amd run`: XGBoost trains on the GPU as on the CPU."""

import cases
import numpy as np
import xgboost as xgb

rng = np.random.default_rng(0)
x = rng.standard_normal((2000, 20)).astype(np.float32)
y = x[:, 0] * 2 + np.sin(x[:, 1] * 3) + x[:, 2] * x[:, 3] + 0.1 * rng.standard_normal(2000)
x[rng.random(x.shape) < 0.02] = np.nan
data = xgb.DMatrix(x, y)


def train(device: str, **settings: object) -> xgb.Booster:
    common = {"device": device, "tree_method": "hist", "max_depth": 5, "eta": 0.3, "seed": 0}
    return xgb.train({**common, **settings}, data, 3)


def agrees(**settings: object) -> None:
    of_cpu, of_gpu = (train(device, **settings).predict(data) for device in ("cpu", "cuda"))
    errors = [float(np.sqrt(np.mean((prediction - y) ** 2))) for prediction in (of_cpu, of_gpu)]
    assert abs(errors[0] - errors[1]) < 0.02 * errors[0], errors
    assert np.corrcoef(of_cpu, of_gpu)[0, 1] > 0.99


def same_bins() -> None:
    """With a bin for each value, no sketch decides where trees may split, and both grow the same trees."""
    whole = xgb.DMatrix(np.nan_to_num(x), y)  # a new one: it keeps the bins of its first training
    settings = {"tree_method": "hist", "max_depth": 5, "max_bin": 4096}
    of_cpu, of_gpu = (xgb.train({**settings, "device": d}, whole, 1).predict(whole) for d in ("cpu", "cuda"))
    np.testing.assert_allclose(of_gpu, of_cpu, atol=1e-5)


def prediction() -> None:
    model = train("cuda")
    of_gpu = model.predict(data)
    model.set_param({"device": "cpu"})
    np.testing.assert_allclose(model.predict(data), of_gpu, atol=1e-4)


CASES = {
    "squared-error": lambda: agrees(objective="reg:squarederror"),
    "lossguide": lambda: agrees(objective="reg:squarederror", grow_policy="lossguide", max_leaves=15),
    "a bin for each value": same_bins,
    "prediction": prediction,
    "absolute-error": lambda: agrees(objective="reg:absoluteerror"),
}

cases.run(CASES)
