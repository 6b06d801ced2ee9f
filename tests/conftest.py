"""Test-suite options: `--shard K/N` runs every N-th test, so that slow sweeps can be split over machines."""

from __future__ import annotations

import zlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", default="1/1", help="K/N: run the K-th of N parts of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, parts = map(int, config.getoption("--shard").split("/"))
    chosen = [item for item in items if zlib.crc32(item.nodeid.encode()) % parts == part - 1]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen
