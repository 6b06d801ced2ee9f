"""An explanation as a page: facts, then four columns."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import PurePath

from ptx2amd.explain.facts import facts
from ptx2amd.explain.listing import Explanation, Section
from ptx2amd.report import page as report


def page(found: Explanation) -> str:
    """HTML that needs no other file."""
    parts = [report.facts(facts(found))]
    for section in found.sections:
        parts.append(f"<h2>{html.escape(section.name)}</h2>")
        parts.append(report.table(("line", "PTX", "LLVM IR, optimised", "AMDGPU"), _rows(section)))
    return report.page(found.kernel.name, f"{found.origin}, for {found.arch}", parts)


def _rows(section: Section) -> Iterator[str]:
    for row in section.rows:
        if row.place:
            text = html.escape(f"{PurePath(row.place).name}  {row.source.rstrip()}")
            yield f'<tr class="place" title="{html.escape(row.place)}"><td></td><td colspan="3">{text}</td></tr>'
        ptx = f"{row.ptx}\n({row.note})" if row.note else row.ptx
        cells = [
            ("number", str(row.line or "")),
            ("code", ptx),
            ("code", "\n".join(row.ir)),
            ("code", "\n".join(row.code)),
        ]
        yield report.row(cells, "note" if row.note else "")
