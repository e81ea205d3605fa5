"""How many rows were kept and dropped, per sample and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gangsaw.codecs.core.extras import extras_named
from gangsaw.tasks.tcr.repertoire.reasons import KEPT, ORDER

with extras_named():
    import pyarrow as pa


@dataclass(frozen=True)
class RowCounts:
    """How many rows were kept, and dropped for which reason: per sample. Tallies add up.

    Attributes
    ----------
    rows : (sample, reason) -> number of rows, the reason "" for those that were kept
    """

    rows: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the tally of the rows of both."""
        return RowCounts(dict(Counter(self.rows) + Counter(other.rows)))

    @property
    def samples(self) -> tuple[str, ...]:
        """All samples, in the order in which they came."""
        return tuple(dict.fromkeys(sample for sample, _ in self.rows))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons that were given, in the order of `ORDER`."""
        given = {reason for _, reason in self.rows}
        return tuple(reason for reason in ORDER if reason in given)

    def count(self, sample: str, reason: str = KEPT) -> int:
        """Return how many rows of a sample were dropped for a reason, or kept."""
        return self.rows.get((sample, reason), 0)

    def total(self, reason: str = KEPT) -> int:
        """Return how many rows of all samples were dropped for a reason, or kept."""
        return sum(count for (_, given), count in self.rows.items() if given == reason)


def row_counts(kept: pa.RecordBatch, dropped: pa.RecordBatch) -> RowCounts:
    """Return the tally of what `clean` returned."""
    pairs = pa.concat_tables(
        [
            pa.table({"sample": kept["sample"], "reason": pa.repeat(KEPT, len(kept))}),
            pa.table({"sample": dropped["sample"], "reason": dropped["reason"]}),
        ]
    )
    counts = pairs.group_by(["sample", "reason"], use_threads=False).aggregate([([], "count_all")])
    rows = counts.to_pylist()
    return RowCounts({(row["sample"], row["reason"]): row["count_all"] for row in rows})


def merged(tallies: Iterable[RowCounts]) -> RowCounts:
    """Return the sum of tallies."""
    return sum(tallies, RowCounts())
