"""Statistical significance of scores and hits."""

from gangsaw.tasks.genomics.align.statistics.significance import (
    FITTED,
    Significance,
    gapped_significance,
    ungapped_significance,
)

__all__ = ["FITTED", "Significance", "gapped_significance", "ungapped_significance"]
