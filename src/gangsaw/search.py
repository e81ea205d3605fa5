"""Search in stores: `index("logs.zarr")` once, then `open("logs.zarr").count("error")`."""

from __future__ import annotations

from gangsaw.tasks.search.results.hits import Occurrences
from gangsaw.tasks.search.results.matches import ExactMatches
from gangsaw.tasks.search.results.search import Search
from gangsaw.tasks.search.results.search import open_search as open
from gangsaw.tasks.search.stored.job import index_job as index

__all__ = ["ExactMatches", "Occurrences", "Search", "index", "open"]
