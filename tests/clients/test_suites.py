"""The clients of suites.py against the counts of docs/support/clients.json."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.clients import suites

#: Clients and architectures of which fewer cases pass than once did, and why.
LOWERED: dict[tuple[str, str], str] = {}
KNOWN: suites.Counts = json.loads(suites.COUNTS.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arch"), [(name, arch) for name in KNOWN for arch in KNOWN[name]])
def test_counts_only_go_up(name: str, arch: str) -> None:
    suites.VENVS.mkdir(parents=True, exist_ok=True)
    known = KNOWN[name][arch]
    counts, output = suites.run(name, arch)
    assert counts["passed"] >= known["passed"] and counts["failed"] <= known["failed"], output[-8000:]


def test_the_page_is_up_to_date() -> None:
    assert suites.COUNTS.with_suffix(".md").read_text() == suites.page(KNOWN)


def test_every_client_was_counted() -> None:
    assert set(KNOWN) == set(suites.SUITES)
    assert all(suites.ARCHS[0] in counts for counts in KNOWN.values())


def test_counts_have_only_gone_up() -> None:
    """Against every version of the file that this clone has: more tests may bring failures, but none is lost."""
    commits = git("log", "--format=%H", "--", str(suites.COUNTS)).split()
    for before in (json.loads(git("show", f"{commit}:./{suites.COUNTS.name}")) for commit in commits):
        for name, arch in ((name, arch) for name in before for arch in suites.ARCHS if arch in before[name]):
            then = before[name][arch]
            now = KNOWN.get(name, {}).get(arch, {"passed": 0, "failed": 0})
            fewer = (now["passed"], -now["failed"]) < (then["passed"], -then["failed"])
            assert not fewer or (name, arch) in LOWERED, (name, arch)


def git(*arguments: str) -> str:
    if not shutil.which("git") or not (suites.ROOT / ".git").exists():
        pytest.skip("not in a clone")
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=suites.COUNTS.parent, capture_output=True, text=True)
    return done.stdout if not done.returncode else pytest.skip(done.stderr)


def test_counting() -> None:
    ours = "ok   add\nFAIL matmul: wrong\nok   sort\n2 of 3 operations agree with numpy\n"
    assert suites.count(ours) == {"passed": 2, "failed": 1, "skipped": 0}
    parts = "ERROR: c (t.c) (n=1)\nERROR: c (t.c) (n=2)\n"
    unittest = f"a (t.a) ... ok\nb (t.b) ... skipped 'x'\n{parts}Ran 3 tests in 1s\n\nFAILED (errors=2, skipped=1)\n"
    assert suites.count(unittest) == {"passed": 1, "failed": 1, "skipped": 1}
    pytest = "FAILED a.py::b\n2 failed, 19 passed, 11 skipped, 1 xfailed in 28.46s\n"
    assert suites.count(pytest) == {"passed": 19, "failed": 2, "skipped": 11}
    again = "3 passed, 17 subtests passed in 1s\n== skipped.py\n4 skipped in 0.1s\n1 error in 70s (0:01:10)\n"
    assert suites.count(pytest + again) == {"passed": 22, "failed": 3, "skipped": 15}
