"""Exceptions of Gangsaw, one for each party at fault: caller, bytes, version, device, job."""

from __future__ import annotations

from typing import Self


class GangsawError(Exception):
    """Base class of all errors that Gangsaw raises on purpose.

    See Also
    --------
    BadParams : Error of the caller.
    CorruptChunk : Error of the bytes.
    NewerFormat : Error of the version.
    DeviceError : Error of the machine.
    JobFailed : Error of a job.

    Examples
    --------
    >>> import gangsaw
    >>> try:
    ...     gangsaw.info("missing.zarr")
    ... except gangsaw.GangsawError as error:
    ...     print(type(error).__name__)
    BadParams
    """


class BadParams(GangsawError, ValueError):
    """Error of the caller: a parameter, an argument or an input that cannot be encoded.

    Examples
    --------
    >>> import gangsaw
    >>> try:
    ...     gangsaw.codecs.Bwt(block=1)
    ... except gangsaw.BadParams as error:
    ...     print(error)
    block must be in 64..8388608, got 1
    """


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
    """Error of the bytes: they are damaged, or not what the array's metadata implies.

    Parameters
    ----------
    reason : str
        Description of what is wrong with the bytes.
    store : str, optional
        Name of the store, if it is known.
    chunk : str, optional
        Name of the chunk, if it is known.
    block : int, optional
        Number of the block in the chunk, if it is known.

    Examples
    --------
    >>> import gangsaw
    >>> from gangsaw.codecs import ccsds123
    >>> try:
    ...     ccsds123.decode_stream(bytes(3))
    ... except gangsaw.CorruptChunk as error:
    ...     print(error)
    the stream of 3 bytes ends within its header
    >>> print(gangsaw.CorruptChunk("wrong checksum", store="a.zarr", chunk="c/0", block=3))
    store a.zarr, chunk c/0, block 3: wrong checksum
    """


class NewerFormat(ChunkError):
    """Error of the version: the bytes have a format version that this Gangsaw does not know.

    Parameters
    ----------
    reason : str
        Description of the unknown version.
    store : str, optional
        Name of the store, if it is known.
    chunk : str, optional
        Name of the chunk, if it is known.
    block : int, optional
        Number of the block in the chunk, if it is known.

    Examples
    --------
    >>> import gangsaw
    >>> print(gangsaw.NewerFormat("version 9, this Gangsaw reads 1", chunk="c/0"))
    chunk c/0: version 9, this Gangsaw reads 1
    """


class DeviceError(GangsawError, RuntimeError):
    """Error of the machine: no CuPy, driver, GPU or memory, or the device failed.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.zeros((2, 8, 8), "uint16")
    >>> try:
    ...     summary = gangsaw.compress(cube, "cube.zarr", device="gpu")
    ... except gangsaw.DeviceError:
    ...     summary = gangsaw.compress(cube, "cube.zarr", device="cpu")
    >>> summary.samples
    128
    """


class JobFailed(GangsawError, RuntimeError):
    """Error of a job that could not finish; it names the chunks and the first cause.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.zeros((2, 8, 8), "uint16")
    >>> try:
    ...     summary = gangsaw.compress(cube, "cube.zarr")
    ... except gangsaw.JobFailed:
    ...     summary = gangsaw.compress(cube, "cube.zarr", resume=True)
    >>> summary.chunks
    1
    """


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message: messages of libraries continue with hints."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
