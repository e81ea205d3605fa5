"""Writer of 2bit files, as faToTwoBit writes them; `twobit.py` names the specification."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import IO

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import code_table
from gangsaw.codecs.core.nucleotides.packing import packed_codes
from gangsaw.tasks.genomics.genomes.files.file_parts import first_word
from gangsaw.tasks.genomics.genomes.files.twobit import BASES, SIGNATURE
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome

SLAB = 1 << 24  # residues per step, a multiple of 4
IN_MEMORY = 1 << 26  # bytes of packed bases that are kept in memory until their runs are written
MOST_NAME, MOST_SIZE = 255, (1 << 32) - 1
CODES = code_table(BASES, both_cases=True)
IS_LOWER = np.array([ord("a") <= letter <= ord("z") for letter in range(256)])


def write_two_bit(parts: Sequence[StoredGenome], file: IO[bytes]) -> None:
    """Write the records of all parts of a genome as 2bit, in little-endian order.

    Offsets have 64 bits where 32 are too few. Raises BadParams for names and records that are too
    long for the format.
    """
    names = [name for stored in parts for name in _names(stored)]
    if _write(parts, names, file, 4) > MOST_SIZE:
        _write(parts, names, file, 8)


def _write(parts: Sequence[StoredGenome], names: list[bytes], file: IO[bytes], width: int) -> int:
    """Write a 2bit file with offsets of `width` bytes; return the last record's offset."""
    file.seek(0)
    file.truncate()
    index = 16 + sum(1 + len(name) + width for name in names)
    file.write(bytes(index))
    places = [
        _record(stored, begin, end, file)
        for stored in parts
        for begin, end in pairwise(stored.starts(0, stored.n_records).tolist())
    ]
    file.seek(0)
    file.write(np.array([SIGNATURE, width == 8, len(names), 0], "<u4").tobytes())
    for name, place in zip(names, places, strict=True):
        file.write(bytes([len(name)]) + name + place.to_bytes(8, "little")[:width])
    return max(places, default=0)


def _names(stored: StoredGenome) -> list[bytes]:
    text, _ = stored.heads(0, stored.n_records)
    names = [first_word(head) for head in text.tobytes().split(b"\n")[:-1]]
    for name in names:
        if len(name) > MOST_NAME:
            raise BadParams(f"{name.decode('utf-8', 'replace'):.40}... is too long a name for 2bit")
    return names


def _record(stored: StoredGenome, begin: int, end: int, file: IO[bytes]) -> int:
    """Append residues begin..end - 1 to a 2bit file as a record; return its offset."""
    if end - begin > MOST_SIZE:
        raise BadParams(f"a record of {end - begin:,} residues is too long for 2bit")
    place, unknown, masked = file.tell(), _LetterRuns(), _LetterRuns()
    with SpooledTemporaryFile(IN_MEMORY) as bases:
        for at in range(begin, end, SLAB):
            letters = stored.read_residues(at, min(at + SLAB, end))
            codes = CODES[letters]
            unknown.add(codes == NOT_A_BASE)
            masked.add(IS_LOWER[letters])
            bases.write(packed_codes(codes).tobytes())
        file.write((end - begin).to_bytes(4, "little") + unknown.data() + masked.data() + bytes(4))
        bases.seek(0)
        shutil.copyfileobj(bases, file)
    return place


class _LetterRuns:
    """Runs of N or of lower case in a record, collected from masks."""

    def __init__(self) -> None:
        self._n, self._borders = 0, [np.empty(0, np.int64)]
        self._is_in = False

    def add(self, are_such: npt.NDArray[np.bool_]) -> None:
        """Add the mask of the next residues: True in runs."""
        changes = np.flatnonzero(np.diff(are_such, prepend=self._is_in))
        self._borders.append(changes + self._n)
        self._n += are_such.size
        self._is_in = bool(are_such[-1])

    def data(self) -> bytes:
        """Return the fields of 2bit for the runs, "<u4": their number, starts and lengths."""
        borders = np.concatenate([*self._borders, [self._n][: self._is_in]])
        first, ends = borders[::2], borders[1::2]
        return np.concatenate(([len(first)], first, ends - first)).astype("<u4").tobytes()
