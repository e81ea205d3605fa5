"""The border of reading: what a library raises at damaged bytes becomes one line of ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from gangsaw.codecs.core.errors import ChunkError, CorruptChunk, GangsawError, first_line

Piece = TypeVar("Piece")
# whose errors are no network's, where a store has an address
OWN = {"builtins", "gangsaw", "numcodecs", "numpy", "zarr", "zlib"}


@contextmanager
def reading(where: str, variable: str = "") -> Iterator[None]:
    """Raise whatever a library raises within as CorruptChunk, which names file and variable.

    Errors of the machine stay what they are: memory that is full, files that may not be opened,
    connections that are lost. The engine tells by them whether to try again.
    """
    what = f"{where}: {variable}" if variable else where
    try:
        yield
    except ChunkError as error:
        if error.store is not None or where in error.reason:
            raise
        raise error.at(store=what) from None
    except (GangsawError, MemoryError):
        raise
    except Exception as error:
        if _is_of_machine(error, where):
            raise
        raise CorruptChunk(f"{what} cannot be read: {_told(error)}") from error


def _is_of_machine(error: Exception, where: str) -> bool:
    """Whether an error is of a disk, a network or a right; those of bad bytes have no number."""
    if "://" in where:
        return isinstance(error, OSError) or type(error).__module__.partition(".")[0] not in OWN
    passing = ConnectionError | TimeoutError | FileNotFoundError | PermissionError
    return isinstance(error, passing) or (isinstance(error, OSError) and error.errno is not None)


def pieces_read(where: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces of what is read once, with the same border."""
    own = iter(pieces)
    while True:
        with reading(where):
            try:
                piece = next(own)
            except StopIteration:
                return
        yield piece


def _told(error: BaseException) -> str:
    """Return the first lines of an error and of its first cause: GDAL's own says "Read failed"."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return first_line(error) if cause is error else f"{first_line(error)}: {first_line(cause)}"
