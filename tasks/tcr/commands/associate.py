"""Command `gangsaw tcr associate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import progress_bars, time_left, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr
from gangsaw.tasks.tcr.commands.association import print_association

if TYPE_CHECKING:
    from gangsaw.tasks.engine.report.progress import OnProgress, Progress
    from gangsaw.tasks.tcr.statistics.associate import Extras


@dataclass(frozen=True)
class More:
    """Options for further analyses: LASSO, probabilities of generation."""

    PANEL: ClassVar[str] = "More"
    lasso: Annotated[
        bool,
        typer.Option(
            "--lasso",
            help=(
                "Also regress on all gene and end lengths, with variables selected by "
                "the adaptive LASSO."
            ),
        ),
    ] = False
    pgen: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Compare with olga's probabilities of generation, of N nucleotypes, half of them "
            "shared: some hundred a second. (default: 0, none)",
            show_default=False,
        ),
    ] = 0
    species: Annotated[
        str | None,
        typer.Option(
            help="human or mouse, of olga's model. (default: as the germline says)",
            show_default=False,
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the random selection of N nucleotypes.")
    ] = 0

    def extras(self) -> Extras:
        """Return the options as `Extras` of the function `associate`."""
        from gangsaw.tasks.tcr.statistics.associate import Extras

        return Extras(self.lasso, self.pgen, self.seed, self.species)


@expand_panels
def associate(
    counts: Annotated[
        list[str],
        typer.Argument(
            metavar="COUNTS.zarr...", help="Stores of path counts from which the table was made."
        ),
    ],
    table: Annotated[
        Path, typer.Argument(metavar="SHARED.parquet", help="Table of gangsaw tcr share.")
    ],
    *,
    nu: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=(
                "Limits on n-nucleotides whose counts are used: 0,3,10 or all. (default: "
                "the highest)"
            ),
            show_default=False,
        ),
    ] = None,
    pi: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=(
                "Limits on palindromes whose counts are used: 0,4 or all. (default: the highest)"
            ),
            show_default=False,
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the plots, as SVG and PNG.")
    ] = None,
    more: More,
    cluster: LocalWorkers,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing plots.")] = False,
    printed: tcr.Printed,
) -> None:
    """Report the association of path counts with sharing: AUC, deciles, odds ratios.

    The area under the curve (AUC) is the probability that a shared nucleotype has more paths than
    another one. The odds ratio is that of being shared per tenfold paths, adjusted for length and
    its square, usage of V and J, and depth. Standard errors are by the jackknife over individuals.

    Example: gangsaw tcr associate paths.zarr shared.parquet --plots plots
    """
    from gangsaw.codecs.core.plugins.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.statistics.associate import associate as job
    if plots is not None:
        from gangsaw.tasks.tcr.statistics.plots import check_folder

        check_folder(plots, overwrite=overwrite)
    from gangsaw.tasks.formats.contract.pipes import copy_pipes_to_files

    n_limits, p_limits = _limits("--nu", nu), _limits("--pi", pi)
    with copy_pipes_to_files([str(table)]) as (ready,):
        run = partial(job, counts, ready, nu=n_limits, pi=p_limits, extras=more.extras())
        with (
            cluster.session(run) as client,
            progress_bars(quiet=printed.no_bars) as add,
        ):
            found = run(client=client, bars=None if add is None else _bars(add))
    found = replace(found, table=str(table))
    if plots is not None:
        from gangsaw.tasks.tcr.statistics.plots import write_plots

        write_plots(found, plots, overwrite=overwrite)
    if printed.as_json:
        write_json(found.to_dict())
    else:
        print_association(found)


def _limits(option: str, text: str | None) -> tuple[int, ...] | None:
    if text is None or text == "all":
        return None if text is None else ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise BadParams(f"{option} must be all or numbers such as 0,3,10, got {text!r}") from None


def _bars(
    add: Callable[[str, Callable[[Progress], str]], OnProgress],
) -> Callable[[str], OnProgress]:
    def status(state: Progress) -> str:
        return "  ".join([f"{state.done}/{state.total} runs of rows", *time_left(state)])

    def bar(title: str) -> OnProgress:
        found: OnProgress = add(title, status)
        return found

    return bar
