"""cuSPARSE's conversions of earlier releases: formats, sorting, pruning, compression, colors, against numpy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.handle import TYPES
from tests.libmap.sparse import DATA_TYPE, Sparse, blocks, compressed, coordinates, of_blocks, restored

ROW, COLUMN, NUMERIC = 0, 1, 1
HEIGHT, WIDTH = 2, 3


def inside(a: Array) -> Array:
    """Which numbers are in blocks of a matrix, zeros too."""
    starts, at, values = blocks(a, HEIGHT, WIDTH)
    shape = (len(starts) - 1, a.shape[1] // WIDTH)
    return of_blocks(shape, starts, at, np.ones(len(values)), HEIGHT, WIDTH) > 0


class Conversions(Sparse):
    def parts(self, a: Array) -> tuple[Device, Device, Device]:
        offsets, columns, values = map(self.on, compressed(a))
        return offsets, columns, values

    def empty(self, lines: int, count: int, letter: str) -> tuple[Device, Device, Device]:
        return (
            self.on(np.zeros(lines + 1, np.int32)),
            self.on(np.zeros(count, np.int32)),
            self.on(np.zeros(count, TYPES[letter])),
        )

    def found(self, what: str, parts: tuple[Device, Device, Device], expected: Array) -> None:
        for one, part in zip(parts, compressed(expected), strict=True):
            self.same(what, one.now(), part)

    def indices(self) -> None:
        m, n = 14, 11
        for base in (0, 1):
            a = self.matrix("S", m, n)
            offsets, _, _ = compressed(a, base)
            rows, _, _ = coordinates(a, base)
            count, on_rows, on_offsets = len(rows), self.on(np.zeros_like(rows)), self.on(np.zeros_like(offsets))
            self.call("Xcsr2coo", self.on(offsets), count, m, on_rows, base)
            self.same("Xcsr2coo", on_rows.now(), rows)
            self.call("Xcoo2csr", self.on(rows), count, m, on_offsets, base)
            self.same("Xcoo2csr", on_offsets.now(), offsets)
        order = self.on(np.zeros(20, np.int32))
        self.call("CreateIdentityPermutation", 20, order)
        self.same("CreateIdentityPermutation", order.now(), np.arange(20))

    def sorting(self) -> None:
        m, n = 14, 11
        rows, columns, _ = coordinates(self.matrix("S", m, n))
        count = len(rows)
        mixed = self.client.draw.permutation(count)
        for name, keys in (("ByRow", (columns, rows)), ("ByColumn", (rows, columns))):
            on_rows, on_columns, order = (
                self.on(rows[mixed]),
                self.on(columns[mixed]),
                self.on(np.arange(count, dtype=np.int32)),
            )
            buffer = self.buffer("Xcoosort_bufferSizeExt", m, n, count, on_rows, on_columns)
            self.call(f"Xcoosort{name}", m, n, count, on_rows, on_columns, order, buffer)
            expected = np.lexsort([key[mixed] for key in keys])
            self.same(f"rows {name}", on_rows.now(), rows[mixed][expected])
            self.same(f"columns {name}", on_columns.now(), columns[mixed][expected])
            self.same(f"order {name}", order.now(), expected)
        for name in ("csr", "csc"):
            a, descr = self.matrix("S", m, n), self.description()
            offsets, places, _ = compressed(a if name == "csr" else a.T)
            order = np.concatenate([start + self.client.draw.permutation(end - start)
                                    for start, end in pairwise(offsets)])  # fmt: skip
            count, on, back = len(places), self.on(places[order]), self.on(np.arange(len(places), dtype=np.int32))
            at = self.on(offsets)
            buffer = self.buffer(f"X{name}sort_bufferSizeExt", m, n, count, at, on)
            self.call(f"X{name}sort", m, n, count, descr, at, on, back, buffer)
            self.same(f"X{name}sort", on.now(), places)
            self.same(f"X{name}sort's order", order[back.now()], np.arange(count))

    def transposed(self, letter: str) -> None:
        m, n = 14, 11
        a, kind = self.matrix(letter, m, n), DATA_TYPE[letter]
        offsets, columns, values = self.parts(a)
        count = len(columns.values)
        starts, rows, turned = self.empty(n, count, letter)
        given = (m, n, count, values, offsets, columns, turned, starts, rows, kind, NUMERIC, 0, 1)
        self.call("Csr2cscEx2", *given, self.buffer("Csr2cscEx2_bufferSize", *given))
        self.found(f"Csr2cscEx2 {letter}", (starts, rows, turned), a.T)

    def dense(self, letter: str) -> None:
        m, n = 14, 11
        a, descr = self.matrix(letter, m, n), self.description()
        for name, part in (("csr", a), ("csc", a.T)):
            offsets, places, values = self.parts(part)
            on = self.on(np.ones((n, m), TYPES[letter]))
            two = (offsets, places) if name == "csr" else (places, offsets)
            self.call(f"{letter}{name}2dense", m, n, descr, values, *two, on, m)
            self.same(f"{letter}{name}2dense", on.now().reshape(n, m).T, a)
            total, each = np.zeros(1, np.int32), self.on(np.zeros(len(part), np.int32))
            source = self.on(a.T)
            self.call(f"{letter}nnz", ROW if name == "csr" else COLUMN, m, n, descr, source, m, each, total)
            self.same(f"{letter}nnz", each.now(), np.count_nonzero(part, axis=1))
            self.client.check(f"{letter}nnz: {total}", total[0] == np.count_nonzero(a))
            found = self.empty(len(part), total[0], letter)
            two = (found[0], found[1]) if name == "csr" else (found[1], found[0])
            self.call(f"{letter}dense2{name}", m, n, descr, source, m, each, found[2], *two)
            self.found(f"{letter}dense2{name}", found, part)

    def square_blocks(self, letter: str) -> None:
        rows, columns, side, descr = 5, 4, 3, self.description()
        m, n = rows * side, columns * side
        for direction in (ROW, COLUMN):
            a = self.matrix(letter, m, n, 0.1)
            offsets, places, values = self.parts(a)
            starts, total = self.on(np.zeros(rows + 1, np.int32)), np.zeros(1, np.int32)
            self.call("Xcsr2bsrNnz", direction, m, n, descr, offsets, places, side, descr, starts, total)
            expected = blocks(a, side, side, by_column=direction == COLUMN)
            self.client.check(f"Xcsr2bsrNnz: {total}", total[0] == len(expected[1]))
            at, numbers = self.on(np.zeros(total[0], np.int32)), self.on(self.numbers(letter, total[0] * side * side))
            self.call(
                f"{letter}csr2bsr", direction, m, n, descr, values, offsets, places, side, descr, numbers, starts, at
            )
            for one, part in zip((starts, at, numbers), expected, strict=True):
                self.same(f"{letter}csr2bsr", one.now(), part)
            back = self.empty(m, total[0] * side * side, letter)
            self.call(f"{letter}bsr2csr", direction, rows, columns, descr, numbers, starts, at, side, descr, back[2],
                      back[0], back[1])  # fmt: skip
            self.same(f"{letter}bsr2csr", restored((m, n), *(one.now() for one in back)), a)

    def oblong_blocks(self, letter: str) -> None:
        rows, columns, descr = 6, 4, self.description()
        m, n = rows * HEIGHT, columns * WIDTH
        for direction in (ROW, COLUMN):
            by_column = direction == COLUMN
            a = self.matrix(letter, m, n, 0.1)
            offsets, places, values = self.parts(a)
            starts, total = self.on(np.zeros(rows + 1, np.int32)), np.zeros(1, np.int32)
            about = (direction, m, n, descr)
            given = (*about, values, offsets, places, HEIGHT, WIDTH)
            self.buffer(f"{letter}csr2gebsr_bufferSize", *given, kind="int")
            buffer = self.buffer(f"{letter}csr2gebsr_bufferSizeExt", *given)
            self.call("Xcsr2gebsrNnz", *about, offsets, places, descr, starts, HEIGHT, WIDTH, total, buffer)
            expected = blocks(a, HEIGHT, WIDTH, by_column=by_column)
            self.client.check(f"Xcsr2gebsrNnz: {total}", total[0] == len(expected[1]))
            at, numbers = (
                self.on(np.zeros(total[0], np.int32)),
                self.on(self.numbers(letter, total[0] * HEIGHT * WIDTH)),
            )
            self.call(
                f"{letter}csr2gebsr", *about, values, offsets, places, descr, numbers, starts, at, HEIGHT, WIDTH, buffer
            )
            for one, part in zip((starts, at, numbers), expected, strict=True):
                self.same(f"{letter}csr2gebsr", one.now(), part)
            back = self.empty(m, total[0] * HEIGHT * WIDTH, letter)
            self.call(f"{letter}gebsr2csr", direction, rows, columns, descr, numbers, starts, at, HEIGHT, WIDTH, descr,
                      back[2], back[0], back[1])  # fmt: skip
            self.same(f"{letter}gebsr2csr", restored((m, n), *(one.now() for one in back)), a)
            self.other_blocks(letter, direction, (rows, columns), (starts, at, numbers), a)
            if direction == ROW:
                self.turned_blocks(letter, (rows, columns), (starts, at, numbers), a)

    def other_blocks(
        self, letter: str, direction: int, shape: tuple[int, int], parts: tuple[Device, Device, Device], a: Array
    ) -> None:
        """Blocks of another size."""
        height, width, descr, total = 3, 2, self.description(), np.zeros(1, np.int32)
        starts, at, numbers = parts
        about = (direction, *shape, len(at.values), descr)
        sizes = (HEIGHT, WIDTH, height, width)
        self.buffer(f"{letter}gebsr2gebsr_bufferSize", *about, numbers, starts, at, *sizes, kind="int")
        buffer = self.buffer(f"{letter}gebsr2gebsr_bufferSizeExt", *about, numbers, starts, at, *sizes)
        new = self.on(np.zeros(len(a) // height + 1, np.int32))
        self.call("Xgebsr2gebsrNnz", *about, starts, at, HEIGHT, WIDTH, descr, new, height, width, total, buffer)
        expected = blocks(a, height, width, by_column=direction == COLUMN, where=inside(a))
        self.client.check(f"Xgebsr2gebsrNnz: {total}", total[0] == len(expected[1]))
        places, values = (
            self.on(np.zeros(total[0], np.int32)),
            self.on(np.zeros(total[0] * height * width, TYPES[letter])),
        )
        given = (*about, numbers, starts, at, HEIGHT, WIDTH, descr, values, new, places, height, width, buffer)
        self.call(f"{letter}gebsr2gebsr", *given)
        for one, part in zip((new, places, values), expected, strict=True):
            self.same(f"{letter}gebsr2gebsr", one.now(), part)

    def turned_blocks(
        self, letter: str, shape: tuple[int, int], parts: tuple[Device, Device, Device], a: Array
    ) -> None:
        """Blocks column by column: their places are transposed, their numbers are not."""
        starts, at, numbers = parts
        about = (*shape, len(at.values), numbers, starts, at, HEIGHT, WIDTH)
        self.buffer(f"{letter}gebsr2gebsc_bufferSize", *about, kind="int")
        buffer = self.buffer(f"{letter}gebsr2gebsc_bufferSizeExt", *about)
        new, places = self.on(np.zeros(shape[1] + 1, np.int32)), self.on(np.zeros_like(at.values))
        values = self.on(np.zeros_like(numbers.values))
        self.call(f"{letter}gebsr2gebsc", *about, values, places, new, NUMERIC, 0, buffer)
        found = values.now().reshape(-1, HEIGHT, WIDTH).transpose(0, 2, 1).ravel()
        turned = of_blocks(shape[::-1], new.now(), places.now(), found, WIDTH, HEIGHT)
        self.same(f"{letter}gebsr2gebsc", turned, a.T)

    def compression(self, letter: str) -> None:
        """Small numbers are left out."""
        m, n, descr, tol = 14, 11, self.description(), 0.5
        a = self.matrix(letter, m, n)
        offsets, columns, values = self.parts(a)
        kept = np.where(abs(a) > tol, a, 0)
        each, total = self.on(np.zeros(m, np.int32)), np.zeros(1, np.int32)
        limit = [tol, 0.0] if letter in "CZ" else tol
        call = getattr(self.client.library, f"cusparse{letter}nnz_compress")
        kinds = self.ffi.typeof(getattr(self.client.plain, f"cusparse{letter}nnz_compress")).args
        given = (values.pointer, offsets.pointer, each.pointer, self.client.address(total))
        pointers = [self.ffi.cast(kind, one) for kind, one in zip(kinds[3:7], given, strict=True)]
        status = call(self.handle, m, descr, *pointers, limit)
        self.client.check(
            f"{letter}nnz_compress: {status}, {total}", status == 0 and total[0] == np.count_nonzero(kept)
        )
        self.same("in each row", each.now(), np.count_nonzero(kept, axis=1))
        found = self.empty(m, total[0], letter)
        call = getattr(self.client.library, f"cusparse{letter}csr2csr_compress")
        kinds = self.ffi.typeof(getattr(self.client.plain, f"cusparse{letter}csr2csr_compress")).args
        given = (m, n, descr, values.pointer, columns.pointer, offsets.pointer, len(columns.values), each.pointer,
                 found[2].pointer, found[1].pointer, found[0].pointer)  # fmt: skip
        cast = [self.ffi.cast(kind, one) for kind, one in zip(kinds[1:12], given, strict=True)]
        status = call(self.handle, *cast, limit)
        self.client.check(f"{letter}csr2csr_compress: {status}", status == 0)
        self.found(f"{letter}csr2csr_compress", found, kept)

    def unsorted(self, letter: str) -> None:
        """Columns in each row are sorted, and back in their first order."""
        m, n, descr, info = 14, 11, self.description(), self.new("csru2csrInfo_t", "CreateCsru2csrInfo")
        a = self.matrix(letter, m, n)
        offsets, columns, values = compressed(a)
        order = np.concatenate([start + self.client.draw.permutation(end - start)
                                for start, end in pairwise(offsets)])  # fmt: skip
        at, on_columns, on_values = self.on(offsets), self.on(columns[order]), self.on(values[order])
        given = (m, n, len(columns))
        buffer = self.buffer(f"{letter}csru2csr_bufferSizeExt", *given, on_values, at, on_columns, info)
        self.call(f"{letter}csru2csr", *given, descr, on_values, at, on_columns, info, buffer)
        self.same(f"{letter}csru2csr", on_columns.now(), columns)
        self.same(f"{letter}csru2csr's numbers", on_values.now(), values)
        self.call(f"{letter}csr2csru", *given, descr, on_values, at, on_columns, info, buffer)
        self.same(f"{letter}csr2csru", on_columns.now(), columns[order])
        self.same(f"{letter}csr2csru's numbers", on_values.now(), values[order])
        self.ok("DestroyCsru2csrInfo", info)

    def pruned(self, letter: str) -> None:
        """Below a threshold, or a share of the numbers."""
        m, n, descr = 14, 11, self.description()
        a, threshold = self.matrix(letter, m, n, 0.5), self.scalar(letter, 0.5)
        info, percentage = self.new("pruneInfo_t", "CreatePruneInfo"), 40.0
        offsets, columns, values = self.parts(a)
        dense = (m, n, self.on(a.T), m)
        sparse = (m, n, len(columns.values), descr, values, offsets, columns)
        for source, given, of in (("Dense", dense, a.size), ("Csr", sparse, np.count_nonzero(a))):
            last = np.sort(abs(a[a != 0] if source == "Csr" else a.ravel()))
            cut = last[max(int(np.ceil(of * percentage / 100)) - 1, 0)]
            for ending, limit, extra, below in (
                ("", threshold, (), abs(threshold[0])),
                ("ByPercentage", percentage, (info,), cut),
            ):
                self.prune(letter, f"prune{source}2csr", ending, (*given, limit), extra, np.where(abs(a) > below, a, 0))
        self.ok("DestroyPruneInfo", info)

    def prune(
        self, letter: str, name: str, ending: str, given: tuple[Any, ...], extra: tuple[Any, ...], expected: Array
    ) -> None:
        descr, total, null = self.description(), np.zeros(1, np.int32), self.ffi.NULL
        starts = self.on(np.zeros(len(expected) + 1, np.int32))
        buffer = self.buffer(f"{letter}{name}{ending}_bufferSizeExt", *given, descr, null, starts, null, *extra)
        self.call(f"{letter}{name}Nnz{ending}", *given, descr, starts, total, *extra, buffer)
        self.client.check(f"{letter}{name}Nnz{ending}: {total}", total[0] == np.count_nonzero(expected))
        _, columns, values = self.empty(0, total[0], letter)
        self.call(f"{letter}{name}{ending}", *given, descr, values, starts, columns, *extra, buffer)
        self.found(f"{letter}{name}{ending}", (starts, columns, values), expected)

    def colors(self, letter: str) -> None:
        """Neighbors have different ones."""
        n, info = 25, self.new("cusparseColorInfo_t", "CreateColorInfo")
        a = self.matrix(letter, n, n, 0.1)
        a = (abs(a + a.T) > 0).astype(TYPES[letter]) + np.eye(n, dtype=TYPES[letter])
        offsets, columns, values = self.parts(a)
        share = np.ones(1, np.float32 if letter in "SC" else np.float64)
        count, color, order = np.zeros(1, np.int32), self.on(np.full(n, -1, np.int32)), self.on(np.zeros(n, np.int32))
        given = (n, len(columns.values), self.description(), values, offsets, columns)
        self.call(f"{letter}csrcolor", *given, share, count, color, order, info)
        found, pairs = color.now(), np.argwhere(a - np.diag(np.diag(a)))
        self.client.check(f"{letter}csrcolor: {found}", found.min() == 0 and found.max() == count[0] - 1)
        self.client.check(f"{letter}csrcolor of neighbors", all(found[i] != found[j] for i, j in pairs))
        self.client.check(f"{letter}csrcolor's order", sorted(order.now()) == list(range(n)))
        self.ok("DestroyColorInfo", info)

    def check_all(self) -> None:
        self.indices()
        self.sorting()
        for letter in "SDCZ":
            self.transposed(letter)
            self.dense(letter)
            self.square_blocks(letter)
            self.oblong_blocks(letter)
            self.compression(letter)
            self.unsorted(letter)
            self.colors(letter)
        for letter in "SD":
            self.pruned(letter)
