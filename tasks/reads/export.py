"""Stores of reads back into FASTQ: the same text where all was kept, or a part of the records."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.formats.format import Fit, Paths, Work
from gangsaw.tasks.reads.kernels import AT, LINES, PLUS, join_records
from gangsaw.tasks.reads.settings import ReadsInfo
from gangsaw.tasks.reads.stored import Field, Stored
from gangsaw.tasks.reads.text import STDIN as STDOUT
from gangsaw.tasks.reads.text import Text
from gangsaw.tasks.source import Source

BATCH = 1 << 16  # records of one file that are written at once, fewer where they are long
SIGNS = np.array([AT, 0, PLUS, 0], np.uint8)
LEVEL = 1  # of gzip: the store is what saves space
NONE = np.empty(0, np.uint8)


def fit(source: Source) -> Fit:
    """Say whether a store holds what FASTQ needs."""
    contents = ReadsInfo.from_attrs(source.attrs)
    if contents is None:
        return Fit(f"{source.name} holds no reads, which FASTQ is for")
    if contents.settings.qualities == "none":
        return Fit(f"{source.name} holds no qualities, which FASTQ needs")
    return Fit(is_own=contents.format == "fastq")


def export(source: Source, paths: Paths, shard: str, work: Work) -> None:
    """Write all records, or one shard of them; mates alternate where there is one target.

    Raises
    ------
    BadParams : two targets for reads without mates, a shard that is none, a target that exists
    CorruptChunk : the arrays of the store do not go together
    """
    stored = Stored(source.arrays, source.attrs)
    if len(paths) == 2 and not stored.contents.is_paired:
        raise BadParams(f"{source.name} holds no pairs: name one target")
    first, last = shard_of(shard or "1/1", stored)
    with open_targets(paths, work) as outputs:
        for text, which in _texts(stored, first, last, len(paths)):
            outputs[which].write(text)


def shard_of(text: str, stored: Stored) -> tuple[int, int]:
    """Return first record and end of a shard "i/n"; mates stay together."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise BadParams(f"--shard must be like 3/16, got {text!r}")
    mates = 2 if stored.contents.is_paired else 1
    groups = stored.n_records // mates
    i, n = int(number), int(count)
    return mates * (groups * (i - 1) // n), mates * (groups * i // n)


def _texts(
    stored: Stored, first: int, last: int, n_targets: int
) -> Iterator[tuple[memoryview, int]]:
    """Yield text and the number of its target."""
    records = RecordText(stored)
    files, all_read = stored.contents.n_files, last == stored.n_records
    is_whole = n_targets == files
    for begin, end in _batches(stored, first, last):
        returns = records.returns(begin, end)
        fields = records.fields(begin, end)
        for which in range(n_targets):
            text = joined(
                [field.some(which, n_targets) for field in fields], returns[which::n_targets]
            )
            ends_open = is_whole and end == stored.n_records and stored.contents.open[which]
            yield text.data[: text.size - _newline_bytes(text) if ends_open else None], which
    for which in range(n_targets if is_whole and all_read else 0):
        yield memoryview(stored.contents.tails[which].encode()), which


def _newline_bytes(text: Text) -> int:
    return min(1, text.size)


def _batches(stored: Stored, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of records, of whole pairs, whose text is not long."""
    mates = 2 if stored.contents.is_paired else 1
    while first < last:
        end = min(first + mates * BATCH, last)
        yield first, end
        first = end


class RecordText:
    """The four lines of records of a store, as they stood in their files."""

    def __init__(self, stored: Stored) -> None:
        self.stored, self.contents = stored, stored.contents
        self.odd_signs, self.odd_ends = stored.numbers("plus_record"), stored.numbers("odd_end")

    def fields(self, first: int, last: int) -> list[Field]:
        """Return name, sequence, line behind "+" and quality of records first..last - 1."""
        name = self.names(first, last)
        sequence = self.stored.lines("sequence", first, last)
        quality = self.stored.lines("quality", first, last)
        return [name, sequence, self.signs(name, first, last), quality]

    def text(self, first: int, last: int) -> Text:
        """Return records as FASTQ text (n,) uint8, in the order of the store."""
        if not self.stored.has("quality"):
            raise BadParams("the store holds no qualities, which FASTQ needs")
        return joined(self.fields(first, last), self.returns(first, last))

    def returns(self, first: int, last: int) -> npt.NDArray[np.bool_]:
        """Say of each line (n, 4) whether it ends with CR LF."""
        files = np.array(self.contents.returns)[np.arange(first, last) % self.contents.n_files]
        returns = np.repeat(files[:, None], LINES, axis=1)
        own = self.odd_ends[np.searchsorted(self.odd_ends, LINES * first) :]
        own = own[: np.searchsorted(own, LINES * last)]
        returns.reshape(-1)[own - LINES * first] ^= True
        return returns

    def names(self, first: int, last: int) -> Field:
        """Return the names of records: those that are stored, or numbers, or nothing."""
        if self.stored.has("name"):
            return self.stored.lines("name", first, last)
        none = np.zeros(last - first, np.int64)
        if self.contents.settings.names == "none":
            return Field(NONE, none, none)
        mates = 2 if self.contents.is_paired else 1
        names = [b"%d" % (i // mates + 1) for i in range(first, last)]
        ends = np.cumsum([len(name) for name in names])
        begins = np.concatenate(([0], ends[:-1]))
        return Field(np.frombuffer(bytearray().join(names), np.uint8), begins, ends)

    def signs(self, name: Field, first: int, last: int) -> Field:
        """Return what stands behind "+": nothing or the name, and what is said of odd records."""
        begin, end = np.searchsorted(self.odd_signs, (first, last)).tolist()
        none = np.zeros(last - first, np.int64)
        usual = name if self.contents.sign == "name" else Field(name.text, none, none)
        if begin == end:
            return usual
        odd, which = self.stored.lines("plus", begin, end), self.odd_signs[begin:end] - first
        begins, ends = usual.begins.copy(), usual.ends.copy()
        begins[which], ends[which] = odd.begins + name.text.size, odd.ends + name.text.size
        return Field(np.concatenate((name.text, odd.text)), begins, ends)


def joined(fields: list[Field], returns: npt.NDArray[np.bool_]) -> Text:
    """Return records as text, (n,) uint8."""
    size = sum(int((field.ends - field.begins).sum()) for field in fields)
    out = np.empty(size + 10 * len(returns), np.uint8)  # two signs, four line ends
    n = join_records(tuple(fields), SIGNS, np.ascontiguousarray(returns), out)
    return out[: int(n)]


@contextmanager
def open_targets(paths: Paths, work: Work) -> Iterator[list[IO[bytes]]]:
    """Open the targets: standard output, or files that appear when they are whole."""
    if paths == (STDOUT,):
        yield [sys.stdout.buffer]
        sys.stdout.buffer.flush()
        return
    targets = [Path(path) for path in paths]
    with whole_files(targets, overwrite=work.overwrite) as parts, ExitStack() as stack:
        pairs = zip(targets, parts, strict=True)
        yield [stack.enter_context(_packed(target.suffix.lower(), part)) for target, part in pairs]


def _packed(suffix: str, part: Path) -> IO[bytes]:
    """Open a file to write text, compressed as its suffix says."""
    if suffix in (".gz", ".bgz"):
        if find_spec("isal"):
            from isal import igzip_threaded

            return cast(IO[bytes], igzip_threaded.open(part, "wb", LEVEL, threads=1))
        return cast(IO[bytes], gzip.open(part, "wb", LEVEL))
    if suffix == ".bz2":
        import bz2

        return cast(IO[bytes], bz2.open(part, "wb"))
    if suffix == ".xz":
        import lzma

        return cast(IO[bytes], lzma.open(part, "wb"))
    if suffix == ".zst":
        raise BadParams("writing .zst is not supported: name a target .gz, or plain text")
    return part.open("wb")
