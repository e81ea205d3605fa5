"""The errors of Gangsaw: each says whose fault it is."""

from __future__ import annotations

from typing import Self


class GangsawError(Exception):
    """Base of all errors that Gangsaw raises on purpose."""


class BadParams(GangsawError, ValueError):
    """The caller's fault: a parameter, an argument or an input that cannot be encoded."""


class ChunkError(GangsawError, ValueError):
    """Base of the two errors about a chunk. The layer that knows its place fills that in.

    Attributes
    ----------
    reason : what is wrong with the bytes
    store, chunk, block : where, as far as known
    """

    def __init__(
        self,
        reason: str,
        *,
        store: str | None = None,
        chunk: str | None = None,
        block: int | None = None,
    ) -> None:
        super().__init__(reason, store, chunk, block)
        self.reason, self.store, self.chunk, self.block = reason, store, chunk, block

    def at(self, *, store: str | None = None, chunk: str | None = None) -> Self:
        """Return the same error with the place filled in where it was not yet known."""
        return type(self)(
            self.reason,
            store=self.store or store,
            chunk=self.chunk or chunk,
            block=self.block,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling: Dask carries errors from workers to the client."""
        return _chunk_error, (type(self), self.reason, self.store, self.chunk, self.block)

    def __str__(self) -> str:
        """Return one line: the place, then the reason."""
        named = (("store", self.store), ("chunk", self.chunk), ("block", self.block))
        where = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{where}: {self.reason}" if where else self.reason


def _chunk_error(
    kind: type[ChunkError], reason: str, store: str | None, chunk: str | None, block: int | None
) -> ChunkError:
    return kind(reason, store=store, chunk=chunk, block=block)


class CorruptChunk(ChunkError):
    """The bytes' fault: they are damaged, or not what the array's metadata implies."""


class NewerFormat(ChunkError):
    """The bytes are of a format version that this Gangsaw does not know yet."""


class DeviceError(GangsawError, RuntimeError):
    """The machine's fault: CuPy, driver or GPU missing, its memory full, or the device failed."""


class JobFailed(GangsawError, RuntimeError):
    """A job could not finish; the message names the chunks and the first cause."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message: those of libraries go on with hints."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
