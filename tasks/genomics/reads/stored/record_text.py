"""Records of a store as text: base class of the formats, and FASTQ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.compressed_text.text import Text
from gangsaw.tasks.genomics.reads.files.kernels import AT, LINES, PLUS, join_records
from gangsaw.tasks.genomics.reads.files.records import Field, Int64s
from gangsaw.tasks.genomics.reads.sets.file_sets import split_by_set
from gangsaw.tasks.genomics.reads.stored.stored import Stored

SIGNS = np.array([AT, 0, PLUS, 0], np.uint8)
NONE = np.empty(0, np.uint8)


class RecordText(ABC):
    """Writer of a store's reads as text, identical to the source files.

    Attributes
    ----------
    is_own : True if the source files have this format
    """

    def __init__(self, stored: Stored, kind: str) -> None:
        self.stored, self.contents = stored, stored.contents
        self.is_own = stored.contents.format == kind

    def text(self, first: int, last: int) -> Text:
        """Return records first..last - 1 as text (n,) uint8, in the order of the store."""
        return self.texts(first, last, 1)[0]

    @abstractmethod
    def texts(self, first: int, last: int, n_targets: int) -> list[Text]:
        """Return the text of records first..last - 1 for each target.

        Targets take records in turns.
        """

    def names(self, first: int, last: int) -> Field:
        """Return the names of records: stored names, numbers, or empty ones."""
        return read_names(self.stored, first, last)

    def numbers(self, name: str, first: int, last: int, numbering: int) -> Int64s:
        """Return the line numbers of records in array `name`, relative to the first record."""
        none = np.empty(0, np.int64)
        return numbers_of(self.stored, name, first, last, numbering)[1] if self.is_own else none

    def has_returns(self, first: int, last: int) -> npt.NDArray[np.bool_]:
        """Return (n,) bool, True for each record whose source file ends lines with CR LF."""
        files = np.array(self.contents.returns, bool) & self.is_own
        returns: npt.NDArray[np.bool_] = files[self.contents.files_of(first, last)]
        return returns


class FastqText(RecordText):
    """Writer of a store's reads as FASTQ text."""

    def __init__(self, stored: Stored) -> None:
        super().__init__(stored, "fastq")
        if not stored.has("quality"):
            raise BadParams("the store holds no qualities, which FASTQ needs")

    def texts(self, first: int, last: int, n_targets: int) -> list[Text]:
        """Return the text of records first..last - 1 for each target.

        Targets take records in turns.
        """
        fields, returns = self.fields(first, last), self.returns(first, last)
        return [
            join_fastq([field.some(i, n_targets) for field in fields], returns[i::n_targets])
            for i in range(n_targets)
        ]

    def fields(self, first: int, last: int) -> list[Field]:
        """Return name, sequence, text after "+" and qualities of records first..last - 1."""
        name = self.names(first, last)
        sequence = self.stored.lines("sequence", first, last)
        quality = self.stored.lines("quality", first, last)
        letters, values = (field.ends - field.begins for field in (sequence, quality))
        if ((letters != values) & (values > 0)).any():
            raise CorruptChunk("qualities and sequences differ in length")
        if (letters != values).any():
            number = first + int(np.argmax(letters != values)) + 1
            raise BadParams(f"record {number} has no qualities, which FASTQ needs")
        return [name, sequence, read_plus_lines(self.stored, name, first, last), quality]

    def returns(self, first: int, last: int) -> npt.NDArray[np.bool_]:
        """Return (n, 4) bool, True for each line of a record that ends with CR LF."""
        returns = np.repeat(self.has_returns(first, last)[:, None], LINES, axis=1)
        returns.reshape(-1)[self.numbers("odd_end", first, last, LINES)] ^= True
        return returns


def numbers_of(
    stored: Stored, name: str, first: int, last: int, numbering: int
) -> tuple[int, Int64s]:
    """Return the range of items for records first..last - 1 in an ascending array of numbers.

    The result is the index of the first item, and the items relative to the first record. Each
    record has `numbering` numbers. Without such an array there are none. Raises CorruptChunk if the
    numbers do not increase.
    """
    begin, end = stored.between(name, numbering * first, numbering * last)
    found = stored.some_numbers(name, begin, end) - numbering * first
    ends = ([-1], found, [numbering * (last - first)])
    if (np.diff(np.concatenate(ends)) < 1).any():
        raise CorruptChunk(f"{name} does not grow")
    return begin, found


def read_plus_lines(stored: Stored, name: Field, first: int, last: int) -> Field:
    """Return the text after "+" of records: empty or the name, except for the stored exceptions."""
    begin, which = numbers_of(stored, "plus_record", first, last, 1)
    none = np.zeros(last - first, np.int64)
    usual = name if stored.contents.sign == "name" else Field(name.text, none, none)
    if not which.size:
        return usual
    odd = stored.lines("plus", begin, begin + which.size)
    begins, ends = usual.begins.copy(), usual.ends.copy()
    begins[which], ends[which] = odd.begins + name.text.size, odd.ends + name.text.size
    return Field(np.concatenate((name.text, odd.text)), begins, ends)


def read_names(stored: Stored, first: int, last: int) -> Field:
    """Return the names of records: stored names, numbers, or empty ones."""
    if stored.has("name"):
        return stored.lines("name", first, last)
    none = np.zeros(last - first, np.int64)
    if stored.contents.settings.names == "none":
        return Field(NONE, none, none)
    names = [b"%d" % (i + 1) for i in _groups(stored, first, last)]
    ends = np.cumsum([len(name) for name in names])
    begins = np.concatenate(([0], ends[:-1]))
    return Field(np.frombuffer(bytearray().join(names), np.uint8), begins, ends)


def _groups(stored: Stored, first: int, last: int) -> Iterator[int]:
    """Yield the number of the group, a pair or a single read, of each record."""
    for run in split_by_set(stored.contents.parts, first, last):
        before = stored.contents.group_of(run.first)
        skipped = (run.first - run.of.first) % run.of.together
        yield from (before + (skipped + i) // run.of.together for i in range(run.last - run.first))


def join_fastq(fields: list[Field], returns: npt.NDArray[np.bool_]) -> Text:
    """Return records as FASTQ text: (n,) uint8."""
    size = sum(int((field.ends - field.begins).sum()) for field in fields)
    out = np.empty(size + 10 * len(returns), np.uint8)  # per record two signs and four line ends
    n = join_records(tuple(fields), SIGNS, np.ascontiguousarray(returns), out)
    return out[: int(n)]
