"""Search in stores: `index("logs.zarr")` once, then `open("logs.zarr").count("error")`."""

from __future__ import annotations

from gangsaw.tasks.index.found.hits import Occurrences
from gangsaw.tasks.index.found.matches import ExactMatches
from gangsaw.tasks.index.found.search import Search
from gangsaw.tasks.index.found.search import open_search as open
from gangsaw.tasks.index.stored.job import index_job as index

__all__ = ["ExactMatches", "Occurrences", "Search", "index", "open"]
