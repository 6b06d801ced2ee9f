"""Builds the native half into wheels. All other facts of the package are in pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent))  # the build imports the generators of the C code


class BuildNative(build_py):
    """Compiles the libraries next to the copied modules; an editable install builds them with `make native`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            from ptx2amd import native

            native.build(target=Path(self.build_lib) / "ptx2amd" / "_native")


class PlatformWheel(bdist_wheel):
    """The libraries need this platform, but no particular Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    """A distribution with compiled code, which setuptools would not know otherwise."""

    def has_ext_modules(self) -> bool:
        return True


setup(distclass=Binary, cmdclass={"build_py": BuildNative, "bdist_wheel": PlatformWheel})
