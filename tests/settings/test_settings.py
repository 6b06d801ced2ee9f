"""The table of settings is the whole truth: nothing else reads the variables, C and Python take the same texts for the
same values, the pages say what the table says, and what a user gets wrong is said."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import settings, target
from ptx2amd.settings import generate, page
from ptx2amd.settings.values import UNITS, number_of

ROOT = Path(__file__).resolve().parents[2]
OURS = ("ptx2amd", "shim", "cuda_samples")
DRIVER = ROOT / "tests" / "bad_input" / "driver.py"


def sources(*folders: str, ends: tuple[str, ...] = (".py", ".c", ".h")) -> dict[Path, str]:
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in ends)
    return {path: path.read_text() for path in found if not {"__pycache__", "_native"} & set(path.parts)}


def test_nothing_else_reads_the_variables() -> None:
    direct = re.compile(r"getenv\(\s*\"PTX2AMD|environ(\.get\(|\[)\s*f?\"PTX2AMD|\"PTX2AMD_\w+\" (not )?in os\.environ")
    for path, text in sources(*OURS).items():
        assert path.parent == generate.SOURCES or not direct.search(text), path


def test_every_variable_that_is_mentioned_is_in_the_table() -> None:
    macros = {"PTX2AMD_NO_HANDSHAKE"}
    texts = sources(*OURS, "tests", "bench", "docs", ends=(".py", ".c", ".h", ".md", ".toml"))
    texts |= {path: path.read_text() for path in (ROOT / "README.md", ROOT / "Makefile")}
    for path, text in texts.items():
        names = set(re.findall(r"\bPTX2AMD_[A-Z0-9_]*[A-Z0-9]\b", text)) - macros
        names = {name for name in names if not name.endswith("_H")}  # guards of headers
        unknown = names - settings.BY_VARIABLE.keys()
        assert not unknown or path == Path(__file__), f"{path}: {unknown}"


def test_every_setting_is_read_by_those_that_the_table_names() -> None:
    of = {
        "driver": sources("shim/src", "shim/standin", ends=(".c",)),
        "gpu": sources("ptx2amd/vgpu/runtime", ends=(".c",)),
    }
    python = sources("ptx2amd", ends=(".py",))
    python = {path: text for path, text in python.items() if path.parent != generate.SOURCES}
    for setting in settings.TABLE:
        readers = setting.readers.split()
        for reader, texts in of.items():
            read = any(re.search(rf"\bSETTING_{setting.name}\b", text) for text in texts.values())
            assert read == (reader in readers), f"{setting.variable} {reader}"
        read = any(re.search(rf"\bsettings\.{setting.name}\b", text) for text in python.values())
        assert read == bool({"translator", "command", "build"} & set(readers)), setting.variable


def test_the_pages_are_those_of_the_table() -> None:
    assert page.PAGE.read_text() == page.page(), "run `python -m ptx2amd.settings.page`"


def test_choices_and_defaults_are_possible() -> None:
    assert settings.MAPPING.choices == target.MAPPINGS and settings.MATRIX.choices == target.MATRIX
    for setting in settings.TABLE:
        assert not setting.default or setting.allows(setting.default), setting.variable
        assert set(setting.readers.split()) <= set(settings.READERS)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bytes", "4G", 4 << 30), ("bytes", "512M", 512 << 20), ("bytes", "4GiB", 4 << 30), ("bytes", "1.5KB", 1536),
        ("bytes", " 4G", None), ("bytes", "0", 0), ("bytes", "-1", None), ("bytes", "4X", None),
        ("bytes", "1e9", None),
        ("bytes", "G", None), ("bytes", "4 G", None), ("bytes", "inf", None),
        ("seconds", "90", 90), ("seconds", "0.5", 0.5), ("seconds", "10m", 600), ("seconds", "250ms", 0.25),
        ("seconds", "abc", None), ("seconds", "-5", None), ("seconds", "nan", None),
        ("count", "7", 7), ("count", "7.5", None), ("count", "0x10", None),
        ("version", "8.6", 806), ("version", "12.0", 1200), ("version", "8", None), ("version", "8.", None),
        ("switch", "0", 0), ("switch", "OFF", 0), ("switch", "yes", 1), ("switch", "2", None),
    ],
)  # fmt: skip
def test_values(kind: str, text: str, value: float | None) -> None:
    assert number_of(kind, text) == value


@pytest.fixture(scope="module")
def c_reader(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """settings.c in this process."""
    folder = tmp_path_factory.mktemp("settings")
    library = folder / "libsettings.so"
    flags = ["-std=gnu11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{generate.SOURCES}"]
    subprocess.run(["gcc", *flags, *map(str, generate.write(folder)), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.setting_number.restype = ctypes.c_double
    loaded.setting_text.restype = ctypes.c_char_p
    return loaded


def test_c_and_python_read_alike(c_reader: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = ["", "0", "1", "7", "42", "1.5", "0.001", ".5", "5.", "1..2", "1.2.3", "8.6", "13.0", "08.60", "4096",
               "123456789012345678", "1234567890123456789", "-1", "+1", "1e3", "0x10", "nan", "inf"]  # fmt: skip
    ends = ["", " ", "x", "G ", "gib", *{name for units in UNITS.values() for name in units}]
    words = ["on", "OFF", "Yes", "no", "true", "False", "2", "native", "paired", "chip", "always", "wheel", "V3", "v3"]
    texts = [number + end for number, end in itertools.product(numbers, ends)] + words
    checked = 0
    for (number, setting), text in itertools.product(enumerate(settings.TABLE), texts):
        monkeypatch.setenv(setting.variable, text)
        good = not text or setting.allows(text)
        if not good:
            monkeypatch.delenv(setting.variable)
        expected, value = setting.text(), setting.number()
        monkeypatch.setenv(setting.variable, text)
        assert c_reader.setting_text(number).decode() == expected, (setting.variable, text)
        assert c_reader.setting_number(number) == pytest.approx(value, rel=1e-12), (setting.variable, text)
        monkeypatch.delenv(setting.variable)
        checked += 1
    assert checked > 10000


def test_c_reads_numbers_in_any_locale(c_reader: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may have set a locale in which 0.5 is written 0,5. (Here it is only looked at.)"""
    assert "strtod" not in re.sub(r"/\*.*?\*/", "", (generate.SOURCES / "settings.c").read_text(), flags=re.S)
    monkeypatch.setenv("PTX2AMD_VGPU_TIMEOUT", "0.5")
    assert c_reader.setting_number(settings.TABLE.index(settings.VGPU_TIMEOUT)) == 0.5


def test_a_command_names_the_setting_the_value_and_what_is_allowed() -> None:
    done = subprocess.run([sys.executable, "-m", "ptx2amd.cli", "cache", "trim"], capture_output=True, text=True,
                          env={**os.environ, "PTX2AMD_CACHE_LIMIT": "4X"})  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "ptx2amd: PTX2AMD_CACHE_LIMIT=4X: expected a size such as 512M, 4G or 4GiB\n"


def test_doctor_lists_what_is_set_and_what_is_wrong(tmp_path: Path) -> None:
    own = {"PTX2AMD_CACHE_DIR": str(tmp_path), "PTX2AMD_CACHEDIR": "/x"}
    own |= {"PTX2AMD_SERVICE_IDLE": "soon", "PTX2AMD_CACHE": "maybe", "PTX2AMD_TOOLKIT": "none"}
    done = subprocess.run([sys.executable, "-m", "ptx2amd.cli", "doctor", "--json"], capture_output=True, text=True,
                          env={**os.environ, **own})  # fmt: skip
    found = {item["text"]: item["level"] for item in json.loads(done.stdout) if item["what"] == "setting"}
    assert found[f"PTX2AMD_CACHE_DIR={tmp_path}"] == "ok"
    assert found["PTX2AMD_SERVICE_IDLE=soon: expected a time such as 90, 0.5s, 10m or 1h, at least 0.1"] == "missing"
    assert found["there is no such setting; did you mean PTX2AMD_CACHE_DIR?"] == "note"
    assert found["PTX2AMD_TOOLKIT=none: expected wheel or path"] == "missing"
    assert {item["what"] for item in json.loads(done.stdout)} >= {"cache", "service", "nvcc"}


def test_a_program_is_told_once_and_runs_with_the_default(tmp_path: Path) -> None:
    (tmp_path / "load.py").write_text("cu = Driver().start()\nprint('works')\n")
    own = {"PTX2AMD_DEVICE": "vgpu", "PTX2AMD_SERVICE_IDEL": "5", "PTX2AMD_CACHE_LIMIT": "-4"}
    own |= {"PTX2AMD_VGPU_LEVEL": "v9"}
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--", sys.executable, str(DRIVER), "load.py"]
    environment = {**os.environ, **own}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "works\n", done.stderr
    assert sorted(line.partition(": ")[2] for line in done.stderr.splitlines()) == [
        "PTX2AMD_CACHE_LIMIT=-4 is ignored: expected a size such as 512M, 4G or 4GiB",
        "PTX2AMD_VGPU_LEVEL=v9 is ignored: expected v2, v3 or v4",
        "there is no setting PTX2AMD_SERVICE_IDEL; did you mean PTX2AMD_SERVICE_IDLE?",
    ]
