"""Run by suites.py under `ptx2amd run`: ThunderGBM's trees, trained on the GPU, predict as well as scikit-learn's."""

import cases
import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from thundergbm import TGBMClassifier, TGBMRegressor

rng = np.random.default_rng(0)
x = rng.standard_normal((1200, 10)).astype(np.float32)
y = x[:, 0] * 2 + np.sin(x[:, 1] * 3) + x[:, 2] * x[:, 3]
train, test = slice(0, 900), slice(900, None)


def regression() -> None:
    mine = TGBMRegressor(depth=4, n_trees=20, learning_rate=0.3, lambda_tgbm=1.0)
    mine.fit(x[train], y[train])
    theirs = GradientBoostingRegressor(max_depth=4, n_estimators=20, learning_rate=0.3).fit(x[train], y[train])
    errors = [float(np.sqrt(np.mean((model.predict(x[test]) - y[test]) ** 2))) for model in (mine, theirs)]
    assert errors[0] < 1.15 * errors[1], errors


def classes() -> None:
    label = (y > 1).astype(int) + (y > -1).astype(int)
    mine = TGBMClassifier(depth=4, n_trees=10, learning_rate=0.3)
    mine.fit(x[train], label[train])
    theirs = GradientBoostingClassifier(max_depth=4, n_estimators=10, learning_rate=0.3).fit(x[train], label[train])
    right = [float((model.predict(x[test]) == label[test]).mean()) for model in (mine, theirs)]
    assert right[0] > right[1] - 0.05, right


cases.run({"regression": regression, "classes": classes})
