"""`ptx2amd cache`: list, check and trim the cache of translated kernels."""

from __future__ import annotations

import sys
from collections import Counter

import click

from ptx2amd.service import cache as store
from ptx2amd.service.entry import EntryError
from ptx2amd.settings.values import EXPECTED, number_of


def size(value: str) -> int:
    """A size as in settings: 20000, 512M, 4G."""
    number = number_of("bytes", value)
    if number is None:
        raise click.BadParameter(f"{value}: expected {EXPECTED['bytes']}")
    return int(number)


@click.group(short_help="List, check and trim the cache of translated kernels.")
def command() -> None:
    """List, check and trim the cache of translated kernels."""


@command.command("list")
def list_entries() -> None:
    """List the entries: kind, kernel, arch, mapping, size."""
    root = store.directory()
    total: Counter[str] = Counter()
    for item in sorted(store.stored(root), key=lambda item: item.used):
        try:
            lines = list(store.read(item.path).lines())
        except (EntryError, OSError) as error:
            click.echo(f"damaged: {error}")
            continue
        fields = {line[0]: " ".join(line[1:]) for line in reversed(lines)}  # the module's before those of its kernels
        kind = "kernel" if "arch" in fields else "outline" if "outline" in fields else "module"
        what = f"sm_{fields['target']}" if "target" in fields else ""
        if kind == "kernel":
            what = f"{fields['arch']:8} {fields['mapping']:7} {fields['name']}"
        click.echo(f"{kind:7} {item.size:9,} {what}")
        total[kind] += 1
        total["bytes"] += item.size
    click.echo(f"{root}: {total['kernel']} kernels, {total['module']} modules, {total['bytes']:,} bytes")


@command.command()
def check() -> None:
    """Verify every entry; exit status 1 if one is damaged."""
    problems = store.damaged(store.directory())
    for problem in problems:
        click.echo(problem)
    click.echo(f"{len(problems)} damaged")
    sys.exit(bool(problems))


@command.command()
@click.option("--limit", type=size, help="Keep this much, such as 512M (default: PTX2AMD_CACHE_LIMIT).")
def trim(limit: int | None) -> None:
    """Delete the least recently used entries."""
    trimmed = store.trim(store.directory(), store.limit() if limit is None else limit)
    click.echo(f"{trimmed.freed:,} bytes freed")


@command.command()
def clear() -> None:
    """Delete all entries."""
    click.echo(f"{store.trim(store.directory(), 0).freed:,} bytes freed")
