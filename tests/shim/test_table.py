"""The table, the exported symbols and cuGetProcAddress agree; they have all that NVIDIA's runtime asks for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptx2amd import native
from ptx2amd.api import hip, nvml, spec
from ptx2amd.api.driver import functions
from ptx2amd.api.driver.absent import FEATURES
from ptx2amd.api.driver.page import PAGE, page
from ptx2amd.api.spec import parameters
from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests.shim.conformance_run import written

ASKED = Path(__file__).with_name("runtime_13_0_asks.tsv")
NOT_FOUND, TOO_OLD = 1, 2


def exported(path: Path) -> dict[str, int]:
    """Symbol -> offset of the dynamic symbol table."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", str(path)], capture_output=True, text=True, check=True
    ).stdout
    return {name: int(address, 16) for address, _, name in (line.split() for line in listing.splitlines())}


def ask(shim: SimpleNamespace, name: str, version: int, flags: int = 0) -> tuple[int, object, int]:
    pointer, status = shim.ffi.new("void **"), shim.ffi.new("CUdriverProcAddressQueryResult *", 99)
    result = shim.cuda.cuGetProcAddress_v2(name.encode(), pointer, version, flags, status)
    return result, pointer[0], status[0]


def test_generators_name_no_function_of_an_api() -> None:
    """What is special about a function stands in its row."""
    names = {row.symbol for row in (*functions(), *nvml.functions(), *hip.functions())}
    for path in Path(spec.__file__).parent.glob("*.py"):
        assert names.isdisjoint(re.findall(r"\w+", path.read_text())), path


def test_every_row_is_exported_and_nothing_else(shim: SimpleNamespace) -> None:
    wanted = {symbol for row in functions() for symbol in row.exports}
    for_our_libraries = {
        "ptx2amd_chip",
        "ptx2amd_hip_stream",
        "ptx2amd_keep_memory",
        "ptx2amd_link",
        "ptx2amd_memory_info",
    }
    assert wanted | for_our_libraries == set(exported(shim.path))
    assert len(wanted) > 700


def test_symbols_are_unique_and_versions_grow() -> None:
    table = functions()
    symbols = [symbol for row in table for symbol in row.exports]
    assert len(symbols) == len(set(symbols))
    by_name: dict[str, list[int]] = {}
    for row in sorted(table, key=lambda r: (len(r.symbol), r.symbol)):
        by_name.setdefault(row.name, []).append(row.since)
    assert all(since == sorted(since) for since in by_name.values())


def test_per_thread_variants_take_a_stream() -> None:
    for row in functions():
        if row.ptsz and not row.symbol.startswith("cuGraphInstantiate"):
            assert any(p.type == "CUstream" or p.role == "stream" for p in row.takes), row.symbol


def test_roles_are_those_of_calls_that_succeed() -> None:
    """What a row says must be given is given in every documented call; null there is an error (conformance_run.py)."""
    table = {symbol: row for row in functions() for symbol in row.exports}
    for case in written():
        for argument, parameter in zip(case.arguments, table[case.symbol].takes, strict=True):
            left_out = argument in ("null", "opt") and case.expected == (0,)
            assert not (left_out and parameter.must_be_given), (case.title, parameter)


def test_parameters_in_text() -> None:
    text = "out T *list, in(n) const int *numbers, int n, optional out void **why, stream(s) const C *config"
    found = parameters(text)
    assert [(p.type, p.name, p.role, p.of, p.optional) for p in found] == [
        ("T *", "list", "out", "", False),
        ("const int *", "numbers", "in", "n", False),
        ("int", "n", "", "", False),
        ("void **", "why", "out", "", True),
        ("const C *", "config", "stream", "s", False),
    ]
    assert ", ".join(p.text for p in found[1:4]) == "const int *numbers, int n, void **why"
    for wrong in ("int", "optional int *n", "in(n const int *a", "int (*f)(void)"):
        with pytest.raises(ValueError, match="not a parameter"):
            parameters(wrong)


def test_hip_functions_of_the_table_are_called() -> None:
    """What libcuda calls by the table is called somewhere; that all calls are in the table, the compiler says."""
    sources = "".join(path.read_text() for path in native.SHIM.rglob("*.c"))
    called = {f"hip{name}" for name in re.findall(r"\bhip\.([A-Z]\w+)", sources)}
    called |= {name for row in functions() for name in re.findall(r"\bhip[A-Z]\w+(?=\()", row.call)}
    assert called == {row.symbol for row in hip.functions() if row.shim}


def test_proc_address_answers_what_the_table_says(shim: SimpleNamespace) -> None:
    for row in functions():
        for suffix, since, flags in (("", row.since, 0), ("_ptsz", row.ptsz, 2), ("_ptds", row.ptds, 2)):
            if since:
                result, pointer, status = ask(shim, row.name, since, flags)
                symbol = shim.ffi.addressof(shim.cuda, row.symbol + suffix)
                if flags == 0 or since >= row.since:
                    assert (result, status) == (0, 0)
                    assert shim.ffi.cast("uintptr_t", pointer) == shim.ffi.cast("uintptr_t", symbol), (
                        row.symbol + suffix
                    )


def test_the_newest_version_up_to_the_asked_one(shim: SimpleNamespace) -> None:
    def symbol_of(version: int) -> int:
        return int(shim.ffi.cast("uintptr_t", ask(shim, "cuCtxCreate", version)[1]))

    expected = {
        2000: "cuCtxCreate",
        3020: "cuCtxCreate_v2",
        11030: "cuCtxCreate_v2",
        12000: "cuCtxCreate_v3",
        13000: "cuCtxCreate_v4",
    }
    for version, symbol in expected.items():
        assert symbol_of(version) == int(shim.ffi.cast("uintptr_t", shim.ffi.addressof(shim.cuda, symbol)))


def test_failures_of_proc_address(shim: SimpleNamespace) -> None:
    assert ask(shim, "cuNothingOfTheKind", 13000)[1:] == (shim.ffi.NULL, NOT_FOUND)
    assert ask(shim, "cuGraphCreate", 9000)[1:] == (shim.ffi.NULL, TOO_OLD)
    assert ask(shim, "", 0)[1:] == (shim.ffi.NULL, NOT_FOUND)
    pointer = shim.ffi.new("void **")
    assert shim.cuda.cuGetProcAddress_v2(b"cuNothing", pointer, 13000, 0, shim.ffi.NULL) == 500
    assert shim.cuda.cuGetProcAddress_v2(b"cuInit", pointer, 13000, 3, shim.ffi.NULL) == 0  # flags are not checked
    assert shim.cuda.cuGetProcAddress_v2(shim.ffi.NULL, pointer, 13000, 0, shim.ffi.NULL) == 1


def test_all_that_the_runtime_of_13_0_asks_for(shim: SimpleNamespace) -> None:
    lines = [line.split("\t") for line in ASKED.read_text().splitlines() if line and not line.startswith("#")]
    missing = [name for name, version, flags in lines if name and ask(shim, name, int(version), int(flags))[2] != 0]
    assert len(lines) > 400
    assert missing == []


def test_absent_features_are_absent_from_attributes(shim: SimpleNamespace) -> None:
    assert {row.absent for row in functions() if row.absent} == set(FEATURES)
    value = shim.ffi.new("int *")
    for number, _ in FEATURES.values():
        assert not number or (shim.cuda.cuDeviceGetAttribute(value, number, 0), value[0]) == (0, 0)


@pytest.mark.parametrize("symbol", ["cuEGLStreamConsumerDisconnect", "cuVDPAUGetDevice"])
def test_what_is_refused_says_so_once(shim: SimpleNamespace, symbol: str, capfd: pytest.CaptureFixture[str]) -> None:
    row = next(row for row in functions() if row.symbol == symbol)
    assert row.disposition == "refused"
    arguments = [shim.ffi.NULL if p.is_pointer else 0 for p in row.takes]
    assert [getattr(shim.cuda, symbol)(*arguments) for _ in range(3)] == [801] * 3
    assert capfd.readouterr().err.count(f"{symbol} is not supported") == 1


def test_most_of_the_api_works() -> None:
    newest = {row.name: row for row in sorted(functions(), key=lambda r: r.since)}
    working = [name for name, row in newest.items() if row.works]
    assert len(working) >= 463


def test_the_page_is_of_this_table() -> None:
    assert PAGE.read_text() == page(), "run `python -m ptx2amd.api.driver.page`"


@pytest.fixture
def typedefs(tmp_path: Path) -> str:
    """NVIDIA's headers that name each function's type after the version from which cuGetProcAddress gives it."""
    (tmp_path / "all.cu").write_text("#include <cudaTypedefs.h>")
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    command = [str(tools.nvcc), *tools.flags, "-M", str(tmp_path / "all.cu")]
    done = subprocess.run(command, capture_output=True, text=True)
    folders = {Path(word).parent for word in done.stdout.split() if word.endswith("/cudaTypedefs.h")}
    if not folders:
        pytest.skip("the toolkit has no headers of function types")
    return "\n".join(path.read_text() for path in folders.pop().glob("cuda*Typedefs.h"))


def test_versions_are_those_of_the_toolkit(typedefs: str) -> None:
    theirs: dict[tuple[str, str], set[int]] = {}
    for name, since, variant in re.findall(r"\*PFN_(cu[A-Z]\w+?)_v(\d+)(_ptds|_ptsz)?\)", typedefs):
        theirs.setdefault((name, variant), set()).add(int(since))
    newest = max(since for versions in theirs.values() for since in versions)
    ours: dict[tuple[str, str], set[int]] = {}
    for row in functions():
        for variant, since in (("", row.since), ("_ptsz", row.ptsz), ("_ptds", row.ptds)):
            if 0 < since <= newest:
                ours.setdefault((row.name, variant), set()).add(since)
    assert len(theirs) > 500
    assert {key: versions for key, versions in theirs.items() if ours.get(key) != versions} == {}
