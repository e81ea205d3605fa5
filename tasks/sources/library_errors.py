"""Error boundary of reading: exceptions of a library at damaged bytes become CorruptChunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from gangsaw.codecs.core.errors import ChunkError, CorruptChunk, GangsawError, first_line

Piece = TypeVar("Piece")
# packages whose errors do not come from the network, if the store has an address
OWN = {"builtins", "gangsaw", "numcodecs", "numpy", "zarr", "zlib"}


@contextmanager
def convert_library_errors(where: str, variable: str = "") -> Iterator[None]:
    """Convert exceptions of a library to CorruptChunk with the name of file and variable.

    Errors of the machine are raised unchanged: no memory, no permission, a lost connection. The
    engine decides by their type whether to retry.
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
        raise CorruptChunk(f"{what} cannot be read: {_describe(error)}") from error


def _is_of_machine(error: Exception, where: str) -> bool:
    """Return True for errors of disk, network or permission; errors of bad bytes have no errno."""
    if "://" in where:
        return isinstance(error, OSError) or type(error).__module__.partition(".")[0] not in OWN
    passing = ConnectionError | TimeoutError | FileNotFoundError | PermissionError
    return isinstance(error, passing) or (isinstance(error, OSError) and error.errno is not None)


def convert_errors_of_pieces(where: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces of a stream; see `convert_library_errors` for its exceptions."""
    own = iter(pieces)
    while True:
        with convert_library_errors(where):
            try:
                piece = next(own)
            except StopIteration:
                return
        yield piece


def _describe(error: BaseException) -> str:
    """Return the first lines of an error and of its root cause: GDAL's own is "Read failed"."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return first_line(error) if cause is error else f"{first_line(error)}: {first_line(cause)}"
