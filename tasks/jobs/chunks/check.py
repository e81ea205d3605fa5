"""Chunk function of `verify`: comparison of a chunk with its record and its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.streams import Copies, own_stream
from gangsaw.codecs.core.errors import CorruptChunk, GangsawError
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.jobs.chunks.device import DeviceCoder, process_or_split, runs_on_gpu
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.arrays.chunks import ArrayCoder, borrow_coder, chunk_key
from gangsaw.tasks.store.dataset.carried import without_padding
from gangsaw.tasks.store.dataset.texts import count_bytes
from gangsaw.tasks.store.dataset.unpacked import is_equal_unpacked, is_packed
from gangsaw.tasks.store.objects.prefix import Prefix, retry_read
from gangsaw.tasks.store.state.records import Records, check_stored

Found: TypeAlias = "NumpyArray | CorruptChunk"  # samples of a chunk, or its error


@dataclass(frozen=True)
class CheckResult:
    """Result of the verification of a batch of chunks.

    Attributes
    ----------
    chunks : number of checked chunks
    raw_bytes, stored_bytes : bytes of the correct chunks
    problems : one line per faulty chunk
    new : stored bytes and checksum of each chunk without a record, by chunk number
    """

    chunks: int
    raw_bytes: int
    stored_bytes: int
    problems: tuple[str, ...]
    new: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckChunks:
    """Batch function of `verify` that checks the chunks of one array.

    Attributes
    ----------
    place : store prefix of the array
    metadata : zarr.json of the array
    source : array with the expected samples; None if only the stored bytes are checked
    known : number of chunks with a record in the manifest along each axis; None if all have one
    is_foreign : True for an array of another program, whose chunks have no record
    """

    place: Prefix
    metadata: bytes
    source: SourceArray | None
    known: tuple[int, ...] | None = None
    is_foreign: bool = False

    @property
    def is_remote(self) -> bool:
        """True if the array is read over a network."""
        return self.place.is_remote

    def address(self, expected: Records) -> str:
        """Return the name of the batch used in messages."""
        return f"{self.place}, {expected.batch.start}..{expected.batch.stop - 1}"

    def commit(self, _: Sequence[CheckResult]) -> None:
        """Do nothing, as a check writes nothing."""

    def begin(self, expected: Records) -> bool:
        """Start the reads of the chunks; return False if too many are in flight or none helps."""
        rows = zip(expected.batch, expected.rows["stored"].tolist(), strict=True)
        return all(self.place.begin(chunk_key(self.metadata, n), size) for n, size in rows)

    def ready(self, expected: Records) -> None:
        """Wait for the reads that `begin` started."""
        for number in expected.batch:
            self.place.ready(chunk_key(self.metadata, number))

    def forget(self, expected: Records) -> None:
        """Discard the reads that `begin` started."""
        for number in expected.batch:
            self.place.forget(chunk_key(self.metadata, number))

    def __call__(self, expected: Records) -> CheckResult:
        """Decode the chunks of these manifest records; compare them with records and source."""
        rows = zip(expected.batch, expected.rows, strict=True)
        new: dict[int, tuple[int, int]] = {}
        with borrow_coder(self.metadata) as coder:
            found = (self._decoded(coder, *row, new) for row in rows)
            return self._compare_all(coder, expected, found, new)

    def on_device(self, several: Sequence[Records]) -> list[CheckResult]:
        """Check the chunks of several batches in one launch on the GPU of this process."""
        if not runs_on_gpu(self.metadata, "decode"):
            return [self(expected) for expected in several]
        coder = DeviceCoder(self.metadata)
        rows = [row for e in several for row in zip(e.batch, e.rows, strict=True)]
        new: dict[int, tuple[int, int]] = {}
        with name_failed_chunk(str(self.place)), own_stream() as copies:
            found = iter(self._decoded_on_device(coder, rows, copies, new))
        return [self._compare_all(coder.host, expected, found, new) for expected in several]

    def _compare_all(
        self,
        coder: ArrayCoder,
        expected: Records,
        found: Iterable[Found],
        new: Mapping[int, tuple[int, int]],
    ) -> CheckResult:
        """Compare decoded chunks with their source; list the faulty ones instead of raising.

        Parameters
        ----------
        found : samples of each chunk, or the error of decoding it
        new : stored bytes and checksum of chunks without a record, by chunk number
        """
        raw_bytes, stored_bytes = 0, 0
        problems = []
        for number, row, samples in zip(expected.batch, expected.rows, found, strict=False):
            key = coder.key(number)
            with name_failed_chunk(f"{self.place}/{key}"):
                try:
                    raw_bytes += self._check(coder, number, samples)
                    stored_bytes += int(row["stored"])
                except CorruptChunk as error:
                    problems.append(str(error.at(store=str(self.place), chunk=key)))
        own = {number: new[number] for number in expected.batch if number in new}
        return CheckResult(len(expected.rows), raw_bytes, stored_bytes, tuple(problems), own)

    def _check(self, coder: ArrayCoder, number: int, samples: Found) -> int:
        """Return the number of raw bytes of a chunk; raise CorruptChunk if it is wrong."""
        if isinstance(samples, CorruptChunk):
            raise samples
        if self.source is None:
            return count_bytes(samples)
        # errors below are of the source, not of the store
        with name_failed_chunk(f"{self.source.name} of the source, at {coder.key(number)}"):
            region = coder.grid.region(number)
            wanted = self.source.read(region)
        if not same_items(samples, wanted, coder.array.attrs, region[-1].start if region else 0):
            raise CorruptChunk("the samples differ from the source")
        return count_bytes(samples)

    def _decoded(
        self, coder: ArrayCoder, number: int, row: np.void, new: dict[int, tuple[int, int]]
    ) -> Found:
        stored = self._stored(coder, number, row, new)
        if stored is None:
            return make_unwritten_samples(coder, number)
        return stored if isinstance(stored, CorruptChunk) else _decoded(coder, number, stored)

    def _stored(
        self, coder: ArrayCoder, number: int, row: np.void, new: dict[int, tuple[int, int]]
    ) -> Buffer | CorruptChunk | None:
        """Return the stored bytes of a chunk, or an error if they differ from its record.

        The result is None if the chunk has no record and is absent. Size and checksum of a chunk
        without a record are added to `new`.
        """
        key = coder.key(number)
        with name_failed_chunk(f"{self.place}/{key}"):
            if not self._has_record(coder, number):
                if (data := self.place.get(key)) is not None:
                    new[number] = len(data), crc32c(data.as_numpy_array())
                return data
            try:
                return retry_read(self.place, lambda: _checked_bytes(self.place.get(key), row))
            except CorruptChunk as error:
                return error

    def _has_record(self, coder: ArrayCoder, number: int) -> bool:
        if self.is_foreign or self.known is None:
            return not self.is_foreign
        position = coder.grid.position(number)
        return all(i < n for i, n in zip(position, self.known, strict=True))

    def _decoded_on_device(
        self,
        coder: DeviceCoder,
        rows: Sequence[tuple[int, np.void]],
        copies: Copies,
        new: dict[int, tuple[int, int]],
    ) -> list[Found]:
        def failed(place: int, error: GangsawError) -> CorruptChunk:
            if isinstance(error, CorruptChunk):
                return _undecodable(error)
            with name_failed_chunk(f"{self.place}/{coder.host.key(numbers[place])}"):
                raise error

        read = {n: self._stored(coder.host, n, row, new) for n, row in rows}
        whole = {n: data for n, data in read.items() if not isinstance(data, CorruptChunk | None)}
        numbers = list(whole)
        decoded: list[DeviceArray | CorruptChunk]
        decoded = process_or_split(coder.decode, list(whole.values()), failed)
        chunks = dict(zip(whole, decoded, strict=True))

        def sampled(number: int, data: Buffer | CorruptChunk | None) -> Found:
            if data is None:
                return make_unwritten_samples(coder.host, number)
            chunk = data if isinstance(data, CorruptChunk) else chunks[number]
            if isinstance(chunk, CorruptChunk):
                return chunk
            return coder.clip(number, copies.to_host(chunk))

        return [sampled(number, data) for number, data in read.items()]


def make_unwritten_samples(coder: ArrayCoder, number: int) -> NumpyArray:
    """Return the samples that Zarr reads for an absent chunk: all have the fill value."""
    shape = tuple(s.stop - s.start for s in coder.grid.region(number))
    return np.full(shape, coder.array.fill_value, coder.dtype)


def same_items(a: NumpyArray, b: NumpyArray, attrs: Mapping[str, object], start: int = 0) -> bool:
    """Return True if stored samples equal source samples, apart from padding.

    Packed integers (CF conventions) are compared with floats by their unpacked values.

    Parameters
    ----------
    a, b : stored samples and source samples
    attrs : attributes of the stored array, which describe padding and packing
    start : index of the first item along the last axis
    """
    if is_packed(attrs, a.dtype, b.dtype):
        return is_equal_unpacked(a, b, attrs)
    a, b = (without_padding(part, attrs, start) for part in (a, b))
    return same_bits(a, b)


def same_bits(a: NumpyArray, b: NumpyArray) -> bool:
    """Return True if shape, dtype and all bits are equal, NaN included; byte order may differ."""
    if {a.dtype.kind, b.dtype.kind} & {"T", "O"}:  # items are pointers: compare values
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(a: NumpyArray) -> NDArray[np.uint8]:
    native = a.astype(a.dtype.newbyteorder("="), order="C", copy=False)
    return np.frombuffer(native.tobytes(), np.uint8) if a.ndim == 0 else native.view(np.uint8)


def _checked_bytes(stored: Buffer | None, row: np.void) -> Buffer:
    """Return the stored bytes; raise CorruptChunk unless they match the manifest."""
    if stored is None:
        raise CorruptChunk("missing: Zarr would read fill values here")
    check_stored(stored, row)
    return stored


def _decoded(coder: ArrayCoder, number: int, stored: Buffer) -> Found:
    try:
        return coder.decode(number, stored)
    except CorruptChunk as error:
        return _undecodable(error)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return CorruptChunk(f"cannot be decoded: {error}")


def _undecodable(error: CorruptChunk) -> CorruptChunk:
    """Return the error without its location, which is the coder's in-memory store."""
    return CorruptChunk(f"cannot be decoded: {error.reason}", block=error.block)
