"""What packages declare is what pyproject.toml says: a recipe that lags behind gives an
installation that does not start."""

from __future__ import annotations

import re
import tomllib

from ptx2amd import __version__
from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text()


def _plain(requirement: str) -> str:
    return re.sub(r"\s", "", requirement)


def _listed(section: str) -> set[str]:
    """The requirements of a section of the recipe."""
    lines = RECIPE.partition(f"  {section}:\n")[2].splitlines()
    taken = []
    for line in lines:
        if not line.startswith("    - "):
            break
        taken.append(_plain(line.removeprefix("    - ")))
    return set(taken)


def test_conda_recipe_has_the_requirements_of_the_project() -> None:
    assert f'version: "{__version__}"' in RECIPE
    wanted = {_plain(one) for one in PROJECT["project"]["dependencies"]}
    assert _listed("run") == wanted | {"python" + PROJECT["project"]["requires-python"]}
    building = {_plain(one) for one in PROJECT["build-system"]["requires"]}
    assert building <= _listed("host") | _listed("build")


def test_docker_copies_nothing_that_was_built_here() -> None:
    ignored = (ROOT / "packaging" / "Dockerfile.dockerignore").read_text().split()
    assert {".venv", "build", "ptx2amd/_native"} <= set(ignored)
    assert "gcc" not in DOCKERFILE.rpartition("FROM ")[2], "the image that is used has a compiler"
