"""Builder of the arrays of records: text lines, offsets, and items that only some records have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.genomics.reads.files.digest import sum_records
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.kernels import (
    LINES,
    NAME,
    QUALITY,
    SEQUENCE,
    SIGN,
    copy_text_lines,
    map_bytes,
    place_lines,
    same_lines,
)
from gangsaw.tasks.genomics.reads.files.records import OWNER, FastqRecords, Field, Mates, ReadFile
from gangsaw.tasks.genomics.reads.files.scale import bin_map, highest_of
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.stored.counts import ReadCounts

CHUNK = 1 << 25  # bytes of a chunk; no line crosses the border of a chunk
FIELDS = {"sequence": SEQUENCE, "quality": QUALITY, "name": NAME}

Piece = Mapping[str, NumpyArray]


def select_fields(settings: Settings) -> tuple[str, ...]:
    """Return the names of the text arrays that these settings store."""
    own = {"quality": settings.qualities != "none", "name": settings.names == "keep"}
    return tuple(name for name in FIELDS if own.get(name, True))


class ReadWriter:
    """Converter of batches of records to items of the store's arrays.

    Attributes
    ----------
    settings : settings of the job
    stored : names of the text arrays that are stored
    files : current source files of the records; others may follow
    is_apart : True if each piece begins a chunk of sequences: it was sorted separately
    ends : end of the text of each array so far
    n_records : number of records so far
    sign : usual text after "+": "" or "name"; None before the first record
    digest : sum of the records' hashes so far
    counts : statistics of the reads so far
    highest : highest quality so far, before binning
    filled : zero bytes between pieces that were sorted separately
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.stored = settings, select_fields(settings)
        self.is_apart = False
        self.files: list[ReadFile] = []
        self.n_records, self.digest, self.filled = 0, 0, 0
        self.ends = dict.fromkeys((*self.stored, "plus"), 0)
        self.sign: str | None = None
        self.highest = 0
        self.counts = ReadCounts(settings.zero)
        self._together, self._first = 1, 0

    def begin(self, source: ReadInput, files: list[ReadFile], is_input: bool) -> None:
        """Set the input of the next records, and whether they are in its order."""
        self.files, self._together, self._first = files, source.together, self.n_records
        self.is_apart = source.settings.order in ("sorted", "smallest") and not is_input

    def piece(self, mates: Mates) -> Piece:
        """Return the next items of the arrays for a batch of records, mates adjacent."""
        mates = tuple(self._binned(records) for records in mates)
        out: dict[str, NumpyArray] = {}
        for name in self.stored:
            out |= self._lines(name, [records.field(FIELDS[name]) for records in mates])
        out |= self._odd_signs(mates)
        self._sum(mates)
        self._count(mates)
        self.n_records += sum(len(records) for records in mates)
        return out | self._odd_lines()

    def last(self) -> Piece:
        """Return the last items of the offsets arrays, the end offsets."""
        return {f"{name}_offset": np.array([end], "u8") for name, end in self.ends.items() if end}

    def _odd_lines(self) -> dict[str, NumpyArray]:
        """Return array items for lines of the records so far with an unusual end or length."""
        n_files, numbering = len(self.files), self.files[0].numbering
        ends, folds = [], []
        for which, file in enumerate(self.files):
            n = (self.n_records - self._first) // n_files
            lines = file.odd_ends.take(n * numbering)[:, OWNER]
            owners, lengths = file.folds.take(n).T
            record = self._first + lines // numbering * n_files + which
            ends.append(record * numbering + lines % numbering)
            folds.append((self._first + owners * n_files + which, lengths))
        record, length = np.concatenate(folds, axis=1).astype("u8")
        order = np.argsort(record, kind="stable")
        found = {"odd_end": np.sort(np.concatenate(ends)).astype("u8")}
        found |= {"fold_record": record[order], "fold_length": length[order]}
        return {name: array for name, array in found.items() if array.size}

    def _lines(self, name: str, fields: list[Field]) -> dict[str, NumpyArray]:
        """Return the items of a text array and of its offsets, with lines of mates adjacent."""
        n, k, at = len(fields[0].begins), len(fields), self.ends[name]
        lengths = np.empty(n * k, np.int64)
        for i, one in enumerate(fields):
            lengths[i::k] = one.ends - one.begins + 1
        starts = np.empty(n * k, np.int64)
        # each separately sorted piece begins a chunk
        is_sorted = name == "sequence" and self.is_apart
        begin = -(-at // CHUNK) * CHUNK if is_sorted else at
        self.filled += begin - at
        end = int(place_lines(lengths, self._together, begin, CHUNK, starts))
        text = np.zeros(end - at, np.uint8)
        for i, one in enumerate(fields):
            copy_text_lines(one.text, one.begins, one.ends, starts[i::k] - at, text)
        self.ends[name] = end
        return {name: text, f"{name}_offset": starts.astype("u8")}

    def _odd_signs(self, mates: Mates) -> dict[str, NumpyArray]:
        """Return array items for texts after "+" that differ from the usual one.

        Without names they are not stored: most repeat the name.
        """
        if "name" not in self.stored:
            return {}
        if self.sign is None:
            self.sign = "name" if mates[0].field(SIGN).line(0) else ""
        odd = np.stack([_is_odd(records, self.sign) for records in mates], axis=1).ravel()
        numbers, k = np.flatnonzero(odd), len(mates)
        if not numbers.size:
            return {}
        lines = [mates[i % k].field(SIGN).line(i // k) + b"\n" for i in numbers.tolist()]
        starts = self.ends["plus"] + np.cumsum([0, *map(len, lines)])
        self.ends["plus"] = int(starts[-1])
        return {
            "plus": np.frombuffer(b"".join(lines), np.uint8),
            "plus_offset": starts[:-1].astype("u8"),
            "plus_record": (numbers + self.n_records).astype("u8"),
        }

    def _binned(self, records: FastqRecords) -> FastqRecords:
        """Return records with the qualities to store, binned if the settings say so."""
        if self.settings.qualities != "binned":
            return records
        text, zero = records.text.copy(), self.settings.zero
        self.highest = max(self.highest, highest_of(records) - zero)
        map_bytes(text, records.begins[:, QUALITY], records.ends[:, QUALITY], bin_map(zero))
        return FastqRecords(text, records.begins, records.ends)

    def _count(self, mates: Mates) -> None:
        for records in mates:
            quality = records.field(QUALITY) if "quality" in self.stored else None
            self.counts.add(records.field(SEQUENCE), quality)

    def _sum(self, mates: Mates) -> None:
        fields = [field for records in mates for field in _hashed(records, self.stored)]
        size = sum(int((one.ends - one.begins).max(initial=0)) + 1 for one in fields)
        scratch = np.zeros(size + 8, np.uint8)
        self.digest = (self.digest + int(sum_records(tuple(fields), scratch))) % (1 << 64)


def _hashed(records: FastqRecords, stored: tuple[str, ...]) -> list[Field]:
    """Return the fields of records for their checksum; those that are not stored are empty."""
    kept = {FIELDS[name] for name in stored}
    kept |= {SIGN} if NAME in kept else set()
    fields = [records.field(which) for which in range(LINES)]
    return [f if i in kept else f._replace(ends=f.begins) for i, f in enumerate(fields)]


def _is_odd(records: FastqRecords, usual: str) -> npt.NDArray[np.bool_]:
    """Return (n,) bool, True for each record whose text after "+" is not the usual one."""
    sign = records.field(SIGN)
    if usual == "":
        return sign.ends > sign.begins
    name = records.field(NAME)
    is_same = np.empty(len(records.begins), bool)
    same_lines(*name, *sign, is_same)
    return ~is_same
