"""gangsaw tcr export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangsaw.codecs.core.errors import GangsawError


def export(
    store: Annotated[str, typer.Argument(help="Zarr store that gangsaw tcr count wrote.")],
    target: Annotated[Path, typer.Argument(help="Table to write: .parquet, .csv or .csv.gz.")],
) -> None:
    """Write a store of counts as a table with a row per reference, as for R.

    Example: gangsaw tcr export paths.zarr paths.parquet --nu 10 --pi 4
    """
    raise GangsawError("not yet")
