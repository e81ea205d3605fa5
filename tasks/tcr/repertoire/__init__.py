"""Repertoires in the export formats of programs, as one stream of rows."""

from gangsaw.tasks.tcr.repertoire.opening import Repertoire, open_repertoire
from gangsaw.tasks.tcr.repertoire.rows import ROWS

__all__ = ["ROWS", "Repertoire", "open_repertoire"]
