"""README and docs/. Protects: a reader who follows a link arrives, and generated pages are those of the tables."""

from __future__ import annotations

import json
import re
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
