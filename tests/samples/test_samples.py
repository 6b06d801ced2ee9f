"""The main job: every CUDA sample, compiled by nvcc and unmodified, passes on the software GPU as gfx942
(two warps in a 64-lane wave, or one where warps wait for each other) and as gfx1100 (32-lane waves); a second
run starts no translation."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuda_samples import build, demo

SAMPLES = Path(__file__).resolve().parents[2] / "cuda_samples"

OUT = SAMPLES.parent / "build" / "samples"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTX2AMD_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("arch", demo.ARCHS)
@pytest.mark.parametrize("name", build.names())
def test_sample(name: str, arch: str) -> None:
    [program] = build.build_all(OUT, [name]).values()
    cold = demo.run(program, arch)
    assert cold.passed, cold.message
    assert cold.launches > 0 and arch in cold.device
    assert set(cold.mappings.values()) == {build.mapping(name) if arch == "gfx942" else "native"}
    assert all(cold.translated.values())
    warm = demo.run(program, arch)
    assert warm.passed, warm.message
    assert warm.translated.keys() == cold.translated.keys()
    assert not any(warm.translated.values()), "the second run translated again"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"))
@pytest.mark.parametrize("name", build.names())
def test_sample_in_weak_memory(name: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far out of order as AMD's documents allow: what the translator orders is enough."""
    [program] = build.build_all(OUT, [name]).values()
    for seed in ("1", "2"):
        monkeypatch.setenv("PTX2AMD_WEAK", seed)
        done = demo.run(program, arch)
        assert done.passed, f"seed {seed}: {done.message}"
