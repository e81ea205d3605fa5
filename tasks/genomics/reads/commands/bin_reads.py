"""Command `gangsaw bin`: write reads in another order."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.compressed_text.names import FASTQ_NAMES, PACKED
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.cluster import Workers
from gangsaw.tasks.console.output import print_table, progress_bar, show_plan, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import ExistingTarget, OutputOptions
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.formats.contract.pipes import is_stdout, is_stream
from gangsaw.tasks.genomics.reads.files.settings import PAIRINGS, PLACED, Settings
from gangsaw.tasks.genomics.reads.formats import YES

if TYPE_CHECKING:
    from dask.distributed import Client

HELP_GROUP = "Sequences"  # of the command in `gangsaw --help`
ZARR = ".zarr"
MOST_SOURCES = 2


class WritesBins(Protocol):
    """Function that writes reads in another order to the targets of `gangsaw bin`."""

    def __call__(
        self, *, client: Client | None = None, on_progress: OnProgress | None = None
    ) -> dict[str, float]:
        """Write the targets; return figures for the report, by name."""


@expand_panels
def bin_reads(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="READS... OUT",
            help=(
                "FASTQ files to read, two for read pairs; then the FASTQ file or Zarr "
                "store to write."
            ),
        ),
    ],
    *,
    order: Annotated[
        str,
        choice(
            of=PLACED,
            help=(
                "bins, or sorted: bins whose reads are also sorted by their position in "
                "a consensus."
            ),
        ),
    ] = "bins",
    mates: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="FASTQ file for second mates; without it mates alternate in the output.",
        ),
    ] = "",
    interleaved: Annotated[
        bool, typer.Option("--interleaved", help="Mates alternate in the input file.")
    ] = False,
    pairing: Annotated[
        str, choice(of=PAIRINGS, help="Check that the names of mates agree, or not.")
    ] = PAIRINGS[0],
    scratch: Annotated[
        str,
        typer.Option(
            help="Folder for temporary files, unless the order is `kept`. (default: next to OUT)",
            show_default=False,
        ),
    ] = "",
    workers: opt.FewWorkers = None,
    again: ExistingTarget,
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Reorder reads, so that reads of the same genome region are next to each other.

    Example: gangsaw bin a_1.fastq.gz a_2.fastq.gz binned_1.fastq.gz --mates binned_2.fastq.gz
    """
    *sources, out = paths
    if not 1 <= len(sources) <= MOST_SOURCES:
        raise BadParams("name one or two sources and then the target (see gangsaw bin --help)")
    for source in sources:
        if Path(source).suffix.lower() == ZARR:
            raise BadParams(f"{source} is a store: bin orders files, name its FASTQ, FASTA or BAM")
    targets = (out, mates) if mates else (out,)
    settings = Settings(order=order, interleaved=interleaved, pairing=pairing)
    job = _job(sources, targets, settings, scratch, again)
    if dry_run:
        show_plan(job, None, as_json=shown.as_json, targets=targets)
        return
    cluster = Workers(workers=workers or 0)
    with cluster.session(job) as client, progress_bar("bin", quiet=shown.no_bar) as show:
        figures = job(client=client, on_progress=show)
    if any(map(is_stdout, targets)):
        return
    if shown.as_json:
        write_json({"targets": targets, "order": order, **figures})
    else:
        words = ((name, _format_figure(value)) for name, value in figures.items())
        print_table(" ".join(paths), [*words, ("order", order)])


def _format_figure(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.3f}"


def _job(
    sources: list[str],
    targets: tuple[str, ...],
    settings: Settings,
    scratch: str,
    again: ExistingTarget,
) -> WritesBins:
    """Return the function that reorders reads into these targets.

    Raises BadParams for unsupported targets.
    """
    if all(map(_is_fastq, targets)):
        return partial(_to_fastq, tuple(sources), targets, settings, scratch, again)
    if len(targets) > 1 or Path(targets[0]).suffix.lower() != ZARR:
        raise BadParams(
            f"{', '.join(targets)}: a target is one .zarr, or {join_words(FASTQ_NAMES, 'or')} "
            f"(packed as {join_words(PACKED[:-1], 'or')})"
        )
    return partial(_to_zarr, sources, targets[0], settings, scratch, again)


def _is_fastq(path: str) -> bool:
    ends = tuple(f"{name}{packed}" for name in FASTQ_NAMES for packed in ("", *PACKED))
    return is_stream(path) or path.lower().endswith(ends)


def _to_fastq(
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    settings: Settings,
    scratch: str,
    again: ExistingTarget,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, float]:
    from gangsaw.tasks.genomics.reads.export.rewrite import rewrite

    n = rewrite(
        sources,
        targets,
        settings,
        scratch=scratch,
        client=client,
        resume=again.resume,
        overwrite=again.overwrite,
        on_progress=on_progress,
    )
    return {"records": n}


def _to_zarr(
    sources: list[str],
    target: str,
    settings: Settings,
    scratch: str,
    again: ExistingTarget,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, float]:
    from gangsaw.tasks.api import functions

    summary = functions.compress(
        sources,
        target,
        order=settings.order,
        pairing=settings.pairing,
        scratch=scratch or None,
        interleaved=YES if settings.interleaved else None,
        client=client,
        resume=again.resume,
        overwrite=again.overwrite,
        on_progress=on_progress,
    )
    return {"ratio": summary.ratio}
