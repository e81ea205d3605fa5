"""The errors of Gangsaw: each says whose fault it is."""

from __future__ import annotations


class GangsawError(Exception):
    """Base of all errors that Gangsaw raises on purpose."""


class BadParams(GangsawError, ValueError):
    """The caller's fault: a parameter, an argument or an input that cannot be encoded."""


class CorruptChunk(GangsawError, ValueError):
    """The bytes' fault. Store and chunk are filled in by the layer that knows them.

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

    def at(self, *, store: str | None = None, chunk: str | None = None) -> CorruptChunk:
        """Return the same error with the place filled in where it was not yet known."""
        return CorruptChunk(
            self.reason,
            store=self.store or store,
            chunk=self.chunk or chunk,
            block=self.block,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling: Dask carries errors from workers to the client."""
        return _corrupt_chunk, (self.reason, self.store, self.chunk, self.block)

    def __str__(self) -> str:
        """Return one line: the place, then the reason."""
        named = (("store", self.store), ("chunk", self.chunk), ("block", self.block))
        where = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        return f"{where}: {self.reason}" if where else self.reason


def _corrupt_chunk(
    reason: str, store: str | None, chunk: str | None, block: int | None
) -> CorruptChunk:
    return CorruptChunk(reason, store=store, chunk=chunk, block=block)


class NewerFormat(GangsawError, ValueError):
    """The bytes are of a format version that this Gangsaw does not know yet."""


class DeviceError(GangsawError, RuntimeError):
    """The machine's fault: CuPy, driver or GPU missing, its memory full, or the device failed."""


class JobFailed(GangsawError, RuntimeError):
    """A job could not finish; the message names the chunks and the first cause."""
