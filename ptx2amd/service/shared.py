"""The shared cache: a second level that several machines or users have, in a folder or behind an fsspec URL.

Entries hold code that is run, and a key names what was translated, not the code: anybody who can write to the place
could store other code under it. So an entry is used only in one of these cases (SECURITY.md):

- it is authenticated with the secret in PTX2AMD_SHARED_CACHE_SECRET, which its writer had too;
- only this user and root can change the folder, its subfolder and the file, as in the first level;
- the user named the place in PTX2AMD_SHARED_CACHE_TRUSTED.

A file is MAGIC, a BLAKE2b-256 of secret, key and entry, and the entry as in the first level."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptx2amd import settings
from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass
from ptx2amd.regex import regex
from ptx2amd.service.entry import Entry, EntryError
from ptx2amd.service.folder import FolderError, NoFolderError, open_file, open_folder
from ptx2amd.service.place import runtime_directory

MAGIC = b"P2ASHR01"
MAC = 32
URL = regex(r"[A-Za-z][\w+.-]*://")
LEAST_SECRET, MOST_SECRET = 16, 64  # bytes; the second: what BLAKE2b takes
SECONDS = 10.0  # for one file; then the place is left alone for a while
PAUSE = 60.0
WARNED = "shared-cache-failed"  # a file beside the service's socket: when the place failed last


class SharedCacheError(Ptx2amdError):
    """A shared cache that cannot be used, with the reason."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A place that is used. secret: b"" where the place itself is trusted. private: a folder that is trusted because
    others cannot change it, which is checked on every read."""

    place: str
    secret: bytes
    private: bool = False

    def get(self, key: str) -> Entry | None:
        """An entry; None where there is none. Raises SharedCacheError for one that does not verify, and for a place
        that does not answer."""
        packed = _in_time(lambda: self._read(key), self.place)
        if packed is None:
            return None
        head = len(MAGIC) + MAC
        mac = self._mac(key, packed[head:])
        if packed[: len(MAGIC)] != MAGIC or not hmac.compare_digest(packed[len(MAGIC) : head], mac):
            raise SharedCacheError(
                f"{self.place}: {_name(key)} does not verify: damaged, or written without the secret"
            )
        try:
            return Entry.unpack(packed[head:], f"{self.place}: {_name(key)}")
        except EntryError as error:
            raise SharedCacheError(str(error)) from None

    def put(self, key: str, packed: bytes) -> None:
        """Write an entry (Entry.pack). Raises SharedCacheError."""
        _in_time(lambda: self._write(key, MAGIC + self._mac(key, packed) + packed), self.place)

    def _mac(self, key: str, packed: bytes) -> bytes:
        return hashlib.blake2b(key.encode() + packed, key=self.secret, digest_size=MAC).digest()

    def _read(self, key: str) -> bytes | None:
        try:
            if self.private:
                return _read_private(Path(self.place) / _name(key))
            if not URL.match(self.place):
                return (Path(self.place) / _name(key)).read_bytes()
            files, root = _file_system(self.place)
            return bytes(files.cat_file(f"{root}/{_name(key)}"))
        except (FileNotFoundError, NoFolderError):
            return None

    def _write(self, key: str, content: bytes) -> None:
        if URL.match(self.place):
            files, root = _file_system(self.place)
            files.makedirs(f"{root}/{key[:2]}", exist_ok=True)
            files.pipe_file(f"{root}/{_name(key)}", content)  # a reader of half a file sees that it does not verify
            return
        import tempfile

        path = Path(self.place) / _name(key)
        with contextlib.suppress(FileExistsError):
            path.parent.mkdir()
            path.parent.chmod(path.parent.parent.stat().st_mode & 0o777)  # all who write to the place write to it too
        handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def fetch(key: str) -> tuple[Entry | None, str]:
    """An entry of the shared cache, and a message for the user if the cache cannot be used."""
    try:
        place = configured()
        return place.get(key) if place else None, ""
    except (SharedCacheError, FolderError) as error:
        return None, f"the shared cache is not used: {error}"


def offer(key: str, packed: bytes) -> str:
    """Write an entry into the shared cache. Returns a message for the user if that fails, but for a place that this
    user may only read."""
    try:
        if place := configured():
            place.put(key, packed)
    except (SharedCacheError, FolderError) as error:
        if not isinstance(error.__cause__, PermissionError):
            return f"the shared cache gets no entries: {error}"
    return ""


def configured() -> Shared | None:
    """The shared cache of the settings; None where there is none. Raises SharedCacheError: it cannot be trusted."""
    place = settings.SHARED_CACHE.text()
    if not place:
        return None
    if path := settings.SHARED_CACHE_SECRET.text():
        return Shared(place, _secret(Path(path)))
    if settings.SHARED_CACHE_TRUSTED.text() == place:
        return Shared(place, b"")
    if URL.match(place):
        raise SharedCacheError(f"{place}: anybody who can write there could have code run: {_remedy(place)}")
    try:
        os.close(open_folder(place)[1])
    except FolderError as error:
        raise SharedCacheError(f"{error}: {_remedy(place)}") from None
    return Shared(place, b"", private=True)


def _remedy(place: str) -> str:
    secret = "set PTX2AMD_SHARED_CACHE_SECRET to a file with a secret that all who write there have"
    return f"{secret}, or, if you trust all of them, PTX2AMD_SHARED_CACHE_TRUSTED={place}"


def _secret(path: Path) -> bytes:
    """The content of a file that others can neither read nor change. Raises SharedCacheError."""
    try:
        _, folder = open_folder(path.absolute().parent)
        try:
            with open(open_file(path.name, folder), "rb") as file:
                others, found = os.fstat(file.fileno()).st_mode & 0o077, file.read(MOST_SECRET + 2).strip()
        finally:
            os.close(folder)
    except (FolderError, OSError) as error:
        raise SharedCacheError(f"PTX2AMD_SHARED_CACHE_SECRET: {path}: {error}") from None
    if others:
        raise SharedCacheError(f"PTX2AMD_SHARED_CACHE_SECRET: {path}: others can read it; chmod 600 it")
    if not LEAST_SECRET <= len(found) <= MOST_SECRET:
        size = f"{LEAST_SECRET} to {MOST_SECRET} bytes"
        raise SharedCacheError(f"PTX2AMD_SHARED_CACHE_SECRET: {path}: has to hold {size} (openssl rand -hex 32)")
    return found


def _read_private(path: Path) -> bytes:
    """A file that others cannot have changed. Raises FolderError, OSError."""
    _, folder = open_folder(path.parent)
    try:
        with open(open_file(path.name, folder), "rb") as file:
            return file.read()
    finally:
        os.close(folder)


def _name(key: str) -> str:
    return f"{key[:2]}/{key}.p2s"


def _file_system(place: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise SharedCacheError(f"{place}: a URL needs fsspec: pip install ptx2amd[shared]") from None
    files, root = url_to_fs(place)
    return files, str(root).rstrip("/")


def _in_time(work: Callable[[], Any], place: str) -> Any:
    """The result of work(). Raises SharedCacheError for its errors, and if it takes too long: programs do not wait for
    a server that is gone."""
    mark = runtime_directory() / WARNED
    with contextlib.suppress(OSError):
        if time.time() - mark.stat().st_mtime < PAUSE:
            raise SharedCacheError(f"{place}: did not answer, and is left alone for a while")
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((work(), None))
        except Exception as error:  # the URL's library raises what it likes
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    value, error = outcome[0] if outcome else (None, TimeoutError(f"no answer in {SECONDS:g} s"))
    if error is None:
        return value
    if isinstance(error, (SharedCacheError, FolderError)):
        raise error
    if not isinstance(error, PermissionError):
        with contextlib.suppress(OSError):
            mark.touch(mode=0o600)
    raise SharedCacheError(f"{place}: {type(error).__name__}: {error}") from error
