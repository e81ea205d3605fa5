"""The chunk function of `verify`: compare a chunk with its record and its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.streams import Copies, own_stream
from gangsaw.codecs.core.errors import CorruptChunk, GangsawError
from gangsaw.tasks.engine.failure import naming
from gangsaw.tasks.jobs.device import DeviceCoder, at_once_or_apart, runs_on_gpu
from gangsaw.tasks.source import SourceArray
from gangsaw.tasks.store.chunks import ArrayCoder, array_coder, chunk_key
from gangsaw.tasks.store.dataset.carried import without_padding
from gangsaw.tasks.store.dataset.texts import bytes_of
from gangsaw.tasks.store.place import Place, read_again
from gangsaw.tasks.store.state.records import Records

Found: TypeAlias = "NumpyArray | CorruptChunk"  # samples of a chunk, or what is wrong with it


@dataclass(frozen=True)
class Checked:
    """Result of a batch.

    Attributes
    ----------
    chunks : that were looked at
    raw_bytes, stored_bytes : of the correct ones
    problems : one line for each other one
    """

    chunks: int
    raw_bytes: int
    stored_bytes: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class CheckChunks:
    """Checks the chunks of one array.

    Attributes
    ----------
    place : of the array
    metadata : its zarr.json
    source : what its samples must equal, or None
    """

    place: Place
    metadata: bytes
    source: SourceArray | None

    @property
    def is_far(self) -> bool:
        """Whether it reads over a network."""
        return self.place.is_far

    def address(self, expected: Records) -> str:
        """Return what messages call the batch."""
        return f"{self.place}, {expected.batch.start}..{expected.batch.stop - 1}"

    def commit(self, _: Sequence[Checked]) -> None:
        """Nothing was written, so nothing has to become safe."""

    def begin(self, expected: Records) -> bool:
        """Begin to read the chunks; False where too much is on its way, or nothing is gained."""
        rows = zip(expected.batch, expected.rows["stored"].tolist(), strict=True)
        return all(self.place.begin(chunk_key(self.metadata, n), size) for n, size in rows)

    def ready(self, expected: Records) -> None:
        """Wait for what `begin` began."""
        for number in expected.batch:
            self.place.ready(chunk_key(self.metadata, number))

    def forget(self, expected: Records) -> None:
        """Let go of what `begin` began."""
        for number in expected.batch:
            self.place.forget(chunk_key(self.metadata, number))

    def __call__(self, expected: Records) -> Checked:
        """Check the chunks that these records of the manifest name."""
        rows = zip(expected.batch, expected.rows, strict=True)
        with array_coder(self.metadata) as coder:
            return self._judged(coder, expected, (self._decoded(coder, *row) for row in rows))

    def on_device(self, several: Sequence[Records]) -> list[Checked]:
        """Do the same with all chunks of several batches at once on the GPU of this process."""
        if not runs_on_gpu(self.metadata, "decode"):
            return [self(expected) for expected in several]
        coder = DeviceCoder(self.metadata)
        rows = [row for e in several for row in zip(e.batch, e.rows, strict=True)]
        with naming(str(self.place)), own_stream() as copies:
            found = iter(self._decoded_on_device(coder, rows, copies))
        return [self._judged(coder.host, expected, found) for expected in several]

    def _judged(self, coder: ArrayCoder, expected: Records, found: Iterable[Found]) -> Checked:
        """Compare decoded chunks with their source; wrong ones are listed, not raised."""
        raw_bytes, stored_bytes = 0, 0
        problems = []
        for number, row, samples in zip(expected.batch, expected.rows, found, strict=False):
            key = coder.key(number)
            with naming(f"{self.place}/{key}"):
                try:
                    raw_bytes += self._check(coder, number, samples)
                    stored_bytes += int(row["stored"])
                except CorruptChunk as error:
                    problems.append(str(error.at(store=str(self.place), chunk=key)))
        return Checked(len(expected.rows), raw_bytes, stored_bytes, tuple(problems))

    def _check(self, coder: ArrayCoder, number: int, samples: Found) -> int:
        """Return the raw bytes of a correct chunk; raise CorruptChunk for any other."""
        if isinstance(samples, CorruptChunk):
            raise samples
        if self.source is None:
            return bytes_of(samples)
        with naming(f"{self.source.name} of the source, at {coder.key(number)}"):  # not ours
            region = coder.grid.region(number)
            wanted = self.source.read(region)
        if not same_items(samples, wanted, coder.array.attrs, region[-1].start if region else 0):
            raise CorruptChunk("the samples differ from the source")
        return bytes_of(samples)

    def _decoded(self, coder: ArrayCoder, number: int, row: np.void) -> Found:
        stored = self._stored(coder, number, row)
        return stored if isinstance(stored, CorruptChunk) else _decoded(coder, number, stored)

    def _stored(self, coder: ArrayCoder, number: int, row: np.void) -> Buffer | CorruptChunk:
        key = coder.key(number)
        with naming(f"{self.place}/{key}"):
            try:
                return read_again(self.place, lambda: _checked_bytes(self.place.get(key), row))
            except CorruptChunk as error:
                return error

    def _decoded_on_device(
        self, coder: DeviceCoder, rows: Sequence[tuple[int, np.void]], copies: Copies
    ) -> list[Found]:
        def failed(place: int, error: GangsawError) -> CorruptChunk:
            if isinstance(error, CorruptChunk):
                return _undecodable(error)
            with naming(f"{self.place}/{coder.host.key(numbers[place])}"):
                raise error

        read = {n: self._stored(coder.host, n, row) for n, row in rows}
        whole = {n: data for n, data in read.items() if not isinstance(data, CorruptChunk)}
        numbers = list(whole)
        decoded: list[DeviceArray | CorruptChunk]
        decoded = at_once_or_apart(coder.decode, list(whole.values()), failed)
        chunks = dict(zip(whole, decoded, strict=True))

        def sampled(number: int, data: Buffer | CorruptChunk) -> Found:
            chunk = data if isinstance(data, CorruptChunk) else chunks[number]
            if isinstance(chunk, CorruptChunk):
                return chunk
            return coder.clip(number, copies.to_host(chunk))

        return [sampled(number, data) for number, data in read.items()]


def same_items(a: NumpyArray, b: NumpyArray, attrs: Mapping[str, object], start: int = 0) -> bool:
    """Whether all is equal but padding in the bytes of a carried variable of these attributes."""
    a, b = (without_padding(part, attrs, start) for part in (a, b))
    return same_bits(a, b)


def same_bits(a: NumpyArray, b: NumpyArray) -> bool:
    """Whether shape, type and every bit are equal, also those of NaN; byte order may differ."""
    if {a.dtype.kind, b.dtype.kind} & {"T", "O"}:  # no byte order, and the bits are elsewhere
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(a: NumpyArray) -> NDArray[np.uint8]:
    native = a.astype(a.dtype.newbyteorder("="), order="C", copy=False)
    return np.frombuffer(native.tobytes(), np.uint8) if a.ndim == 0 else native.view(np.uint8)


def _checked_bytes(stored: Buffer | None, row: np.void) -> Buffer:
    """Return the bytes of a chunk; raise CorruptChunk unless they are those of the manifest."""
    if stored is None:
        raise CorruptChunk("missing: Zarr would read fill values here")
    if len(stored) != row["stored"]:
        raise CorruptChunk(f"{len(stored)} bytes, the manifest says {row['stored']}")
    if crc32c(stored.as_numpy_array()) != row["crc32c"]:
        raise CorruptChunk("the checksum differs from the manifest's")
    return stored


def _decoded(coder: ArrayCoder, number: int, stored: Buffer) -> Found:
    try:
        return coder.decode(number, stored)
    except CorruptChunk as error:
        return _undecodable(error)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return CorruptChunk(f"cannot be decoded: {error}")


def _undecodable(error: CorruptChunk) -> CorruptChunk:
    """Return the error without its place, which is the coder's memory."""
    return CorruptChunk(f"cannot be decoded: {error.reason}", block=error.block)
