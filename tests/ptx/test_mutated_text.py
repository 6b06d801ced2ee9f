"""Text that is almost PTX: the front end takes it or raises PtxError, and nothing else ever."""

from __future__ import annotations

import random
import re

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.parse import parse_body, parse_module
from tests.ptx import snippets, snippets_modules, snippets_operands

TOKEN = re.compile(r"\s+|[A-Za-z_$%.][\w$%.:]*|\d\w*|.", re.S)
JUNK = (
    *("{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", ".", "|", "!", "-", "+", "@", "=", "_", "%", "$"),
    *('"', "\\", "0", "-1", "1e999", "0x", "0f", "0f7f80000", "99999999999999999999", "/*", "*/", "//"),
    *("\0", "\n", "\r", "\t", "é", ".reg", ".v4", ".b32", ".x", ".align", ".param", ".entry", ".func", ".pred"),
    *(".version 9.0", ".loc 1 2 3", "call"),
)
TEXTS = [
    *(snippets_modules.HEADER + text for text in (*snippets_modules.ACCEPTED, *snippets_modules.REJECTED)),
    *(snippets.HEADER + text for text in (*snippets.MODULE_ACCEPTED, *snippets.MODULE_REJECTED)),
    *(
        f"{snippets_operands.HEADER}.entry kk() {{ {snippets_operands.REGISTERS}\n{text}\nL1: ret; }}"
        for text in (*snippets_operands.ACCEPTED, *snippets_operands.REJECTED)
    ),
    *(
        f"{snippets.HEADER}.entry kk() {{ {snippets.REGISTERS}\n{text}\nL1: ret; }}"
        for text in (*snippets.BODY_ACCEPTED, *snippets.BODY_REJECTED)
    ),
]


def mutated(draw: random.Random) -> str:
    """A text with a few tokens, mostly at its end, dropped, doubled, swapped, or replaced by others or junk."""
    tokens = TOKEN.findall(draw.choice(TEXTS))
    other = TOKEN.findall(draw.choice(TEXTS))
    for _ in range(draw.randrange(1, 4)):
        first = max(0, len(tokens) - 40) if draw.random() < 0.8 else 0
        at = draw.randrange(first, len(tokens))
        change = draw.randrange(6)
        if change == 0:
            tokens[at] = ""
        elif change == 1:
            tokens[at] *= 2
        elif change == 2:
            to = draw.randrange(len(tokens))
            tokens[at], tokens[to] = tokens[to], tokens[at]
        elif change == 3:
            tokens[at] = draw.choice(JUNK)
        elif change == 4:
            tokens[at] += draw.choice(JUNK)
        else:
            tokens[at] = draw.choice(other)
    text = "".join(tokens)
    return text[: draw.randrange(len(text))] if draw.random() < 0.05 else text


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_mutated(seed: int) -> None:
    draw = random.Random(seed)
    for n in range(400 if seed == 0 else 4000):
        text = mutated(draw)
        try:
            module = parse_module(text)
            for function in module.functions.values():
                if function.text:
                    parse_body(module, function)
        except PtxError:
            pass
        except Exception as error:
            raise AssertionError(f"mutant {n} of seed {seed}:\n{text}") from error
