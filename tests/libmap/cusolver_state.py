"""cuSOLVER's handles, streams, versions and wrong arguments."""

from __future__ import annotations

import numpy as np

from tests.libmap.dense import INVALID_VALUE, LEFT, LOWER, NOT_INITIALIZED, NOT_SUPPORTED, VECTORS, Dense, exact

MAJOR, MINOR, PATCH = range(3)


class State(Dense):
    def versions(self) -> None:
        version, part, parts = self.ffi.new("int *"), self.ffi.new("int *"), []
        self.ok("GetVersion", version)
        for which in (MAJOR, MINOR, PATCH):
            self.ok("GetProperty", which, part)
            parts.append(part[0])
        whole = parts[0] * 1000 + parts[1] * 100 + parts[2]
        self.client.check(f"version {version[0]}, {parts}", version[0] == whole and version[0] in (11705, 12004))
        self.answers("a fourth part", INVALID_VALUE, "GetProperty", 3, part)
        self.answers("no place", INVALID_VALUE, "GetVersion", self.ffi.NULL)

    def handles(self) -> None:
        none, place = self.ffi.NULL, self.ffi.new("int *")
        fake = self.ffi.cast("cusolverDnHandle_t", self.ffi.new("char[256]"))
        self.answers("no place", INVALID_VALUE, "DnCreate", none)
        for handle in (none, fake):
            self.answers("no handle", NOT_INITIALIZED, "DnDestroy", handle)
            self.answers("no handle", NOT_INITIALIZED, "DnSetStream", handle, none)
            self.answers("no handle", NOT_INITIALIZED, "DnDgetrf_bufferSize", handle, 2, 2, none, 2, place)
            self.answers("no handle", NOT_INITIALIZED, "DnDpotrs", handle, 0, 1, 1, none, 1, none, 1, none)
        other = self.ffi.new("cusolverDnHandle_t *")
        self.ok("DnCreate", other)
        self.ok("DnDestroy", other[0])

    def streams(self) -> None:
        stream, found = self.ffi.new("cudaStream_t *"), self.ffi.new("cudaStream_t *")
        assert not self.client.cuda.cuStreamCreate(stream, 1)
        self.call("DnSetStream", stream[0])
        self.call("DnGetStream", found)
        self.client.check("the stream", found[0] == stream[0])
        n, a = 8, self.positive("D", 8)
        on, info = self.matrix(a), self.whole(1)
        work, size = self.work("D", "DnDpotrf", LOWER, n, on, n, ...)
        self.call("DnDpotrf", LOWER, n, on, n, work, size, info)
        assert not self.client.cuda.cuStreamSynchronize(stream[0])
        self.close("on a stream", "D", np.tril(on.now()), np.linalg.cholesky(exact(a)), n)
        self.call("DnSetStream", self.ffi.NULL)

    def modes(self) -> None:
        mode = self.ffi.new("int *")
        for wanted in (2, 1):
            self.call("DnSetDeterministicMode", wanted)
            self.call("DnGetDeterministicMode", mode)
            self.client.check(f"mode {mode[0]}", mode[0] == wanted)
        self.answers("no mode", INVALID_VALUE, "DnSetDeterministicMode", self.handle, 7)
        self.answers("no place", INVALID_VALUE, "DnGetDeterministicMode", self.handle, self.ffi.NULL)

    def wrong(self) -> None:
        n, none, place, info = 4, self.ffi.NULL, self.ffi.new("int *"), self.whole(1)
        on, w = self.matrix(np.eye(n)), self.zeros("D", n)
        asked = (self.handle, n, n, on, n)
        self.answers("no place", INVALID_VALUE, "DnDgetrf_bufferSize", *asked, none)
        self.answers("no rows", INVALID_VALUE, "DnDgetrf_bufferSize", self.handle, -1, n, on, n, place)
        for name in ("getrf", "geqrf"):  # whose sizes do not depend on the length of columns
            sizes = []
            for leading in (n, n - 1, 0):
                self.call(f"DnD{name}_bufferSize", n, n, on, leading, place)
                sizes.append(place[0])
            self.client.check(f"{name} with short columns: {sizes}", len(set(sizes)) == 1)
        for uplo in (2, -1):
            self.answers(f"triangle {uplo}", INVALID_VALUE, "DnDpotrf", self.handle, uplo, n, on, n, none, 0, info)
        self.answers("no matrix", INVALID_VALUE, "DnDpotrf", self.handle, LOWER, n, none, n, none, 0, info)
        asked = (self.handle, 5, LOWER, n, on, n, w, place)
        self.answers("no such mode", INVALID_VALUE, "DnDsyevd_bufferSize", *asked)
        asked = (self.handle, VECTORS, 7, LOWER, n, on, n, 0.0, 0.0, 0, 0, place, w, place)
        self.answers("no such range", INVALID_VALUE, "DnDsyevdx_bufferSize", *asked)
        asked = (self.handle, 4, VECTORS, LOWER, n, on, n, on, n, w, place)
        self.answers("no such kind of pair", INVALID_VALUE, "DnDsygvd_bufferSize", *asked)
        asked = (self.handle, LEFT, 9, n, n, n, on, n, w, on, n, place)
        self.answers("no such operation", INVALID_VALUE, "DnDormqr_bufferSize", *asked)
        right, pivots = self.zeros("D", n, 1), self.whole(n)
        self.answers("no operation", INVALID_VALUE, "DnDgetrs", self.handle, 3, n, 1, on, n, pivots, right, n, info)
        for name in ("Gesvdj", "Syevj"):
            self.answers("no place", INVALID_VALUE, f"DnCreate{name}Info", none)

    def refused(self) -> None:
        """What has no counterpart."""
        for name in ("DnDsytri", "SpXcsrluNnzMHost", "DnXpolar"):
            self.answers("refused", NOT_SUPPORTED, name)

    def check_all(self) -> None:
        self.versions()
        self.handles()
        self.streams()
        self.modes()
        self.wrong()
        self.refused()
