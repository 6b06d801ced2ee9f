"""Run by suites.py under `ptx2amd run`: StringZillas' distances, scores and fingerprints on the GPU, against Python and
its own serial code."""

import random
from functools import partial

import cases
import numpy as np
import stringzilla as sz
import stringzillas as szs

random.seed(1)
GPU, CPU = szs.DeviceScope(gpu_device=0), szs.DeviceScope()


def words(count: int, longest: int, letters: str = "acgt") -> list[str]:
    return ["".join(random.choices(letters, k=random.randint(1, longest))) for _ in range(count)]


def edits(a: str, b: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1]


def levenshtein(longest: int) -> None:
    a, b = words(12, longest), words(9, longest)
    got = szs.LevenshteinDistances(capabilities=("cuda",))(sz.Strs(a), sz.Strs(b), device=GPU)
    np.testing.assert_array_equal(got, [[edits(left, right) for right in b] for left in a])


def scores(engine: type, longest: int) -> None:
    """Alignments with costs between classes of letters."""
    generator = np.random.default_rng(2)
    classes = (np.arange(256) % 32).astype(np.uint8)
    costs = generator.integers(-4, 8, (32, 32))
    costs = np.triu(costs).astype(np.int8) + np.triu(costs, 1).T.astype(np.int8)  # symmetric: the GPU swaps the strings
    a, b = sz.Strs(words(12, longest)), sz.Strs(words(9, longest))
    got, wanted = (
        engine(classes, costs, open=-3, extend=-1, capabilities=(name,))(a, b, device=scope)
        for name, scope in (("cuda", GPU), ("serial", CPU))
    )
    np.testing.assert_array_equal(got, wanted)
    assert len(np.unique(wanted)) > 5


def fingerprints() -> None:
    texts = sz.Strs(words(30, 200, "abcdefghij "))
    got, wanted = (
        szs.Fingerprints(ndim=64, capabilities=(name,))(texts, device=scope)
        for name, scope in (("cuda", GPU), ("serial", CPU))
    )
    for mine, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


cases.run(
    {
        "Levenshtein, short": partial(levenshtein, 20),
        "Levenshtein, long": partial(levenshtein, 150),
        "Needleman-Wunsch": partial(scores, szs.NeedlemanWunschScores, 60),
        "Smith-Waterman": partial(scores, szs.SmithWatermanScores, 60),
        "fingerprints": fingerprints,
    }
)
