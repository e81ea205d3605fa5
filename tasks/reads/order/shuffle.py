"""Records in the order of their bins, out of core: first to files of ranges, then range by range.

Two passes over the reads: the first counts how bins are joined, the second writes each record to
the file of its range. A range has about as much text as a chunk, and is sorted in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np

from gangsaw.tasks.reads.fastq import SEQUENCE, FastqRecords
from gangsaw.tasks.reads.kernels import LINES, NEWLINE
from gangsaw.tasks.reads.order.chain import Edges, Numbers, ranks_of
from gangsaw.tasks.reads.order.signatures import CODES, NO_BIN, sign_lines

RANGE_LETTERS = 1 << 25  # of sequences in a range: those of a chunk
MOST_RANGES = 512  # files that are open at once

Mates = tuple[FastqRecords, ...]
Passes = Callable[[], Iterator[Mates]]


def binned(passes: Passes, n_mates: int, scratch: Path | None) -> Iterator[Mates]:
    """Yield the records of all passes' files, range by range, each in the order of its bins.

    Parameters
    ----------
    passes : starts to read the records once more; each time the same ones
    n_mates : records that belong together
    scratch : folder for as many bytes as the text has; None is the system's
    """
    ranks, sizes = _survey(passes)
    ranges = _ranges(sizes)
    n = int(ranges.max(initial=0)) + 1
    with TemporaryDirectory(prefix="gangsaw-bins-", dir=scratch) as folder:
        paths = [Path(folder, f"{i}.lines") for i in range(n)]
        _scatter(passes, ranks, ranges, paths)
        for path in paths:
            if path.stat().st_size:
                yield _sorted_range(path, n_mates, ranks)
            path.unlink()


def _survey(passes: Passes) -> tuple[Numbers, Numbers]:
    """Return the rank of each bin, and the letters of the reads of each rank."""
    edges = Edges()
    letters = np.zeros((NO_BIN + 1, 2), np.int64)
    for mates in passes():
        bins = bins_of(mates[0])
        edges.add(bins)
        for half in range(2):
            np.add.at(letters[:, half], bins[:, half], _letters(mates))
    ranks = ranks_of(edges)
    sizes = np.zeros(NO_BIN + 1, np.int64)
    # a read counts half for each of its bins: good enough to cut ranges
    np.add.at(sizes, ranks, letters.sum(axis=1) // 2)
    return ranks, sizes


def bins_of(records: FastqRecords) -> Numbers:
    """Return (n, 2) int64, the bins of the halves of each sequence."""
    bins = np.empty((len(records), 2), np.int64)
    begins, ends = records.begins[:, SEQUENCE], records.ends[:, SEQUENCE]
    sign_lines(records.text, np.ascontiguousarray(begins), np.ascontiguousarray(ends), CODES, bins)
    return bins


def _letters(mates: Mates) -> Numbers:
    lengths = [records.ends[:, SEQUENCE] - records.begins[:, SEQUENCE] + 1 for records in mates]
    total: Numbers = np.sum(lengths, axis=0)
    return total


def _ranges(sizes: Numbers) -> Numbers:
    """Return the range of each rank: neighbours in equal shares."""
    total = int(sizes.sum())
    n = max(1, min(MOST_RANGES, total // RANGE_LETTERS))
    before = np.cumsum(sizes) - sizes
    ranges: Numbers = np.minimum(before * n // max(1, total), n - 1)
    return ranges


def _scatter(passes: Passes, ranks: Numbers, ranges: Numbers, paths: list[Path]) -> None:
    """Write each record, with its mate, to the file of its range."""
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for mates in passes():
            which = ranges[ranks[bins_of(mates[0])].min(axis=1)]
            for number in np.unique(which).tolist():
                _write(files[number], mates, np.flatnonzero(which == number))


def _write(file: IO[bytes], mates: Mates, chosen: Numbers) -> None:
    """Write the four fields of some records as lines, mates one behind the other."""
    for i in chosen.tolist():
        for records in mates:
            lines = zip(records.begins[i], records.ends[i], strict=True)
            file.writelines(records.text[a:b].tobytes() + b"\n" for a, b in lines)


def _sorted_range(path: Path, n_mates: int, ranks: Numbers) -> Mates:
    """Return the records of a range in the order of their bins."""
    text = np.fromfile(path, np.uint8)
    ends = np.flatnonzero(text == NEWLINE)
    begins = np.concatenate(([0], ends[:-1] + 1))
    whole = FastqRecords(text, begins.reshape(-1, LINES), ends.reshape(-1, LINES))
    mates = tuple(whole.some(slice(i, None, n_mates)) for i in range(n_mates))
    order = np.argsort(ranks[bins_of(mates[0])].min(axis=1), kind="stable")
    return tuple(FastqRecords(m.text, m.begins[order], m.ends[order]) for m in mates)
