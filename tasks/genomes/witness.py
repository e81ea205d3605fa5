"""Records of genomes as pysam and py2bit read them, beside those of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest

import numpy as np

from gangsaw.tasks.formats.format import Paths
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.sequences.fastx import fastx_records, pysam_reads, where_read, words
from gangsaw.tasks.store.source import open_array

Record = tuple[bytes, bytes]  # first word of its head, residues
Records = Iterator[Record]
BLANKS = bytes(range(33))  # between residues, where pysam keeps them


def fasta_witness(paths: Paths) -> Witness | None:
    """Return the records of a FASTA file; None where pysam does not read it."""
    if not pysam_reads(paths):
        return None
    return Witness(library("pysam"), records=partial(fasta_differences, paths[0]))


def two_bit_witness(paths: Paths) -> Witness | None:
    """Return the records of a 2bit file; None where py2bit is not installed."""
    if find_spec("py2bit") is None:
        return None
    return Witness(library("py2bit"), records=partial(differences, paths[0], two_bit_records))


def fasta_differences(path: str, store: str) -> list[str] | None:
    """Return a line for each record that differs; None where pysam does not read all of a file."""
    return where_read((path,), differences(path, fasta_records, store))


def fasta_records(path: str) -> Records:
    """Yield the records of FASTA."""
    for record in fastx_records(path):
        yield record.name, record.sequence.translate(None, BLANKS)


def two_bit_records(path: str) -> Records:
    """Yield the records of 2bit, lower case kept."""
    import py2bit

    file = py2bit.open(path, True)
    try:
        for name, length in file.chroms().items():
            residues = file.sequence(name, 0, length) if length else ""
            yield name.encode(), residues.encode()
    finally:
        file.close()


def differences(path: str, opened: Callable[[str], Records], store: str) -> Iterator[str]:
    """Yield a line for each record that differs."""
    starts = _whole(store, "record_offset")
    names = _whole(store, "name").astype(np.uint8).tobytes().split(b"\n")[:-1]
    residues = open_array(store, "sequence")
    for number, (record, head) in enumerate(zip_longest(opened(path), names)):
        if record is None or head is None:
            where = "store" if record is None else "source"
            yield f"sequence: record {number + 1} is in the {where} alone"
            return
        begin, end = (int(place) for place in starts[number : number + 2])
        stored = np.asarray(residues[begin:end]).tobytes()
        if (words(head)[0], stored) != record:
            name = record[0].decode("utf-8", "backslashreplace")
            yield f"sequence: record {number + 1}, {name}, differs from the source's"


def _whole(store: str, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.asarray(open_array(store, name)[...]).astype(np.int64)
