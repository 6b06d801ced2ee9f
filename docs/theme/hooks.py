"""MkDocs hooks: the pages that stand in the root of the repository, for GitHub, are pages of the site too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
#: File in the root -> page of the site.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(?=[)#])")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of the root, with their links as seen from docs/."""
    for name, page in PAGES.items():
        text = _LINK.sub(lambda link: _from_root(link[1]), (ROOT / name).read_text())
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links of other pages to files of the root lead to their pages here."""
    for name, target in PAGES.items():
        up = "../" * page.file.src_uri.count("/")
        markdown = markdown.replace(f"]({up}../{name}", f"]({up}{target}")
    return markdown


def _from_root(link: str) -> str:
    return PAGES.get(link, link.removeprefix("docs/"))
