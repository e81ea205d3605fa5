"""Writer of a store's records as FASTA, with the original layout of lines if it was FASTA."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.files import text_kernels as kernels
from gangsaw.tasks.genomics.genomes.files.file_parts import LINE_COUNT, LINE_LENGTH, LINE_RECORD
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome

RECORDS = 1 << 14  # records of a batch of rows
ROWS = 1 << 18  # stored lines per step
SLAB = 1 << 25  # residues that are decoded at once: a chunk, with its blocks in parallel


def fasta_blocks(stored: StoredGenome) -> Iterator[Text]:
    """Yield the FASTA text of stored records in blocks.

    Raises CorruptChunk if the arrays are inconsistent.
    """
    if stored.info.before:
        yield np.frombuffer(stored.info.before.encode(), np.uint8)
    before: Text | None = None
    for block in _blocks(stored):
        if before is not None:
            yield before
        before = block
    if before is not None:
        n_end = (1 + stored.info.returns) if stored.info.open else 0
        yield before[: before.size - n_end]


def _blocks(stored: StoredGenome) -> Iterator[Text]:
    """Yield blocks of the text, the last line with its end, which the caller may remove.

    No block is empty or shorter than a line end.
    """
    n = stored.n_records
    letters, at, size = np.empty(0, np.uint8), 0, int(stored.starts(n, n)[0])
    if stored.starts(0, 0)[0]:
        raise CorruptChunk("record_offset does not begin with 0")
    for rows, names in _batches(stored, 0, n):
        place = np.zeros(kernels.POSITION_ITEMS, np.int64)
        longest = int(rows[:, kernels.LENGTH][rows[:, kernels.COUNT] < 0].max(initial=0))
        while place[kernels.ROW] < len(rows):
            out = np.empty(SLAB + longest + 4, np.uint8)
            place[kernels.OUT] = 0
            if place[kernels.LETTERS] == letters.size:
                letters, place[kernels.LETTERS] = stored.read_residues(at, min(at + SLAB, size)), 0
                at += letters.size
            kernels.put_rows(rows, place, letters, names, stored.info.returns, out)
            if place[kernels.OUT]:
                yield out[: place[kernels.OUT]]
        letters = letters[place[kernels.LETTERS] :]


def _batches(stored: StoredGenome, first: int, last: int) -> Iterator[tuple[Positions, Text]]:
    """Yield rows of headers and lines, (n, 3) int64, as `put_rows` takes them, and the headers."""
    for begin in range(first, last, RECORDS):
        yield from _split(stored, begin, min(begin + RECORDS, last))


def _split(stored: StoredGenome, first: int, last: int) -> Iterator[tuple[Positions, Text]]:
    begin, end = stored.between("line_record", first, last)
    if end - begin <= ROWS:
        yield _rows(stored, first, last, stored.lines(begin, end))
    elif last - first > 1:
        middle = (first + last) // 2
        yield from _split(stored, first, middle)
        yield from _split(stored, middle, last)
    else:
        yield from _many_rows(stored, first, begin, end)


def _rows(stored: StoredGenome, first: int, last: int, lines: Positions) -> tuple[Positions, Text]:
    """Return rows for `put_rows`: each record's header, then its lines, stored or usual ones."""
    numbers, lengths = np.arange(last - first), np.diff(stored.starts(first, last))
    names, sizes = stored.heads(first, last)
    owners = lines[:, LINE_RECORD] - first
    _check(owners, lines, lengths)
    usual = np.setdiff1d(numbers, owners)
    width, letters = stored.info.width, lengths[usual]
    zeros = np.zeros_like(usual)
    heads = np.column_stack((sizes, np.full(len(sizes), kernels.IS_NAME), np.zeros_like(sizes)))
    heads[stored.odd_heads(first, last), kernels.END] = 1
    parts = (
        (numbers, heads),
        (usual, np.column_stack((np.full_like(usual, width), letters // width, zeros))),
        (usual, np.column_stack((letters % width, letters % width > 0, zeros))),
        (owners, lines[:, LINE_LENGTH:]),
    )
    order = np.argsort(np.concatenate([number for number, _ in parts]), kind="stable")
    return np.concatenate([rows for _, rows in parts])[order], names


def _many_rows(
    stored: StoredGenome, record: int, begin: int, end: int
) -> Iterator[tuple[Positions, Text]]:
    """Yield the rows for `put_rows` of one record with many stored lines."""
    (length,) = np.diff(stored.starts(record, record + 1)).tolist()
    names, sizes = stored.heads(record, record + 1)
    is_odd = stored.odd_heads(record, record + 1).size
    yield np.array([[sizes[0], kernels.IS_NAME, is_odd]]), names
    for at in range(begin, end, ROWS):
        lines = stored.lines(at, min(at + ROWS, end))
        length -= _residues(lines, length)
        if length < 0 or (at + ROWS >= end and length):
            raise _differs()
        yield lines[:, LINE_LENGTH:].copy(), names


def _check(owners: Positions, lines: Positions, lengths: Positions) -> None:
    """Raise CorruptChunk if stored line lengths do not add up to the residues of records."""
    found = np.zeros_like(lengths)
    _residues(lines, int(lengths.sum()))
    np.add.at(found, owners, lines[:, LINE_LENGTH] * lines[:, LINE_COUNT])
    if (found != lengths)[owners].any():
        raise _differs()


def _residues(lines: Positions, most: int) -> int:
    """Return the number of residues in rows of lines; raise CorruptChunk if one has over `most`."""
    lengths, counts = lines[:, LINE_LENGTH], lines[:, LINE_COUNT]
    if (counts[lengths > 0] > most // lengths[lengths > 0]).any():
        raise _differs()
    return int((lengths * counts).sum())


def _differs() -> CorruptChunk:
    return CorruptChunk("line_length does not add up to the residues of the records")
