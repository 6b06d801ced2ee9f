"""The shared cache: what one user has translated another need not translate, and what somebody else could have written
is not used unless it is authenticated, or the user trusts the place by name."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from ptx2amd.service import entry, shared, translation
from ptx2amd.service.build_id import build_id
from ptx2amd.service.protocol import Message
from ptx2amd.service.shared import SharedCacheError

PTX = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
SECRET = "0123456789abcdef0123456789abcdef\n"


def ask(folder: Path, kernel: str = "k") -> Message:
    """The answer of the service to a user whose own cache is `folder`."""
    header = {"op": "kernel", "module": entry.module_id(PTX), "encoding": "none", "size": "0", "cache": str(folder),
              "name": "t.ptx", "arch": "gfx942", "kernel": kernel}  # fmt: skip
    return translation.answer(Message(header, PTX), build_id())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that everybody can write to, as the shared cache."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("PTX2AMD_SHARED_CACHE", str(folder))
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("PTX2AMD_RUNTIME_DIR", str(runtime))
    return folder


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "secret"
    path.write_text(SECRET)
    path.chmod(0o600)
    monkeypatch.setenv("PTX2AMD_SHARED_CACHE_SECRET", str(path))
    return path


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


@pytest.fixture
def translations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that are translated."""
    seen: list[str] = []
    real = translation.kernel_entry
    monkeypatch.setattr(translation, "kernel_entry", lambda *a, **k: (seen.append(a[1]), real(*a, **k))[1])
    return seen


def test_one_user_translates_for_the_other(place: Path, secret: Path, translations: list[str], tmp_path: Path) -> None:
    first, second = ask(tmp_path / "first"), ask(tmp_path / "second")
    assert first.header["status"] == second.header["status"] == "ok" and "note" not in second.header
    assert translations == ["k"] and first.body == second.body
    assert second.header["stored"] == "1", "the next run finds it in the own cache"
    assert [path.stat().st_mode & 0o777 for path in files(place)] == [0o644]


def test_a_place_that_others_can_write_to_is_not_used(place: Path, translations: list[str], tmp_path: Path) -> None:
    answers = [ask(tmp_path / name) for name in ("first", "second")]
    assert translations == ["k", "k"] and files(place) == []
    assert "can be written to by others" in answers[0].header["note"]
    assert "PTX2AMD_SHARED_CACHE_SECRET" in answers[0].header["note"]


def test_a_place_that_is_trusted_by_name(
    place: Path, translations: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTX2AMD_SHARED_CACHE_TRUSTED", str(place.parent))  # another one
    ask(tmp_path / "first")
    assert files(place) == []
    monkeypatch.setenv("PTX2AMD_SHARED_CACHE_TRUSTED", str(place))
    ask(tmp_path / "second"), ask(tmp_path / "third")
    assert translations == ["k", "k"] and len(files(place)) == 1


def test_a_folder_of_this_user_alone_needs_no_more(place: Path, translations: list[str], tmp_path: Path) -> None:
    place.chmod(0o755)
    ask(tmp_path / "first"), ask(tmp_path / "second")
    assert translations == ["k"]


@pytest.mark.parametrize("what", ["subfolder", "file", "link"])
def test_an_entry_that_others_can_have_changed_is_not_used(
    place: Path, translations: list[str], tmp_path: Path, what: str
) -> None:
    place.chmod(0o755)
    ask(tmp_path / "first")
    [path] = files(place)
    if what == "link":
        os.rename(path, tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        (path.parent if what == "subfolder" else path).chmod(0o777)
    again = ask(tmp_path / "second")
    assert again.header["status"] == "ok" and "the shared cache is not used" in again.header["note"]
    assert translations == ["k", "k"]


def test_all_who_can_write_to_the_place_can_write_to_its_subfolders(place: Path, secret: Path, tmp_path: Path) -> None:
    ask(tmp_path / "first")
    [path] = files(place)
    assert path.parent.stat().st_mode & 0o777 == 0o777


def _forged(place: Path, path: Path) -> None:
    """What another user writes who does not have the secret: other code, with all digests as they should be."""
    made = entry.Entry("name k\n", b"other code").pack()
    mac = shared.Shared(str(place), b"")._mac(path.stem, made)
    path.unlink()
    path.write_bytes(shared.MAGIC + mac + made)


def _cut(place: Path, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _changed(place: Path, path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _renamed(place: Path, path: Path) -> None:
    """A good entry of another kernel in the place of this one."""
    other = shared.Shared(str(place), SECRET.strip().encode())
    other.put("ab" * 32, entry.Entry("name other\n", b"code").pack())
    os.replace(place / "ab" / ("ab" * 32 + ".p2s"), path)


@pytest.mark.parametrize("damage", [_forged, _cut, _changed, _renamed])
def test_what_does_not_verify_is_not_used(
    place: Path, secret: Path, translations: list[str], tmp_path: Path, damage
) -> None:
    good = ask(tmp_path / "first")
    [path] = files(place)
    damage(place, path)
    again = ask(tmp_path / "second")
    assert again.header["status"] == "ok" and again.body[64:80] == good.body[64:80]
    assert translations == ["k", "k"] and "does not verify" in again.header["note"]


@pytest.mark.parametrize(("mode", "text", "why"), [(0o644, SECRET, "others can read it"), (0o600, "short", "16 to 64")])
def test_secrets_that_are_none(place: Path, secret: Path, tmp_path: Path, mode: int, text: str, why: str) -> None:
    secret.write_text(text)
    secret.chmod(mode)
    assert why in ask(tmp_path / "first").header["note"] and files(place) == []


def test_a_url(secret: Path, translations: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("PTX2AMD_SHARED_CACHE", "memory://cluster/ptx2amd")
    ask(tmp_path / "first"), ask(tmp_path / "second")
    assert translations == ["k"]
    assert len(fsspec.filesystem("memory").find("/cluster/ptx2amd")) == 1
    monkeypatch.delenv("PTX2AMD_SHARED_CACHE_SECRET")
    assert "anybody who can write there" in ask(tmp_path / "third").header["note"]


def test_a_place_that_does_not_answer_does_not_hold_programs_up(
    place: Path, secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "SECONDS", 0.2)
    monkeypatch.setattr(shared.Shared, "_read", lambda *_: __import__("time").sleep(5))
    assert "no answer" in ask(tmp_path / "first").header["note"]
    with pytest.raises(SharedCacheError, match="left alone"):
        shared.Shared(str(place), b"x" * 16).get("ab" * 32)


def test_the_layout_is_the_documented_one(place: Path, secret: Path, tmp_path: Path) -> None:
    ask(tmp_path / "first")
    [path] = files(place)
    content = path.read_bytes()
    assert content[:8] == b"P2ASHR01" and content[40:48] == entry.MAGIC
    assert struct.unpack_from("<I", content, 48)[0] > 0
