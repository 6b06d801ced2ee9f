"""A plugin for pytest: of the tests that were chosen, run every Nth (`--every N`)."""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--every", type=int, default=1)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    items[:] = items[:: config.getoption("every")]
