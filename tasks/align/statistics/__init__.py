"""How unlikely scores and hits are by chance."""

from gangsaw.tasks.align.statistics.significance import (
    FITTED,
    Significance,
    gapped_significance,
    ungapped_significance,
)

__all__ = ["FITTED", "Significance", "gapped_significance", "ungapped_significance"]
