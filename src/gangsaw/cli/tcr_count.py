"""gangsaw tcr count."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.codecs.core.errors import GangsawError


def count(
    repertoire: Annotated[
        list[str],
        typer.Argument(help="AIRR, VDJtools, immunoSEQ, 10x, MiXCR tables or Parquet; .gz or not."),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT.zarr", help="Zarr store to write.")],
) -> None:
    """Count the recombination paths that lead to every CDR3 of some repertoires.

    Example: gangsaw tcr count donor1.tsv.gz donor2.tsv.gz paths.zarr --germline olga
    """
    raise GangsawError("not yet")
