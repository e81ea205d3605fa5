"""A store of counts whose nucleotypes are shared, and what is associated with that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import Association, associate
from helpers.tcr_stores import Made, repertoires, write_counts

SAMPLES = ("ann", "ben", "cem", "dee", "eve")
ROWS = repertoires(1, 1500, SAMPLES, pool=1200)


def shared_store(folder: Path) -> Made:
    """Write a store of counts, and the table of its nucleotypes next to it."""
    made = write_counts(folder / "counts.zarr", ROWS, SAMPLES)
    share([str(made.path)], table_of(made))
    return made


def table_of(made: Made) -> Path:
    return made.path.with_name("shared.parquet")


def run(made: Made, **options: Any) -> Association:
    return associate([str(made.path)], table_of(made), **options)
