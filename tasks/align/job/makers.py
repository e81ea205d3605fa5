"""What workers make: indexes of parts, hits of batches in parts, and the text of batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.align.job.bundle import mapped, packed
from gangsaw.tasks.align.job.genome import GenomeParts, GenomeText, indexed, load_part
from gangsaw.tasks.align.output.formats import FORMATS
from gangsaw.tasks.align.output.lines import LineSource
from gangsaw.tasks.align.output.report import reported
from gangsaw.tasks.align.queries.queries import Queries
from gangsaw.tasks.align.search.hits import HIT, Hits
from gangsaw.tasks.align.search.join import joined
from gangsaw.tasks.align.search.params import SearchParams
from gangsaw.tasks.align.search.search import search
from gangsaw.tasks.align.sets.pairs import sequences_of
from gangsaw.tasks.jobs.parts import Made, Parts

COUNTS = ("queries", "aligned", "hits", "letters")  # of a batch


@dataclass(frozen=True)
class MakeIndex:
    """Makes the index of a part of the genome."""

    genome: GenomeText
    parts: GenomeParts
    params: SearchParams

    def __call__(self, part: int) -> Made:
        """Return its bytes."""
        data = packed(indexed(self.genome, self.parts.window(part), self.params.rules.seeds))
        return data, len(data)


@dataclass(frozen=True)
class MakeHits:
    """Makes the hits of a batch of queries in a part of the genome."""

    genome: GenomeText
    indexes: Parts
    queries: Parts
    n_batches: int
    params: SearchParams

    def __call__(self, number: int) -> Made:
        """Return their bytes: places are those in the records of the genome."""
        part, batch = divmod(number, self.n_batches)
        own = load_part(self.indexes.path(part), self.indexes.job)
        queries = load_queries(self.queries, batch)
        codes = sequences_of([queries.sequences.data]).codes
        offsets = queries.sequences.offsets.copy()
        rows, runs = search(codes, offsets, own.target, self.params.rules, np.empty(0, HIT))
        rows["record"] += own.first
        shifts = own.begin - self.genome.starts[rows["record"]]
        rows["there"] += shifts
        rows["there_end"] += shifts
        return packed({"rows": rows, "runs": runs}), rows.nbytes


@dataclass(frozen=True)
class MakeText:
    """Makes the text of a batch of queries from its hits in all parts.

    Attributes
    ----------
    format : one of FORMATS
    """

    genome: GenomeText
    hits: Parts
    queries: Parts
    n_parts: int
    n_batches: int
    params: SearchParams
    format: str

    def __call__(self, batch: int) -> Made:
        """Return the lines of its queries, in their order."""
        queries = load_queries(self.queries, batch)
        found = self._hits(batch)
        if self.n_parts > 1:
            found = joined(found, self.params.rules.costs)
        names, lengths = self.genome.names, self.genome.lengths
        report = reported(queries.sequences.lengths, found, lengths, self.params)
        text = FORMATS[self.format].lines(LineSource(queries, report, names, lengths))
        rows, offsets = report.rows, queries.sequences.offsets
        counts = (len(queries.sequences), np.unique(rows["query"]).size, rows.size, offsets[-1])
        arrays: dict[str, NumpyArray] = {
            "text": np.frombuffer(text, np.uint8),
            "counts": np.array(counts, np.int64),
        }
        return packed(arrays), int(offsets[-1])

    def _hits(self, batch: int) -> Hits:
        """Return the hits of all parts, sorted by query, strand, record and place."""
        numbers = range(batch, self.n_parts * self.n_batches, self.n_batches)
        found = [mapped(self.hits.path(number)) for number in numbers]
        at = np.cumsum([0, *(own["runs"].size for own in found)])
        rows = np.concatenate([own["rows"] for own in found])
        shifts = np.repeat(at[:-1], [own["rows"].size for own in found])
        rows["runs"] += shifts
        rows["runs_end"] += shifts
        order = np.lexsort([rows[name] for name in ("begin", "there", "record", "strand", "query")])
        return Hits(rows[order], np.concatenate([own["runs"] for own in found]))


def load_queries(parts: Parts, batch: int) -> Queries:
    """Return a batch of queries."""
    return Queries.from_arrays(mapped(parts.path(batch)))
