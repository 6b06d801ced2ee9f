"""One HTML file with its style inside, light or dark as the reader's system is."""

from __future__ import annotations

import html
from collections.abc import Container, Iterable

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5d6878; --paper: #ffffff; --panel: #f3f5f8; --line: #d9dee6;
  --good: #1a7f4b; --warn: #9a6200; --bad: #b3261e; --mark: #fff4d6; --accent: #2457a6; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe5ee; --soft: #93a0b4; --paper: #12161d; --panel: #1a202a;
  --line: #2d3644; --good: #5ecb93; --warn: #e5b04a; --bad: #ff8a80; --mark: #3a3214; --accent: #86b1f5; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1.5em 2em; max-width: 1800px; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.3em; margin: 0 0 .2em; overflow-wrap: anywhere; } h2 { font-size: 1.05em; margin: 1.6em 0 .4em; }
p.lead { color: var(--soft); margin: 0 0 1em; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15em 1em; background: var(--panel); padding: .8em 1em;
  border-radius: 6px; margin: 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--soft); font-weight: 600;
  position: sticky; top: 0; background: var(--paper); }
td { white-space: pre-line; } td, th { padding: .25em .7em; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { color: var(--soft); text-align: right; font-variant-numeric: tabular-nums; }
code, pre, td.code { font: 12.5px/1.5 ui-monospace, monospace; }
td.code { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 12em; }
tr.place td { background: var(--panel); color: var(--accent); font: 12.5px/1.5 ui-monospace, monospace;
  white-space: pre-wrap; } tr.note td { background: var(--mark); } tr:hover td { background: var(--panel); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .soft { color: var(--soft); }
.bar { display: flex; height: 12px; border-radius: 6px; overflow: hidden; margin: .8em 0; background: var(--line); }
.bar .good { background: var(--good); } .bar .warn { background: var(--warn); } .bar .bad { background: var(--bad); }
"""


def page(title: str, lead: str, parts: Iterable[str]) -> str:
    """A page; parts: HTML that goes below its title."""
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = f'<h1>{html.escape(title)}</h1>\n<p class="lead">{html.escape(lead)}</p>\n' + "\n".join(parts)
    return f"{head}{view}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of facts, as text."""
    return "<dl>" + "".join(f"<dt>{html.escape(a)}</dt><dd>{html.escape(b)}</dd>" for a, b in rows) + "</dl>"


def table(head: Iterable[str], rows: Iterable[str], numbers: Container[str] = ()) -> str:
    """A table; rows: HTML, of `row`; numbers: titles of columns of numbers."""
    titles = "".join(f"<th{' class=number' if title in numbers else ''}>{html.escape(title)}</th>" for title in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table>"


def row(cells: Iterable[tuple[str, str]], kind: str = "") -> str:
    """A row of a table; cells: (class, text)."""
    made = "".join(f'<td class="{name}">{html.escape(text)}</td>' for name, text in cells)
    return f'<tr class="{kind}">{made}</tr>' if kind else f"<tr>{made}</tr>"
