"""docs/support/libraries.md: `python -m tests.libmap.page` writes it. With `run [LIBRARY ...]` the functions are first
called on AMD's libraries again, and those that succeed are recorded in worked.txt."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from ptx2amd.api.libraries import MAPPED
from ptx2amd.api.mapped import Mapped
from tests.libmap.packages import PACKAGES

CLIENTS = Path(__file__).with_name("clients.json")
WORKED = Path(__file__).with_name("worked.txt")
SAMPLES = Path(__file__).with_name("samples.json")
HIPIFY = Path(__file__).with_name("hipify.json")
NCCL_TESTS = Path(__file__).with_name("nccl_tests.json")
#: What the page says first, and about each library.
NOTES = Path(__file__).with_name("notes")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "support" / "libraries.md"
#: Those that are of no single library, in the record.
CUDA_SAMPLES = "cuda-samples"
#: Outcomes of samples that the page lists, and their titles.
_OUTCOMES = {
    "other": "Samples whose output differs from the comment in their source",
    "refused": "Samples that use an unsupported function or option",
    "failed": "Samples that fail",
    "not tried": "Samples that were not run",
}
#: The same for what is otherwise than on the first chip.
_ELSEWHERE = {
    "right": "with the right numbers there", "ran": "running there", "other": "with other numbers there",
    "refused": "not supported there", "failed": "failing there", "not tried": "not run there",
}  # fmt: skip


def tested(name: str) -> set[str]:
    """The functions of a library that succeed in its test."""
    lines = WORKED.read_text().splitlines() if WORKED.exists() else []
    return {symbol for library, symbol in map(str.split, lines) if library == name}


def _note(name: str) -> str:
    return (NOTES / f"{name}.md").read_text()


def page() -> str:
    rows = ["| library | sonames | ROCm's library | functions | tested | not tested | not supported |"]
    rows += ["| --- " * 7 + "|"]
    rows += [_row(mapped) for mapped in MAPPED]
    rows += ["", *_hipify(), "", *_programs(), "", *_all_samples()]
    parts = [_note("head"), "\n".join(rows) + "\n", *(part for mapped in MAPPED for part in _section(mapped))]
    return "\n".join(parts)


def _row(mapped: Mapped) -> str:
    about, good = mapped.library, tested(mapped.library.name)
    works = {row.symbol for row in mapped.rows if row.works}
    sonames = ", ".join(f"`{soname}`" for soname in about.sonames)
    counts = (len(mapped.rows), len(works & good), len(works - good), len(mapped.rows) - len(works))
    return f"| {about.title} | {sonames} | {about.beneath} | " + " | ".join(map(str, counts)) + " |"


def _hipify() -> Iterator[str]:
    """Of the functions that HIPIFY maps, how many are tested here, as hipify.py recorded it."""
    record = json.loads(HIPIFY.read_text())
    yield "Of the functions that AMD's [HIPIFY](https://github.com/ROCm/HIPIFY) maps in source code (commit"
    yield f"{record['commit'][:7]}; names that a header gives to another function included), these are tested here:"
    yield ""
    yield "| library | HIPIFY maps | tested here | the others |"
    yield "| --- " * 4 + "|"
    for mapped in MAPPED:
        if about := record.get(mapped.library.name):
            others = "; ".join(f"{count}: {why}" for why, count in about["missing"].items())
            good = about["mapped"] - sum(about["missing"].values())
            yield f"| {mapped.library.title} | {about['mapped']} | {good} | {others} |"


#: About single programs.
_NOTES = """\
llama.cpp's, on both chips, is a model with random weights (Q4_1) whose text goes on otherwise than on the CPU in two of
four places. The logits of such models, which ctransformers' cases compare, are as near to the CPU's as they are to be.
XGBoost's cases use one GPU and call none of these libraries."""


def _programs() -> Iterator[str]:
    """Results of unmodified programs, as clients.py recorded them."""
    from tests.libmap.clients import CLIENTS as KNOWN
    from tests.libmap.clients import version

    record = json.loads(CLIENTS.read_text())
    yield "Unmodified programs from PyPI and Debian with `--libraries rocm`, ROCm 7.2 and the software GPU"
    yield "(`python -m tests.libmap.clients`; the cases are those of [clients](clients.md); of CuPy, a sample of its"
    yield "own tests):"
    yield ""
    yield "| program | libraries | chip | passed | failed |"
    yield "| --- " * 5 + "|"
    titles = {mapped.library.name: mapped.library.title for mapped in MAPPED}
    for name, client in KNOWN.items():
        libraries = ", ".join(titles[library] for library in client.libraries) or "none"
        for chip, counts in record.get(name, {}).items():
            sample = f"; every {client.stride}th test" if client.stride > 1 else ""
            told = f"{counts['passed']} | {counts['failed']}"
            yield f"| {name} ({version(client)}{sample}) | {libraries} | {chip} | {told} |"
    yield ""
    yield _NOTES


def _all_samples() -> Iterator[str]:
    record = json.loads(SAMPLES.read_text())
    firsts = [next(iter(chips.values())) for name, chips in record.items() if name != CUDA_SAMPLES]
    results = [result.partition(": ")[0] for one in firsts for result in one["outcomes"].values()]
    tried = [result for result in results if result != "not tried"]
    able = [result for result in tried if result != "refused"]
    good = sum(result in ("right", "ran") for result in able)
    yield f"Of NVIDIA's CUDALibrarySamples, {len(tried)} were tried. {len(tried) - len(able)} use a function or option"
    yield f"that is not supported; of the others, {good} of {len(able)} run ({100 * good // len(able)} %)."
    for part in _samples(CUDA_SAMPLES):
        yield f"\n{part}".rstrip("\n")


def _section(mapped: Mapped) -> Iterator[str]:
    name, good = mapped.library.name, tested(mapped.library.name)
    yield f"## {mapped.library.title}\n\nPackages: {mapped.library.packages}.\n\n{_note(name)}"
    yield from _samples(name)
    if name == "nccl":
        yield from _nccl_tests()
    refused = [row.symbol for row in mapped.rows if not row.works]
    untested = [row.symbol for row in mapped.rows if row.works and row.symbol not in good]
    for what, symbols in (("Not supported", refused), ("Not tested", untested)):
        if symbols:
            yield f"{what}: {', '.join(f'`{symbol}`' for symbol in sorted(symbols))}.\n"


def _samples(name: str) -> Iterator[str]:
    """Results of NVIDIA's samples of a library, as samples.py recorded them."""
    record = json.loads(SAMPLES.read_text()) if SAMPLES.exists() else {}
    if name not in record:
        return
    (chip, about), *others = record[name].items()
    kinds = _kinds(about["outcomes"])
    text = (
        f"NVIDIA's [{about['samples'].partition('/')[2]}](https://github.com/{about['samples']}) "
        f"(commit {about['commit'][:7]}), unmodified, "
        f"with ROCm {about['rocm']} on the software GPU as {chip}: {_share(kinds)} run"
    )
    if kinds.get("right") and name != CUDA_SAMPLES:
        text += f", and {len(kinds['right'])} of these print the numbers in their source's comments"
    yield f"{text}.\n"
    for kind, title in _OUTCOMES.items():
        if kinds.get(kind):
            yield f"{title}: {', '.join(kinds[kind])}.\n"
    for chip, other in others:
        shown = {sample: what for sample, what in other["outcomes"].items() if what != about["outcomes"].get(sample)}
        text = f"As {chip}, {_share(_kinds(other['outcomes']))} run"
        for kind, samples in _kinds(shown).items():
            text += f"; {_ELSEWHERE[kind]}: {', '.join(samples)}"
        yield f"{text}.\n"


def _kinds(outcomes: dict[str, str]) -> dict[str, list[str]]:
    """Samples by the first word of their outcomes, with the reason."""
    kinds: dict[str, list[str]] = {}
    for sample, result in outcomes.items():
        kind, _, why = result.partition(": ")
        kinds.setdefault(kind, []).append(f"`{Path(sample).name}`" + (f" ({why})" if why else ""))
    return kinds


def _share(kinds: dict[str, list[str]]) -> str:
    """How many run."""
    good = len(kinds.get("right", ())) + len(kinds.get("ran", ()))
    return f"{good} of {sum(map(len, kinds.values())) - len(kinds.get('not tried', ()))}"


def _nccl_tests() -> Iterator[str]:
    """What NVIDIA's nccl-tests did, as nccl_tests.py recorded it."""
    if not NCCL_TESTS.exists():
        return
    about = json.loads(NCCL_TESTS.read_text())
    failed = [f"{what} ({result})" for what, result in about["outcomes"].items() if result != "right"]
    programs, gpus, starts = (
        dict.fromkeys(parts) for parts in zip(*(o.split(", ") for o in about["outcomes"]), strict=True)
    )
    yield (
        f"NVIDIA's [nccl-tests](https://github.com/NVIDIA/nccl-tests) (commit {about['commit'][:7]}), unmodified, "
        f"with ROCm {about['rocm']} on {' or '.join(gpus)} in software ({about['chip']}), ranks in "
        f"{' or '.join(starts)} ({', '.join(programs)}): {len(about['outcomes']) - len(failed)} of "
        f"{len(about['outcomes'])} runs have correct results.\n"
    )
    every = (", ".join(parts) for parts in product(programs, gpus, starts))
    if missing := [what for what in every if what not in about["outcomes"]]:
        yield f"Not run: {'; '.join(missing)}.\n"
    if failed:
        yield f"Runs that fail: {', '.join(failed)}.\n"


def run(names: list[str]) -> None:
    """Call the functions of libraries on ROCm's, and record those that succeed. names: the libraries; empty: all."""
    from tests import rocm
    from tests.libmap import on_rocm

    lines = []
    for mapped in MAPPED:
        if names and mapped.library.name not in names:
            lines += [f"{mapped.library.name} {symbol}\n" for symbol in sorted(tested(mapped.library.name))]
            continue
        name, soname = mapped.library.name, next(iter(mapped.library.sonames))
        found = on_rocm.calls(rocm.fetch("7.2", *PACKAGES[name]), "gfx1100", name, soname, 2 if name == "nccl" else 1)
        if found.wrong:
            sys.exit(f"{name}: wrong: {found.wrong}")
        lines += [f"{name} {symbol}\n" for symbol in sorted(found.worked)]
    WORKED.write_text("".join(lines))


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run(sys.argv[2:])
    PAGE.write_text(page())
