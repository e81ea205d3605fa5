"""Functions of the steps, run on workers: indexes of parts, hits of batches, text of batches."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.ragged import offsets_of
from gangsaw.tasks.genomics.align.job.bundle import map_arrays, pack_arrays
from gangsaw.tasks.genomics.align.job.genome import (
    GenomeParts,
    GenomeText,
    check_unchanged,
    indexed,
    load_part,
)
from gangsaw.tasks.genomics.align.job.rescue import with_rescued
from gangsaw.tasks.genomics.align.output.formats import FORMATS
from gangsaw.tasks.genomics.align.output.lines import LineSource
from gangsaw.tasks.genomics.align.output.read_group import id_of, read_group_of
from gangsaw.tasks.genomics.align.output.report import reported
from gangsaw.tasks.genomics.align.queries.queries import Queries
from gangsaw.tasks.genomics.align.search.hits import HIT, Hits
from gangsaw.tasks.genomics.align.search.join import merge_hits
from gangsaw.tasks.genomics.align.search.mates import Insert, insert_of
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.search.search import search_queries
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.genomics.align.sets.pairs import Codes, Places, SequenceSet, sequences_of
from gangsaw.tasks.genomics.reads.files.kernels import gather_lines
from gangsaw.tasks.jobs.steps.step_objects import Made, StepOutputs

LEVEL = 5  # gzip compression level
COUNTS = ("queries", "aligned", "hits", "letters")  # of a batch


@dataclass(frozen=True)
class MakeIndex:
    """Task that builds the minimizer index of one part of the genome."""

    genome: GenomeText
    parts: GenomeParts
    seeds: Seeds

    def __call__(self, part: int) -> Made:
        """Return the packed index and its size; raise JobFailed if the genome changed meanwhile."""
        data = pack_arrays(indexed(self.genome, self.parts.window(part), self.seeds))
        check_unchanged(self.genome)
        return data, len(data)


@dataclass(frozen=True)
class MakeHits:
    """Task that searches one batch of queries in one part of the genome."""

    genome: GenomeText
    indexes: StepOutputs
    queries: StepOutputs
    n_batches: int
    params: SearchParams

    def __call__(self, number: int) -> Made:
        """Return the packed hits, at positions relative to the genome's records, and their size."""
        part, batch = divmod(number, self.n_batches)
        own = load_part(self.indexes, part)
        queries = load_queries(self.queries, batch)
        codes = sequences_of([queries.sequences.data]).codes
        offsets = queries.sequences.offsets.copy()
        rows, runs = search_queries(codes, offsets, own.target, self.params.rules, np.empty(0, HIT))
        rows["record"] += own.first
        shifts = own.begin - self.genome.starts[rows["record"]]
        rows["there"] += shifts
        rows["there_end"] += shifts
        return pack_arrays({"rows": rows, "runs": runs}), rows.nbytes


@dataclass(frozen=True)
class FoundHits:
    """Files of the hits of all batches of queries in all parts of the genome, and of the parts."""

    hits: StepOutputs
    indexes: StepOutputs
    cut: GenomeParts
    n_batches: int

    def of_batch(self, batch: int) -> Hits:
        """Return the hits of a batch in all parts, sorted by query, strand, record and position."""
        numbers = range(batch, len(self.cut) * self.n_batches, self.n_batches)
        found = [map_arrays(self.hits.path(number)) for number in numbers]
        at = np.cumsum([0, *(own["runs"].size for own in found)])
        rows = np.concatenate([own["rows"] for own in found])
        shifts = np.repeat(at[:-1], [own["rows"].size for own in found])
        rows["runs"] += shifts
        rows["runs_end"] += shifts
        order = np.lexsort([rows[name] for name in ("begin", "there", "record", "strand", "query")])
        return Hits(rows[order], np.concatenate([own["runs"] for own in found]))

    def codes(self, begin: int, end: int) -> Codes:
        """Return bases begin..end - 1 of the genome as codes, from the files of its parts."""
        found = []
        while begin < end:
            part = min(begin // self.cut.letters, len(self.cut) - 1)
            own = load_part(self.indexes, part)
            last = min(end, own.begin + own.target.codes.size)
            found.append(own.target.codes[begin - own.begin : last - own.begin])
            begin = last
        return np.concatenate([np.empty(0, np.uint8), *found])

    def windows(self, begins: Places, ends: Places) -> Codes:
        """Return the concatenated bases begins[i]..ends[i] - 1 of the genome, read part by part."""
        firsts = offsets_of(ends - begins)
        out = np.empty(int(firsts[-1]), np.uint8)
        parts = np.minimum(begins // self.cut.letters, len(self.cut) - 1)
        for part in np.unique(parts).tolist():
            own = load_part(self.indexes, part)
            codes, mine = own.target.codes, parts == part
            inside = np.flatnonzero(mine & (ends <= own.begin + codes.size))
            gather_lines(
                codes, begins[inside] - own.begin, ends[inside] - own.begin, firsts[inside], out
            )
            for i in np.flatnonzero(mine & (ends > own.begin + codes.size)).tolist():
                out[firsts[i] : firsts[i + 1]] = self.codes(int(begins[i]), int(ends[i]))
        return out


@dataclass(frozen=True)
class WrittenLines:
    """Format of an alignment job's output lines.

    Attributes
    ----------
    format : one of FORMATS
    is_packed : True if each batch is compressed with gzip
    is_paired : True if queries 2i and 2i + 1 are mates
    """

    format: str
    is_packed: bool
    is_paired: bool


@dataclass(frozen=True)
class MakeText:
    """Task that writes the output lines of a batch of queries from its hits in all parts.

    Attributes
    ----------
    written : format of the lines
    """

    genome: GenomeText
    found: FoundHits
    queries: StepOutputs
    params: SearchParams
    written: WrittenLines

    def __call__(self, batch: int) -> Made:
        """Return the packed lines of a batch, in the queries' order, and its number of bases."""
        queries = load_queries(self.queries, batch)
        found, insert = self._found(batch, queries)
        names, lengths = self.genome.names, self.genome.lengths
        report = reported(queries.sequences.lengths, found, lengths, self.params, insert)
        own = self.params.eqx, id_of(read_group_of(self.params.read_group)), insert
        source = LineSource(queries, report, names, lengths, self._windows, *own)
        text = FORMATS[self.written.format].lines(source)
        text = gzipped(text) if self.written.is_packed else text
        rows, offsets = report.rows, queries.sequences.offsets
        counts = (len(queries.sequences), np.unique(rows["query"]).size, rows.size, offsets[-1])
        arrays: dict[str, NumpyArray] = {
            "text": np.frombuffer(text, np.uint8),
            "counts": np.array(counts, np.int64),
        }
        return pack_arrays(arrays), int(offsets[-1])

    def _found(self, batch: int, queries: Queries) -> tuple[Hits, Insert | None]:
        """Return the hits of a batch in all parts; for mates also the length range of fragments."""
        found = self.found.of_batch(batch)
        if len(self.found.cut) > 1:
            found = merge_hits(found, self.params.rules.costs)
        if not self.written.is_paired:
            return found, None
        insert, lines = insert_of(found.rows, len(queries.sequences)), queries.sequences
        own = SequenceSet(sequences_of([lines.data]).codes, lines.offsets)
        lengths = self.genome.lengths
        return with_rescued(found, own, lengths, insert, self._codes, self.params), insert

    def _windows(self, records: Places, begins: Places, ends: Places) -> Codes:
        """Return the concatenated bases begins[i]..ends[i] - 1 of records as codes."""
        firsts = self.genome.starts[records]
        return self.found.windows(firsts + begins, firsts + ends)

    def _codes(self, record: int, begin: int, end: int) -> Codes:
        """Return bases begin..end - 1 of a record of the genome as codes."""
        first = int(self.genome.starts[record])
        return self.found.codes(first + begin, first + end)


def gzipped(text: bytes) -> bytes:
    """Return text as one gzip member without a time stamp; b"" for an empty text."""
    return gzip.compress(text, LEVEL, mtime=0) if text else b""


def load_queries(parts: StepOutputs, batch: int) -> Queries:
    """Load a batch of queries from its file."""
    return Queries.from_arrays(map_arrays(parts.path(batch)))
