"""Run by suites.py under `ptx2amd run`: numba-cuda's own tests, each file by a pytest of its own, so that one that
crashes or hangs costs only itself. Arguments: parts of the names of the files wanted; none for all."""

import subprocess
import sys
from pathlib import Path

import numba.cuda.tests
import pytest

FOLDER = Path(numba.cuda.tests.__file__).parent
LEFT_OUT = {"benchmarks"}  # folders: times of launches
LIMIT = 1800  # seconds for a file: some translate 400 kernels


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """What the conftest.py of numba-cuda's repository, which the wheel lacks, has for its tests."""
    request.cls._dump_failed_filechecks = False


def test(file: str) -> int:
    options = ["-q", "-rfEs", "-c", "/dev/null", "-p", "no:cacheprovider", "-o", "consider_namespace_packages=true"]
    return int(pytest.main([*options, file], plugins=[sys.modules[__name__]]))


def died(file: Path) -> str:
    """Why a file's tests gave no result; nothing if they did."""
    known = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
    try:
        code = subprocess.run([sys.executable, __file__, "--file", str(file)], timeout=LIMIT).returncode
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT} s"
    return "" if code in known else f"exit status {code}"


def main(wanted: list[str]) -> None:
    names = sorted(str(file.relative_to(FOLDER)) for file in FOLDER.rglob("test_*.py"))
    for name in names:
        if Path(name).parts[0] in LEFT_OUT or not any(part in name for part in wanted or [""]):
            continue
        print(f"== {name}", flush=True)
        if why := died(FOLDER / name):
            print(f"FAILED {name}: {why}\n1 failed in 0s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--file"]:
        sys.exit(test(sys.argv[2]))
    main(sys.argv[1:])
