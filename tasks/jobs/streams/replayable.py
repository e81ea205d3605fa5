"""Stream that can be read only once, buffered so that the job also gets what a dry run read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.sources.source import Coordinate, Description, Stream

Piece = Mapping[str, NumpyArray]


class ReplayableStream:
    """`Stream` that a job can read from the start after a dry run has read its first pieces.

    Pieces that a dry run read stay in memory until the job consumes them: the first chunk of each
    array.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest: Iterator[Piece] | None = None
        self._read: deque[Piece] = deque()

    @property
    def name(self) -> str:
        """Name of the stream used in messages."""
        return self._stream.name

    @property
    def arrays(self) -> tuple[Description, ...]:
        """Arrays that grow along their first axis."""
        return self._stream.arrays

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates of the axes that do not grow."""
        return self._stream.coords

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""
        return self._stream.attrs

    def as_it_is(self) -> Stream:
        """Return the wrapped stream if no dry run read from it, else this one.

        Stages check the class of a stream.
        """
        return self._stream if self._rest is None else self

    def __getattr__(self, name: str) -> object:
        """Return an optional attribute of the stream, such as `notes` and `outcome`."""
        if name.startswith("_"):  # `copy` looks up such names before `_stream` exists
            raise AttributeError(name)
        return getattr(self._stream, name)

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the stream from its start."""
        if self._rest is None:
            self._rest = iter(self._stream.pieces())
        if dry_run.is_on():
            return self._record_pieces(self._rest)
        return self._replay_pieces(self._rest)

    def _record_pieces(self, rest: Iterator[Piece]) -> Iterator[Piece]:
        yield from tuple(self._read)
        for piece in rest:
            self._read.append(piece)
            yield piece

    def _replay_pieces(self, rest: Iterator[Piece]) -> Iterator[Piece]:
        while self._read:
            yield self._read.popleft()
        yield from rest
