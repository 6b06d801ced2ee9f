"""How the clients' scripts run their cases: each prints "ok   name" or "FAIL name: why"; suites.py counts the lines.

Imported by scripts that run in the client's own environment: no pytest here, and nothing of ptx2amd.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn


def run(cases: Mapping[str, Callable[[], object]]) -> NoReturn:
    """Run every case, whatever became of those before, and exit: 0 when all passed. A case fails by raising."""
    failures = 0
    for name, case in cases.items():
        try:
            case()
            print(f"ok   {name}", flush=True)
        except Exception as error:
            failures += 1
            print(f"FAIL {name}: {type(error).__name__} {' '.join(str(error).split())[:400]}", flush=True)
    print(f"{len(cases) - failures} of {len(cases)} cases pass")
    sys.exit(min(failures, 125))


def agree(got: Callable[[], Any], want: Any, rtol: float = 1e-4, atol: float = 1e-4) -> Callable[[], None]:
    """A case: what the client computes is what numpy computed."""
    import numpy as np

    return lambda: np.testing.assert_allclose(got(), want, rtol=rtol, atol=atol)


def collatz(value: int) -> int:
    """How many steps a number takes to 1: loops whose trip count differs from lane to lane."""
    count = 0
    while value > 1:
        value = value // 2 if value % 2 == 0 else value * 3 + 1
        count += 1
    return count
