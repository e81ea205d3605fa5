"""Exceptions of Gangsaw, one for each party at fault: caller, bytes, version, device, job."""

from __future__ import annotations

from typing import Self


class GangsawError(Exception):
    """Base class of all errors that Gangsaw raises on purpose."""


class BadParams(GangsawError, ValueError):
    """Error of the caller: a parameter, an argument or an input that cannot be encoded."""


class ChunkError(GangsawError, ValueError):
    """Base class of the errors about the bytes of a chunk; layers that know the chunk add its name.

    Attributes
    ----------
    reason : description of what is wrong with the bytes
    store, chunk, block : name of the store, name of the chunk, number of the block; None if unknown
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
        """Return the same error with store and chunk, unless it has them."""
        return type(self)(
            self.reason,
            store=self.store or store,
            chunk=self.chunk or chunk,
            block=self.block,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Support pickling: Dask sends errors from workers to the client."""
        return _chunk_error, (type(self), self.reason, self.store, self.chunk, self.block)

    def __str__(self) -> str:
        """Return one line: store, chunk and block, then the reason."""
        named = (("store", self.store), ("chunk", self.chunk), ("block", self.block))
        where = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{where}: {self.reason}" if where else self.reason


def _chunk_error(
    kind: type[ChunkError], reason: str, store: str | None, chunk: str | None, block: int | None
) -> ChunkError:
    return kind(reason, store=store, chunk=chunk, block=block)


class CorruptChunk(ChunkError):
    """Error of the bytes: they are damaged, or not what the array's metadata implies."""


class NewerFormat(ChunkError):
    """Error of the version: the bytes have a format version that this Gangsaw does not know."""


class DeviceError(GangsawError, RuntimeError):
    """Error of the machine: no CuPy, driver, GPU or memory, or the device failed."""


class JobFailed(GangsawError, RuntimeError):
    """Error of a job that could not finish; it names the chunks and the first cause."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message: messages of libraries continue with hints."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
