"""Regrouping of the pieces of a stream, of any length, into steps of equal length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.library_errors import convert_errors_of_pieces
from gangsaw.tasks.sources.source import Description, Stream

Pieces = Iterator[Mapping[str, NumpyArray]]


class Backlog:
    """Buffer for rows of a growing array that do not fill a step (whole chunks) yet."""

    def __init__(self, array: Description) -> None:
        self.array, self.n_rows, self.is_whole = array, 0, False
        self._parts: list[NumpyArray] = []

    def add(self, samples: NumpyArray) -> None:
        """Append samples; raise BadParams if dtype or shape differ from the announced ones."""
        if samples.dtype != self.array.dtype or samples.shape[1:] != self.array.shape[1:]:
            raise BadParams(
                f"{self.array.name} was announced as {self.array.dtype} of {self.array.shape[1:]}, "
                f"the stream gave {samples.dtype} of {samples.shape[1:]}"
            )
        self._parts.append(samples)
        self.n_rows += len(samples)

    def take(self, n: int) -> NumpyArray:
        """Remove and return the first n rows."""
        whole = self._joined()
        self._parts, self.n_rows = [whole[n:]], len(whole) - n
        return whole[:n]

    def sample(self, n: int) -> NumpyArray:
        """Return n rows without removing them; repeat rows if there are too few so far.

        After the end of the stream, the result may have fewer rows.
        """
        whole = self._joined()
        self._parts = [whole]
        if self.is_whole or len(whole) >= n:
            return whole[:n]
        return np.resize(whole, (n, *whole.shape[1:]))

    def _joined(self) -> NumpyArray:
        none = np.empty((0, *self.array.shape[1:]), self.array.dtype)
        return self._parts[0] if len(self._parts) == 1 else np.concatenate([none, *self._parts])


def row_bytes(array: Description) -> int:
    """Return the bytes of one row, which is an item of the first axis."""
    return max(1, math.prod(array.shape[1:]) * array.dtype.itemsize)


def read_sample(stream: Stream, lengths: Mapping[str, int]) -> tuple[dict[str, Backlog], Pieces]:
    """Read a stream until one array has the given number of rows, or to its end.

    Returns the buffered rows of each array and the iterator over the remaining pieces. Raises
    BadParams for pieces whose dtype or shape differ from the announced ones.

    Parameters
    ----------
    stream : stream to read
    lengths : number of rows to read for each array, by name
    """
    rows = {array.name: Backlog(array) for array in stream.arrays}
    pieces = convert_errors_of_pieces(stream.name, stream.pieces())
    while all(part.n_rows < lengths[name] for name, part in rows.items()):
        piece = next(pieces, None)
        if piece is None:
            for part in rows.values():
                part.is_whole = True
            break
        _add(rows, piece)
    return rows, pieces


def regroup(
    rows: Mapping[str, Backlog], pieces: Pieces, lengths: Mapping[str, int]
) -> Iterator[tuple[str, int, NumpyArray]]:
    """Cut a stream into steps; yield array name, first row and samples of each.

    Parameters
    ----------
    rows : buffered rows by array name, which come first
    pieces : remaining pieces of the stream
    lengths : rows of a step by array name; the last step may be shorter
    """
    at = dict.fromkeys(rows, 0)
    yield from _full(rows, lengths, at)
    for piece in pieces:
        _add(rows, piece)
        yield from _full(rows, lengths, at)
    for name, part in rows.items():
        if part.n_rows:
            yield name, at[name], part.take(part.n_rows)


def _full(
    rows: Mapping[str, Backlog], lengths: Mapping[str, int], at: dict[str, int]
) -> Iterator[tuple[str, int, NumpyArray]]:
    for name, part in rows.items():
        while part.n_rows >= lengths[name]:
            yield name, at[name], part.take(lengths[name])
            at[name] += lengths[name]


def _add(rows: Mapping[str, Backlog], piece: Mapping[str, NumpyArray]) -> None:
    for name, samples in piece.items():
        rows[name].add(samples)
