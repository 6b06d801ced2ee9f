"""README and docs/. Protects: a reader who follows a link arrives, and generated pages are those of the tables."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.codegen.workarounds import page as workarounds
from tests import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The places in a page that a link can name, as GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    broken = []
    for link in LINK.findall(text):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            broken.append(link)
    assert broken == []


def test_the_site_builds() -> None:
    """`make docs`: every page is in the navigation, and all links and anchors lead somewhere."""
    pytest.importorskip("mkdocs", reason="needs the extra `docs`")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(ROOT / "build" / "site-test")],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    built = (ROOT / "build" / "site-test" / "index.html").read_text()
    assert "quickstart.html" in built and (ROOT / "build" / "site-test" / "images" / "profile.png").exists()


def test_links_of_the_site_are_checked(tmp_path: Path) -> None:
    """A link to nothing ends the build, also one from a page in the root of the repository."""
    pytest.importorskip("mkdocs", reason="needs the extra `docs`")
    docs, theme = tmp_path / "docs", tmp_path / "docs" / "theme"
    shutil.copytree(ROOT / "docs" / "theme", theme, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("# Title\n")
    config = (ROOT / "mkdocs.yml").read_text().partition("nav:\n")[0].replace("plugins: [search]", "plugins: []")
    (tmp_path / "mkdocs.yml").write_text(config)
    (docs / "page.md").write_text("# Page\n\n## Part\n")
    for link, status in (("docs/page.md#part", 0), ("docs/page.md#nowhere", 1), ("docs/none.md", 1)):
        (tmp_path / "README.md").write_text(f"# Title\n\n[link]({link})\n")
        command = [sys.executable, "-m", "mkdocs", "build"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode == status, link


def test_workarounds() -> None:
    assert workarounds.PAGE.read_text() == workarounds.page()


def test_counts_in_readme_are_the_measured_ones() -> None:
    counts = json.loads((ROOT / "docs" / "support" / "clients.json").read_text())
    table = (ROOT / "README.md").read_text().partition("| client |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) >= 10
    for row in table:
        name, _, *shown = (cell.strip() for cell in row.strip("|").split("|"))
        measured = [counts[name].get(arch, {}) for arch in ("gfx942", "gfx1100")]
        assert shown == [str(m.get(key, "")) for m in measured for key in ("passed", "failed")], name


def test_numbers_in_readme_are_not_better_than_the_measured_ones() -> None:
    counts = json.loads((ROOT / "docs" / "support" / "clients.json").read_text())
    measured = [client["gfx942"] for client in counts.values() if "gfx942" in client]
    text = " ".join((ROOT / "README.md").read_text().split())
    stated = re.search(r"([\d,]+) tests of (\d+) third-party programs pass as gfx942, ([\d,]+) fail", text)
    assert stated
    passed, programs, failed = (int(number.replace(",", "")) for number in stated.groups())
    assert passed <= sum(one.get("passed", 0) for one in measured) and programs <= len(measured)
    assert failed >= sum(one.get("failed", 0) for one in measured)
