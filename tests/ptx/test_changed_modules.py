"""ptxas and the front end agree about almost-right modules: texts of directives, heads, variables, initial values and
calls, with one or two of their tokens changed. The sibling of the changed forms of statements (test_rows.py)."""

from __future__ import annotations

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.parse import parse_module
from ptx2amd.ptx.verify import problems
from tests import oracle
from tests.ptx import snippets, snippets_modules
from tests.ptx.differences import MODULES_KNOWN

TOKEN = re.compile(r'\s+|"[^"\n]*"|[A-Za-z_$%.][\w$%]*|\d[\w.]*|.', re.S)
TEXTS = [
    *((snippets.HEADER, text) for text in snippets.MODULE_ACCEPTED),
    *((snippets_modules.HEADER, text) for text in (*snippets_modules.ACCEPTED, *snippets_modules.CALLS)),
]
WORDS = sorted({word for _, text in TEXTS for word in TOKEN.findall(text) if not word.isspace()})


def mutant(draw: random.Random) -> tuple[str, str]:
    """Header and text, with one or two tokens left out, doubled, exchanged, replaced, put in, or run together."""
    header, text = draw.choice(TEXTS)
    tokens = TOKEN.findall(text)
    for _ in range(draw.choice((1, 1, 2))):
        at = draw.randrange(len(tokens))
        change = draw.randrange(6)
        if change == 0:
            tokens[at] = ""
        elif change == 1:
            tokens[at] += " " + tokens[at]
        elif change == 2:
            to = draw.randrange(len(tokens))
            tokens[at], tokens[to] = tokens[to], tokens[at]
        elif change == 3:
            tokens[at] = draw.choice(WORDS)
        elif change == 4:
            tokens[at] += f" {draw.choice(WORDS)} "
        elif tokens[at].isspace():
            tokens[at] = ""
    return header, "".join(tokens)


def ours(text: str) -> str:
    """The front end's first error, or ""."""
    try:
        return "".join(str(error) for error in problems(parse_module(text))[:1])
    except PtxError as error:
        return str(error)


def disagreements(texts: list[tuple[str, str]]) -> list[str]:
    texts = [(header, text) for header, text in dict.fromkeys(texts) if not MODULES_KNOWN.search(text)]
    with ThreadPoolExecutor(2) as pool:
        judged = list(pool.map(lambda pair: oracle.run(f"{pair[0]}{pair[1]}\n", "sm_90a"), texts))
    found = []
    for (header, text), (accepted, output) in zip(texts, judged, strict=True):
        mine = ours(f"{header}{text}\n")
        if bool(mine) == accepted and "Memory allocation" not in output:
            found.append(f"{text}\n    we say: {mine or 'accepted'}\n    ptxas says: {output.strip() or 'accepted'}")
    return found


def drawn(seed: int, count: int) -> list[tuple[str, str]]:
    draw = random.Random(f"modules {seed}")
    return [mutant(draw) for _ in range(count)]


def test_the_texts_themselves() -> None:
    assert disagreements([(snippets_modules.HEADER, text) for text in snippets_modules.CALLS]) == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_changed_modules(seed: int) -> None:
    differ = disagreements(drawn(seed, 100 if seed == 0 else 500))
    assert differ == [], "\n".join(differ)


def test_linkage_of_functions_declared_twice() -> None:
    """The second time it is the same or left out; nothing comes after the body."""
    linkages = ("", ".visible ", ".extern ", ".weak ")
    forms = ("{a}{k}; {b}{k} {{ret;}}", "{a}{k} {{ret;}} {b}{k};", "{a}{k}; {b}{k}; {a}{k} {{ret;}}")
    texts = [
        form.format(a=first, b=second, k=kind)
        for form in forms for first in linkages for second in linkages for kind in (".func f9()", ".entry f9()")
    ]  # fmt: skip
    assert disagreements([(snippets_modules.HEADER, text) for text in texts]) == []
