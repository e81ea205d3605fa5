"""gangsaw bin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.output import progress_bar, write_table
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.reads.files.settings import ORDERS, Settings
from gangsaw.tasks.reads.formats import YES
from gangsaw.tasks.sequences.files.names import FASTQ_NAMES, PACKED

MOST_SOURCES = 2
STDOUT = "-"


def bin_reads(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="READS... OUT",
            help="FASTQ to read, of mates two files; then the FASTQ or Zarr store to write.",
        ),
    ],
    order: Annotated[
        str, choice(of=ORDERS[1:], help="bins, or sorted also by places in a consensus.")
    ] = "bins",
    mates: Annotated[
        str, typer.Option(help="FASTQ for second mates; without it mates alternate in OUT.")
    ] = "",
    interleaved: Annotated[
        bool, typer.Option("--interleaved", help="Mates alternate in the file that is read.")
    ] = False,
    overwrite: opt.Overwrite = False,
    quiet: opt.Quiet = False,
) -> None:
    """Put reads into another order: those of one place of the genome near to each other.

    Example: gangsaw bin a_1.fastq.gz a_2.fastq.gz binned_1.fastq.gz --mates binned_2.fastq.gz
    """
    *sources, out = paths
    if not 1 <= len(sources) <= MOST_SOURCES:
        raise BadParams("name one or two sources and then the target (see gangsaw bin --help)")
    targets = (out, mates) if mates else (out,)
    if all(map(_is_fastq, targets)):
        with progress_bar("bin", quiet=quiet) as show:
            n = _to_fastq(
                sources, targets, Settings(order=order, interleaved=interleaved), overwrite, show
            )
        if STDOUT not in targets:
            write_table(" ".join(paths), [("records", f"{n:,}"), ("order", order)])
        return
    if mates or Path(out).suffix.lower() != ".zarr":
        raise BadParams(
            f"{', '.join(targets)}: a target is one .zarr, or {listed(FASTQ_NAMES, 'or')} "
            f"(packed as {listed(PACKED[:-1], 'or')})"
        )
    from gangsaw.tasks import api

    with progress_bar("bin", quiet=quiet) as show:
        summary = api.compress(
            sources,
            out,
            order=order,
            interleaved=YES if interleaved else None,
            overwrite=overwrite,
            on_progress=show,
        )
    write_table(" ".join(paths), [("order", order), ("ratio", f"{summary.ratio:.3f}")])


def _is_fastq(path: str) -> bool:
    ends = tuple(f"{name}{packed}" for name in FASTQ_NAMES for packed in ("", *PACKED))
    return path == STDOUT or path.lower().endswith(ends)


def _to_fastq(
    sources: list[str],
    targets: tuple[str, ...],
    settings: Settings,
    overwrite: bool,
    on_progress: OnProgress | None,
) -> int:
    from gangsaw.tasks.reads.export.rewrite import rewrite

    return rewrite(tuple(sources), targets, settings, overwrite=overwrite, on_progress=on_progress)
