"""Counts of kept and dropped rows, per sample and reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.tcr.repertoire.reasons import NO_REASON, ORDER

with extras_named():
    import pyarrow as pa


@dataclass(frozen=True)
class RowCounts:
    """Counts of kept rows, and of dropped rows by reason, per sample; they can be added.

    Attributes
    ----------
    rows : (sample, reason) -> number of rows; the reason is "" for kept rows
    """

    rows: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __add__(self, other: RowCounts) -> RowCounts:
        """Return the sums of both counts."""
        return RowCounts(dict(Counter(self.rows) + Counter(other.rows)))

    @property
    def samples(self) -> tuple[str, ...]:
        """Names of all samples, in order of first appearance."""
        return tuple(dict.fromkeys(sample for sample, _ in self.rows))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons with at least one row, in the order of `ORDER`."""
        given = {reason for _, reason in self.rows}
        return tuple(reason for reason in ORDER if reason in given)

    def count(self, sample: str, reason: str = NO_REASON) -> int:
        """Return the number of rows of a sample that were dropped for a reason, or kept."""
        return self.rows.get((sample, reason), 0)

    def total(self, reason: str = NO_REASON) -> int:
        """Return the number of rows of all samples that were dropped for a reason, or kept."""
        return sum(count for (_, given), count in self.rows.items() if given == reason)


def row_counts(valid: pa.RecordBatch, dropped: pa.RecordBatch) -> RowCounts:
    """Return the counts of the two batches that `clean` returned."""
    pairs = pa.concat_tables(
        [
            pa.table({"sample": valid["sample"], "reason": pa.repeat(NO_REASON, len(valid))}),
            pa.table({"sample": dropped["sample"], "reason": dropped["reason"]}),
        ]
    )
    counts = pairs.group_by(["sample", "reason"], use_threads=False).aggregate([([], "count_all")])
    rows = counts.to_pylist()
    return RowCounts({(row["sample"], row["reason"]): row["count_all"] for row in rows})


def sum_row_counts(tallies: Iterable[RowCounts]) -> RowCounts:
    """Return the sum of several counts."""
    return sum(tallies, RowCounts())
