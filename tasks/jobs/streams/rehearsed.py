"""A stream that comes once, of which a rehearsal reads the beginning: the job gets that, too."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.source import Coordinate, Description, Stream

Piece = Mapping[str, NumpyArray]


class RehearsedStream:
    """Follows `gangsaw.tasks.source.Stream`; `pieces` may be called again after each rehearsal.

    What rehearsals read stays in memory until the job takes it: the first chunk of each array.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest: Iterator[Piece] | None = None
        self._read: deque[Piece] = deque()

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._stream.name

    @property
    def arrays(self) -> tuple[Description, ...]:
        """The arrays that grow."""
        return self._stream.arrays

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates of the other axes."""
        return self._stream.coords

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""
        return self._stream.attrs

    def as_it_is(self) -> Stream:
        """Return the stream itself where no rehearsal read of it: stages know their own kinds."""
        return self._stream if self._rest is None else self

    def __getattr__(self, name: str) -> object:
        """Return what a stream may have besides, as `notes` and `outcome`."""
        if name.startswith("_"):  # of one that is being copied
            raise AttributeError(name)
        return getattr(self._stream, name)

    def pieces(self) -> Iterator[Piece]:
        """Yield what comes next of each array, from the start."""
        if self._rest is None:
            self._rest = iter(self._stream.pieces())
        return self._kept(self._rest) if rehearsal.is_on() else self._given(self._rest)

    def _kept(self, rest: Iterator[Piece]) -> Iterator[Piece]:
        yield from tuple(self._read)
        for piece in rest:
            self._read.append(piece)
            yield piece

    def _given(self, rest: Iterator[Piece]) -> Iterator[Piece]:
        while self._read:
            yield self._read.popleft()
        yield from rest
