"""Run the benchmarks: `python -m bench [NAME...]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    found = [p.stem for p in HERE.glob("*.py")] + [p.parent.name for p in HERE.glob("*/__init__.py")]
    names = sys.argv[1:] or sorted(name for name in found if not name.startswith("_"))
    for name in names:
        module = importlib.import_module(f"bench.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        module.main()


if __name__ == "__main__":
    main()
