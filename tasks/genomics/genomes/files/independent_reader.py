"""Independent readers of genome files, pysam and py2bit, and their comparison with a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.formats.contract.format import Paths
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.genomics.sequences.fastx import (
    fastx_records,
    pysam_reads,
    split_header,
    where_read,
)
from gangsaw.tasks.store.source import open_array

if TYPE_CHECKING:
    from zarr.types import AnyArray

Record = tuple[bytes, bytes]  # name (first word of the header), residues
Records = Iterator[Record]
WINDOW_BYTES = 4 << 20  # bytes of short records that are read at once
BLANKS = bytes(range(33))  # whitespace between residues, which pysam keeps


def open_fasta_reader(paths: Paths) -> IndependentReader | None:
    """Return an independent reader of a FASTA file; None if pysam cannot read it."""
    if not pysam_reads(paths):
        return None
    return IndependentReader(library("pysam"), records=partial(fasta_differences, paths[0]))


def open_two_bit_reader(paths: Paths) -> IndependentReader | None:
    """Return an independent reader of a 2bit file; None if py2bit is not installed."""
    if find_spec("py2bit") is None:
        return None
    return IndependentReader(
        library("py2bit"), records=partial(compare_genomes, paths[0], two_bit_records)
    )


def fasta_differences(path: str, store: str) -> list[str] | None:
    """Return a line for each record of a FASTA file that differs in a store.

    The result is None if pysam does not read the whole file.
    """
    return where_read((path,), compare_genomes(path, fasta_records, store))


def fasta_records(path: str) -> Records:
    """Yield the records of a FASTA file, as pysam reads them."""
    for record in fastx_records(path):
        yield record.name, record.sequence.translate(None, BLANKS)


def two_bit_records(path: str) -> Records:
    """Yield the records of a 2bit file, as py2bit reads them, with lower case."""
    import py2bit

    file = py2bit.open(path, True)
    try:
        for name, length in file.chroms().items():
            residues = file.sequence(name, 0, length) if length else ""
            yield name.encode(), residues.encode()
    finally:
        file.close()


def compare_genomes(path: str, opened: Callable[[str], Records], store: str) -> Iterator[str]:
    """Yield a line for each record that differs between a file and a store.

    Parameters
    ----------
    opened : opens the path with the independent reader, and returns its records
    """
    starts = _whole(store, "record_offset")
    names = _whole(store, "name").astype(np.uint8).tobytes().split(b"\n")[:-1]
    residues = LetterWindow(open_array(store, "sequence"))
    for number, (record, head) in enumerate(zip_longest(opened(path), names)):
        if record is None or head is None:
            where = "store" if record is None else "source"
            yield f"sequence: record {number + 1} is in the {where} alone"
            return
        begin, end = (int(place) for place in starts[number : number + 2])
        stored = residues.text(begin, end)
        if (split_header(head)[0], stored) != record:
            name = record[0].decode("utf-8", "backslashreplace")
            yield f"sequence: record {number + 1}, {name}, differs from the source's"


class LetterWindow:
    """Reader of consecutive ranges of a store's residues, which reads several records at once."""

    def __init__(self, array: AnyArray) -> None:
        self._array, self._begin, self._text = array, 0, b""

    def text(self, begin: int, end: int) -> bytes:
        """Return residues begin..end - 1 as bytes."""
        if not self._begin <= begin <= end <= self._begin + len(self._text):
            stop = max(end, begin + WINDOW_BYTES)
            self._begin, self._text = begin, np.asarray(self._array[begin:stop]).tobytes()
        return self._text[begin - self._begin : end - self._begin]


def _whole(store: str, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.asarray(open_array(store, name)[...]).astype(np.int64)
