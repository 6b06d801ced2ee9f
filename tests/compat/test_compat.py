"""`ptx2amd compat`: a small project, whose programs are right, wrong, refused, crash, hang, or do not build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ptx2amd.compat import toolkit
from ptx2amd.compat.manifest import load, named, ours
from ptx2amd.compat.packages import interpreter
from ptx2amd.compat.runner import Outcome, keep, outcomes
from ptx2amd.compat.sources import fetched
from ptx2amd.compat.toolkit import Toolkit
from ptx2amd.errors import Ptx2amdError

DOUBLE = """
#include <cstdio>
__global__ void twice(int *v) { v[threadIdx.x] *= 2; ANY }
int main(int argc, char **argv) {
  int host[64], *device;
  for (int i = 0; i < 64; i++) host[i] = i + (argc > 1);
  if (cudaMalloc(&device, sizeof host)) return 3;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyDefault);
  twice<<<1, 64>>>(device);
  cudaError_t error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault);
  if (!error) error = cudaGetLastError();
  if (error) return puts(cudaGetErrorString(error)), 1;
  printf("last is %d\\n", host[63]);
}
"""
MANIFEST = """
title = "A small project"
prepare = "touch prepared"

[[programs]]
sources = ["double/*.cu"]
expect = "last is 12[68]$"
arguments = { shifted = "x" }

[[programs]]
name = "wrong"
build = "test -f prepared -a -f $CUDA_HOME/include/cuda.h && $NVCC double/plain.cu -o $OUT"
expect = "last is 64"
known = { wrong = "it doubles" }

[[programs]]
name = "refused"
build = "$NVCC refused.cu -o $OUT"

[[programs]]
name = "crashed"
build = "true"
run = "kill -SEGV $$"

[[programs]]
name = "late"
build = "true"
run = "sleep 20"
limit = 1

[[programs]]
name = "unbuilt"
build = "echo 'it.cu(7): error: no such thing'; echo 1 more; false"
"""
VERDICTS = {
    "plain": "right", "shifted": "right", "wrong": "wrong", "refused": "refused", "crashed": "crashed",
    "late": "out of time", "unbuilt": "not built",
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "small.toml").write_text(MANIFEST)
    (folder / "double").mkdir()
    for name in ("plain", "shifted"):
        (folder / "double" / f"{name}.cu").write_text(DOUBLE.replace("ANY", ""))
    unknown = 'asm volatile("tcgen05.fence::before_thread_sync;");'
    (folder / "refused.cu").write_text(DOUBLE.replace("ANY", unknown))
    return folder


def compat(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptx2amd.cli", "compat", *words, "--work", "work"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def found(project: Path) -> dict[str, Outcome]:
    done = compat(project, "run", "small.toml", "--device", "vgpu:gfx1100")
    assert done.returncode == 1 and len(done.stdout.splitlines()) == len(VERDICTS), done.stderr
    return {outcome.program: outcome for outcome in outcomes(project / "work")}


def test_verdicts(found: dict[str, Outcome]) -> None:
    assert {name: outcome.verdict for name, outcome in found.items()} == VERDICTS
    assert found["plain"].mappings == {"native": 1} and found["plain"].launches == 1


def test_every_failure_has_a_reason(found: dict[str, Outcome]) -> None:
    assert "did not print" in found["wrong"].why and found["wrong"].known == "it doubles"
    assert "tcgen05" in found["refused"].why
    assert "it.cu(7): error: no such thing" in found["unbuilt"].why
    assert found["late"].why == "no end after 1 s"
    unexpected = {name for name, outcome in found.items() if outcome.unexpected}
    assert unexpected == {"refused", "crashed", "late"}


def test_the_report_counts_and_explains(project: Path, found: dict[str, Outcome]) -> None:
    lines = compat(project, "report").stdout.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert dict(zip(cells[0], cells[2], strict=True))["programs"] == "7"
    assert dict(zip(cells[0], cells[2], strict=True))["right"] == "2"
    assert ["small: wrong", "vgpu:gfx1100", "wrong", "it doubles"] in cells
    assert not any("small: plain" in line for line in lines)


def test_a_known_failure_is_no_news(project: Path, found: dict[str, Outcome]) -> None:
    """Nor is anything built or counted twice."""
    before = len(list(outcomes(project / "work")))
    done = compat(project, "run", "small.toml", "--device", "vgpu:gfx1100", "--only", "wrong")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert len(list(outcomes(project / "work"))) == before


def test_the_time_of_a_build_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "slow.toml").write_text('title = "Slow"\n[[programs]]\nname = "it"\nbuild = "sleep 20"\n')
    done = compat(tmp_path, "run", "slow.toml", "--device", "vgpu:gfx1100", "--build-limit", "0.2")
    assert done.returncode == 0 and "not built" in done.stdout and "no end after 0.2 s" in done.stdout, done.stderr


def test_a_script_that_calls_nvcc_has_the_compilers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = toolkit.find()
    replace_tool(monkeypatch, tmp_path, "nvcc", f'exec {tools.nvcc} "$@"')
    assert Toolkit(tmp_path).home == tools.home and (tools.home / "include" / "cuda.h").exists()
    replace_tool(monkeypatch, tmp_path, "nvcc", "exit 1")
    with pytest.raises(Ptx2amdError, match="does not say where its toolkit is"):
        Toolkit(tmp_path).home  # noqa: B018


def test_our_manifests_are_pinned() -> None:
    for manifest in ours():
        for origin in [manifest.origin, *manifest.parts.values()]:
            kind, where, *version = origin.split()
            pinned = kind == "git" and len(version[0]) == 40 and where.startswith("https://")
            assert pinned or kind in ("pypi", "npm", "debian") or (kind == "folder" and manifest.python), manifest.name
        assert all("==" in package for package in [*manifest.packages, *manifest.python]), manifest.name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = 3", "[[programs]]"),
        ("title = 3\n[[programs]]\nname = 'x'", "title is int, not str"),
        ("[[programs]]\nname = 'x'\nexpects = 'y'", "no setting is called expects"),
        ("[[programs]]\nname = 'x'\nexpect = '('", "expect: "),
        ("[[programs]]\nrun = 'x'", "`sources`, or a `name`"),
        ("[[programs]", "small.toml"),
    ],
)
def test_mistakes_in_a_manifest_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "small.toml"
    path.write_text(text)
    with pytest.raises(Ptx2amdError) as error:
        load(path)
    assert says in str(error.value)


def test_an_unknown_project_names_the_known_ones() -> None:
    with pytest.raises(Ptx2amdError, match="polybench"):
        named(("nonesuch",))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A work folder with results of two projects."""
    keep(tmp_path / "work", [Outcome("one", "a", "vgpu:gfx942", "right"), Outcome("one", "b", "vgpu:gfx942", "right")])
    keep(tmp_path / "work", [Outcome("two", "c", "vgpu:gfx1100", "crashed", "signal | 11")])
    return tmp_path


def test_sources_come_from_a_local_folder(tmp_path: Path) -> None:
    """Unpacked, or from a git repository at the pinned commit; neither needs a network."""
    (tmp_path / "mirror" / "unpacked").mkdir(parents=True)
    (tmp_path / "mirror" / "unpacked" / "file.txt").write_text("unpacked")
    repository = tmp_path / "mirror" / "owner" / "name.git"
    repository.mkdir(parents=True)
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for text in ("first", "second"):
        (repository / "file.txt").write_text(text)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", text], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD~"], check=True, capture_output=True, text=True).stdout.strip()
    origin = f"git https://example.invalid/owner/name {commit}"
    for name, wanted in (("unpacked", "unpacked"), ("cloned", "first")):
        folder = tmp_path / "src" / name
        folder.mkdir(parents=True)  # as a submodule's folder is
        assert (fetched(origin, folder, tmp_path / "mirror") / "file.txt").read_text() == wanted
    with pytest.raises(Ptx2amdError, match=r"cannot get git https://example.invalid"):
        fetched(origin, tmp_path / "src" / "nowhere", tmp_path)


def replace_tool(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_sources_from_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a package with a scope; npm is replaced by a script that packs one file and notes its arguments."""
    pack = f"cd {tmp_path}; echo $* > arguments; mkdir -p package; echo code > package/file"
    replace_tool(monkeypatch, tmp_path / "tools", "npm", f"{pack}; tar czf $4/owner-name-1.2.tgz package")
    assert (fetched("npm @owner/name 1.2", tmp_path / "src" / "it") / "file").read_text() == "code\n"
    assert (tmp_path / "arguments").read_text().split()[-1] == "@owner/name@1.2"


def test_sources_from_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of two archives; apt is replaced by a script that brings them."""
    bring = f"echo $* > {tmp_path}/arguments; mkdir n-1.2; echo code > n-1.2/file"
    pack = "tar czf n_1.2.orig.tar.gz n-1.2; tar cJf n_1.2.orig-more.tar.xz n-1.2"
    replace_tool(monkeypatch, tmp_path / "tools", "apt-get", f"{bring}; {pack}")
    monkeypatch.chdir(tmp_path)
    folder = fetched("debian n 1.2-3", Path("src") / "it")
    assert (folder / "file").read_text() == (folder / "more" / "file").read_text() == "code\n"
    assert (tmp_path / "arguments").read_text().split()[-1] == "n=1.2-3"
    assert [path.name for path in (tmp_path / "src").iterdir()] == ["it"]
    replace_tool(monkeypatch, tmp_path / "tools", "apt-get", "echo 'E: You must put deb-src URIs' >&2; exit 100")
    with pytest.raises(Ptx2amdError, match="cannot get debian n 2: E: You must put deb-src"):
        fetched("debian n 2", tmp_path / "src" / "other")


def test_the_report_says_what_has_changed(runs: Path) -> None:
    """Programs that were lost first, then those that were gained or are new."""
    assert compat(runs, "report", "--save", "before.jsonl").returncode == 0
    now = [Outcome("one", "a", "vgpu:gfx942", "wrong"), Outcome("two", "c", "vgpu:gfx1100", "right")]
    keep(runs / "work", [*now, Outcome("new", "d", "vgpu:gfx942", "right")])
    printed = compat(runs, "report", "--against", "before.jsonl").stdout
    assert printed.split("| --- | --- | --- | --- |\n")[-1].splitlines() == [
        "| one: a | vgpu:gfx942 | right | wrong |",
        "| new: d | vgpu:gfx942 | not run | right |",
        "| two: c | vgpu:gfx1100 | crashed | right |",
    ]
    (runs / "other.txt").write_text("no JSON\n")
    done = compat(runs, "report", "--against", "other.txt")
    assert done.returncode and "other.txt has no results" in done.stderr


def test_the_report_as_a_page(runs: Path) -> None:
    """One file with a picture: a square for each project and device, and bars of the failures."""
    assert compat(runs, "report", "--html", "report.html").returncode == 0
    page = (runs / "report.html").read_text()
    picture = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    squares = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert "one, vgpu:gfx942: 2 / 2" in squares and "two, vgpu:gfx1100: 0 / 1" in squares and len(squares) == 4
    assert "crashed" in [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "signal | 11" in page and "2 of 3 runs are right" in page


@pytest.mark.slow
def test_python_packages_have_an_environment_of_their_own(tmp_path: Path) -> None:
    """It is made once, and again when the manifest asks for other packages."""
    python = interpreter(["pip"], tmp_path / "env")
    done = subprocess.run([python, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "env")
    (tmp_path / "env" / "kept").touch()
    interpreter(["pip"], tmp_path / "env")
    assert (tmp_path / "env" / "kept").exists()
    with pytest.raises(Ptx2amdError, match=r"cannot install ./nowhere"):
        interpreter(["./nowhere"], tmp_path / "env")
    assert not (tmp_path / "env" / "kept").exists()
