"""Options that the commands of `gangsaw tcr` share, and the values behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.germline import Germline

GERMLINE = "Germline"

Source = Annotated[
    list[str],
    typer.Option(
        "--germline",
        help="FASTA (IMGT style) or table of genes, .gz or not, repeatable for V, D and J; or "
        "olga, the genes of that package's models.",
        rich_help_panel=GERMLINE,
    ),
]
Locus = Annotated[
    str,
    typer.Option(
        help="TRA, TRB, TRG or TRD; only one is counted at once. (germline: IGH, IGK, IGL, too)",
        rich_help_panel=GERMLINE,
    ),
]
Species = Annotated[
    str | None,
    typer.Option(
        help="human, mouse, or as the source says. (default: the only one of the source)",
        show_default=False,
        rich_help_panel=GERMLINE,
    ),
]
Anchors = Annotated[
    str | None,
    typer.Option(
        help="Table with columns gene and anchor_index, from 0: where the Cys or Phe/Trp codon "
        "begins, for genes whose anchor is not found.",
        rich_help_panel=GERMLINE,
    ),
]
MaxP = Annotated[
    int, typer.Option(min=0, max=4, help="Longest palindrome; genes of fewer bases are left out.")
]


def germline_of(
    source: Sequence[str], locus: str, species: str | None, anchors: str | None, max_p: int
) -> Germline:
    """Return what the options of the germline panel say, without parts shorter than max_p."""
    from gangsaw.tasks.tcr.germline import open_germline

    opened = open_germline(source, locus=locus, species=species, anchors=anchors)
    return opened.checked(max_p)
