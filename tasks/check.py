"""The chunk function of `verify`: one chunk held against its record, and against its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np
from numpy.typing import NDArray
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.chunks import ArrayCoder
from gangsaw.tasks.failure import naming
from gangsaw.tasks.place import Place
from gangsaw.tasks.records import Records
from gangsaw.tasks.sources.base import SourceArray


@dataclass(frozen=True)
class Checked:
    """What a batch gave.

    Attributes
    ----------
    chunks : that were looked at
    raw_bytes, stored_bytes : of those that are right
    problems : one line for each that is not
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

    def __call__(self, expected: Records) -> Checked:
        """Check the chunks that these records of the manifest name."""
        coder = ArrayCoder(self.metadata)
        raw_bytes, stored_bytes = 0, 0
        problems = []
        for number, row in zip(expected.batch, expected.rows, strict=True):
            key = coder.key(number)
            with naming(f"{self.place}/{key}"):
                try:
                    raw_bytes += self._check(coder, number, row)
                    stored_bytes += int(row["stored"])
                except CorruptChunk as error:
                    problems.append(str(error.at(store=str(self.place), chunk=key)))
        return Checked(len(expected.rows), raw_bytes, stored_bytes, tuple(problems))

    def _check(self, coder: ArrayCoder, number: int, row: Any) -> int:
        """Return the raw bytes of a chunk that is right; raise CorruptChunk for any other."""
        stored = _checked_bytes(self.place.get(coder.key(number)), row)
        samples = _decoded(coder, number, stored)
        if self.source is None:
            return samples.nbytes
        with naming(f"{self.source.name} of the source, at {coder.key(number)}"):  # not ours
            wanted = self.source.read(coder.grid.region(number))
        if not same_bits(samples, wanted):
            raise CorruptChunk("the samples differ from the source")
        return samples.nbytes


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether shape, type and every bit are equal; byte order apart, and NaN equal to itself."""
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    return bool(np.array_equal(_bits(a), _bits(b)))


def _bits(a: NDArray[Any]) -> NDArray[np.uint8]:
    native = a.astype(a.dtype.newbyteorder("="), order="C", copy=False)
    return np.frombuffer(native.tobytes(), np.uint8) if a.ndim == 0 else native.view(np.uint8)


def _checked_bytes(stored: Buffer | None, row: Any) -> Buffer:
    if stored is None:
        raise CorruptChunk("missing: Zarr would read fill values here")
    if len(stored) != row["stored"]:
        raise CorruptChunk(f"{len(stored)} bytes, the manifest says {row['stored']}")
    if google_crc32c.value(stored.as_numpy_array()) != row["crc32c"]:
        raise CorruptChunk("the checksum differs from the manifest's")
    return stored


def _decoded(coder: ArrayCoder, number: int, stored: Buffer) -> NDArray[Any]:
    try:
        return coder.decode(number, stored)
    except CorruptChunk as error:  # its place is the coder's memory
        raise CorruptChunk(f"cannot be decoded: {error.reason}", block=error.block) from error
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise CorruptChunk(f"cannot be decoded: {error}") from error
