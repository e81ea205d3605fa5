"""How unlikely scores and hits are by chance."""

from gangsaw.tasks.align.statistics.significance import (
    Significance,
    gapped_significance,
    ungapped_significance,
)

__all__ = ["Significance", "gapped_significance", "ungapped_significance"]
