"""Run by suites.py under `ptx2amd run`: tables of cuDF, against pandas. Left out are arithmetic and groups, whose
kernels take many minutes to translate."""

from collections.abc import Callable
from functools import partial

import cases
import cudf
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
ROWS = 500
wanted = pd.DataFrame(
    {
        "key": rng.integers(0, 20, ROWS),
        "x": rng.normal(size=ROWS),
        "count": rng.integers(-99, 99, ROWS).astype(np.int32),
    }
)
found = cudf.DataFrame(wanted)


def agrees(operation: Callable) -> None:
    got, want = (operation(table) for table in (found, wanted))
    got = got.to_pandas() if hasattr(got, "to_pandas") else got
    if isinstance(want, pd.DataFrame):
        pd.testing.assert_frame_equal(got.reset_index(drop=True), want.reset_index(drop=True), check_dtype=False)
    elif isinstance(want, pd.Series):
        pd.testing.assert_series_equal(got.reset_index(drop=True), want.reset_index(drop=True), check_dtype=False)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12)


cases.run(
    {
        name: partial(agrees, operation)
        for name, operation in {
            "copies": lambda t: t,
            "sum": lambda t: t["x"].sum(),
            "extremes": lambda t: [t["x"].min(), t["count"].max()],
            "cumulative sum": lambda t: t["count"].cumsum(),
            "concatenation": lambda t: (cudf if t is found else pd).concat([t, t]),
            "slice": lambda t: t[100:300:7],
            "take": lambda t: t.iloc[[5, 3, 499, 3]],
            "sort": lambda t: t.sort_values("x"),
        }.items()
    }
)
