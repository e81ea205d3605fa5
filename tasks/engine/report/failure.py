"""Failure of a chunk, sent from worker to client as text, since not every cause pickles."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from gangsaw.codecs.core.errors import ChunkError

FINAL_ERRNOS = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EISDIR,
    errno.ENOENT,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}


PLACE = "store "  # prefix of chunk errors that name store, chunk and block


class ChunkFailed(Exception):
    """Failure of one chunk.

    Attributes
    ----------
    chunk : address of the chunk
    cause : description of the error, one line
    passing : True if a retry may help
    is_its_own : True if the cause lies in this chunk, so that others may be done
    """

    def __init__(self, chunk: str, cause: str, passing: bool, is_its_own: bool = False) -> None:
        super().__init__(chunk, cause, passing, is_its_own)
        self.chunk, self.cause, self.passing = chunk, cause, passing
        self.is_its_own = is_its_own

    def __str__(self) -> str:
        """Return one line that names the chunk once."""
        names_itself = self.is_its_own and self.cause.startswith(PLACE)
        return self.cause if names_itself else f"chunk {self.chunk}: {self.cause}"


@contextmanager
def name_failed_chunk(chunk: str) -> Iterator[None]:
    """Convert any error within the block to ChunkFailed of this chunk."""
    try:
        yield
    except ChunkFailed:
        raise
    except Exception as error:
        is_its_own = isinstance(error, ChunkError)
        raise ChunkFailed(chunk, _line(error), _is_transient(error), is_its_own) from error


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, ChunkError):
        return str(error)
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _is_transient(error: Exception) -> bool:
    """Return True for errors of networks and disks, which may be transient.

    Errors of arguments and data are final, and so are full disks.
    """
    if isinstance(error, OSError):
        return error.errno not in FINAL_ERRNOS
    ours = ("builtins", "gangsaw", "numpy", "zarr")
    return type(error).__module__.partition(".")[0] not in ours
