"""Independent reader of read files by pysam, and its comparison with a store read by zarr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from itertools import chain, islice, zip_longest
from typing import NamedTuple, cast

import numpy as np
import zarr

from gangsaw.codecs.core.nucleotides.alphabet import reverse_complement_text
from gangsaw.tasks.formats.contract.format import Paths
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.genomics.sequences.fastx import (
    fastx_records,
    pysam_reads,
    split_header,
    where_read,
)
from gangsaw.tasks.store.objects.zipped import zarr_argument_of
from gangsaw.tasks.store.source import open_array

BATCH = 1 << 13  # records that are compared at once
SKIPPED = 256 | 2048  # flags of secondary and supplementary records, which are not reads
REVERSED = 16
PHRED = 33
SAM_FIELDS = 11


class ReadRecord(NamedTuple):
    """Read as an independent reader returns it; its name is the first word, and the rest."""

    name: tuple[bytes, ...]
    sequence: bytes
    quality: bytes


Records = Iterator[ReadRecord]


def open_reads_reader(paths: Paths, kind: str) -> IndependentReader | None:
    """Return an independent reader of FASTQ, FASTA or BAM; None if pysam cannot read the files."""
    is_bam = kind == "bam"
    if find_spec("pysam") is None or not (is_bam or pysam_reads(paths)):
        return None
    opened = aligned_reads if is_bam else text_reads
    return IndependentReader(library("pysam"), records=partial(compare_reads, paths, opened))


def text_reads(path: str, _: str) -> Records:
    """Yield the records of a FASTQ or FASTA file, as pysam reads them."""
    for name, comment, sequence, quality in fastx_records(path):
        yield ReadRecord((name, comment), sequence, quality)


def aligned_reads(path: str, tags: str) -> Records:
    """Yield the records of BAM, CRAM or SAM as pysam reads them, in the sequenced orientation.

    Tags follow the names: those of a list such as "RX,CB", or "all".
    """
    import pysam

    with pysam.AlignmentFile(path, check_sq=False) as file:
        for read in file.fetch(until_eof=True):
            if read.flag & SKIPPED:
                continue
            sequence = (read.query_sequence or "").encode()
            quality = [] if read.query_qualities is None else list(read.query_qualities)
            if read.flag & REVERSED:
                sequence, quality = reverse_complement_text(sequence), quality[::-1]
            own = read.to_string().split("\t")[SAM_FIELDS:] if tags else []
            if tags != "all":
                own = [tag for tag in own if tag[:2] in tags.split(",")]
            name = split_header("\t".join([read.query_name or "", *own]).encode())
            yield ReadRecord(name, sequence, bytes(PHRED + value for value in quality))


def compare_reads(
    paths: Paths, opened: Callable[[str, str], Records], store: str
) -> list[str] | None:
    """Return a line for the first record that differs between files and a store.

    The result is None for a store in another order, if pysam does not read the whole files, or if
    several sets share a file. `opened` opens a file with the independent reader.
    """
    group = zarr.open_group(zarr_argument_of(store), mode="r")
    about = cast("Mapping[str, object]", group.attrs.get("gangsaw_reads") or {})
    if about.get("order") != "kept":
        return None
    columns = ["sequence", *(("quality",) if about.get("qualities") == "lossless" else ())]
    if about.get("names") == "keep":
        columns.append("name")
    sets = cast("list[dict[str, list[int]]] | None", about.get("sets"))
    groups = [paths] if sets is None else [[paths[i] for i in own["files"]] for own in sets]
    if sum(map(len, groups)) > len(paths):
        return None  # pairs of a file precede its other reads
    tags = str(about.get("tags", ""))
    mates = (_alternating(*(opened(path, tags) for path in own)) for own in groups)
    records = chain.from_iterable(chain.from_iterable(mates))
    found = _find_differences(store, columns, records)
    return where_read(paths, found) if opened is text_reads else list(found)


def _alternating(*mates: Records) -> Iterator[list[ReadRecord]]:
    for pair in zip_longest(*mates):
        yield [record for record in pair if record is not None]


def _find_differences(store: str, columns: list[str], records: Records) -> Iterator[str]:
    first = 0
    while some := list(islice(records, BATCH)):
        for column in columns:
            wanted = [getattr(record, column) for record in some]
            found = _lines(store, column, first, first + len(some))
            if found != wanted:
                at = next(i for i, (a, b) in enumerate(zip_longest(found, wanted)) if a != b)
                yield f"{column}: record {first + at + 1} differs from the source's"
                return
        first += len(some)
    if (stored := max(0, open_array(store, "sequence_offset").shape[0] - 1)) != first:
        yield f"sequence: the store has {stored} records, the source {first}"


def _lines(store: str, column: str, first: int, last: int) -> list[object]:
    """Return lines first..last - 1 of a store's text array; names are split into words."""
    starts = np.asarray(open_array(store, f"{column}_offset")[first : last + 1])
    if len(starts) < 2:
        return []
    text = np.asarray(open_array(store, column)[int(starts[0]) : int(starts[-1])])
    lines = text.tobytes().split(b"\n")[:-1]
    return [split_header(line) if column == "name" else line for line in lines]
