"""gangsaw tcr associate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.cluster import Near
from gangsaw.tasks.console.output import clock, progress_bars, time_left, write_json, write_table
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.engine.progress import OnProgress, Progress
    from gangsaw.tasks.tcr.statistics.associate import Association
    from gangsaw.tasks.tcr.statistics.fits.regression import Regression

SHOWN = 12  # numbers of individuals that are listed; --json has all


@panels
def associate(
    counts: Annotated[
        list[str],
        typer.Argument(metavar="COUNTS.zarr...", help="Stores that the table was made from."),
    ],
    table: Annotated[
        Path, typer.Argument(metavar="SHARED.parquet", help="Table of gangsaw tcr share.")
    ],
    *,
    nu: Annotated[
        str | None,
        typer.Option(
            help="Most n-nucleotides of the counts to take: 0,3,10 or all. (default: the most)",
            show_default=False,
        ),
    ] = None,
    pi: Annotated[
        str | None,
        typer.Option(
            help="Longest palindromes of the counts to take: 0,4 or all. (default: the longest)",
            show_default=False,
        ),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the plots, as SVG and PNG.")
    ] = None,
    cluster: Near,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing plots.")] = False,
    printed: tcr.Printed,
) -> None:
    """Correlate path counts with frequency and sharing; regress sharing on counts and calls.

    Do not read the coefficients as effects of path counts: the counts contain each other, and side
    by side in one model they can reverse the sign that each has alone.

    Example: gangsaw tcr associate paths.zarr shared.parquet --plots plots
    """
    from gangsaw.codecs.core.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.statistics.associate import associate as job
    if plots is not None:
        from gangsaw.tasks.tcr.statistics.plots import check_folder

        check_folder(plots, overwrite=overwrite)
    run = partial(job, counts, table, nu=_limits("--nu", nu), pi=_limits("--pi", pi))
    with (
        cluster.session(run) as client,
        progress_bars(quiet=printed.no_bars) as add,
    ):
        bars = None if add is None else _bars(add)
        found = run(client=client, bars=bars)
    if plots is not None:
        from gangsaw.tasks.tcr.statistics.plots import write_plots

        write_plots(found, plots, overwrite=overwrite)
    if printed.as_json:
        write_json(found.to_dict())
    else:
        _write(found)


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


def _write(found: Association) -> None:
    from gangsaw.tasks.tcr.statistics.associate import CAUTION

    notes = [note for note in found.notes if note != CAUTION]
    if CAUTION in found.notes:  # on one line, before the figures: a table would fold it
        sys.stdout.write(f"caution: {CAUTION}\n")
    write_table(
        f"{found.table}: {found.nucleotypes:,} nucleotypes",
        [("seconds", clock(found.seconds)), *(("note", note) for note in notes)],
    )
    limits = {part for each in found.correlations for part in each.paths.split() if "=" in part}
    each_once = len(limits) == len({part.split("=")[0] for part in limits})
    common = sorted(limits) if each_once else []  # what all path counts have is said once
    write_table(
        " ".join(["Spearman's rho (P) of path counts:", *common]),
        _correlations(found, common),
        ("paths", "copies", "frequency", "individuals"),
    )
    if found.regression is not None:
        _write_regression(found.regression, common)
    write_table("means by sharing", *_by_sharing(found, common))


def _without(common: Sequence[str], name: str) -> str:
    return " ".join(part for part in name.split() if part not in common)


def _correlations(found: Association, common: Sequence[str]) -> list[list[str]]:
    rows: dict[str, list[str]] = {}
    for each in found.correlations:
        row = rows.setdefault(each.paths, [_without(common, each.paths)])
        row.append(f"{each.rho:+.3f} ({p_text(each.p, 0)})")
    return list(rows.values())


def p_text(p: float, digits: int = 1) -> str:
    """Return a P value for people: digits after the first one where it is small."""
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.{digits}e}" if p < 1e-3 else f"{p:.{digits + 1}g}"


def _write_regression(found: Regression, common: Sequence[str]) -> None:
    rows = [
        (
            _without(common, each.predictor),
            f"{each.estimate:+.4f}",
            f"{each.error:.4f}",
            f"{each.z:+.2f}",
            p_text(each.p),
            {None: "", True: "keeps", False: "drops"}[each.kept],
        )
        for each in found.coefficients
    ]
    title = f"log odds of being shared ({found.shared:,} of {found.nucleotypes:,}), logistic"
    headers = ("predictor", "per deviation", "error", "z", "P", "LASSO")
    write_table(title, rows, headers)
    converged = "converged" if found.converged else "not converged"
    notes = [("note", note) for note in found.notes]
    fit = f"{found.log_likelihood:.1f}, of the intercept alone {found.null_log_likelihood:.1f}"
    write_table("the fit", [("steps", f"{found.steps}, {converged}"), ("likelihood", fit), *notes])


def _by_sharing(
    found: Association, common: Sequence[str]
) -> tuple[list[list[str]], tuple[str, ...]]:
    people = sorted({each.individuals for each in found.by_sharing})[:SHOWN]
    rows: dict[str, list[str]] = {}
    for each in found.by_sharing:
        if each.individuals in people:
            row = rows.setdefault(each.column, [_without(common, each.column)])
            row.append(f"{each.mean:.4g}")
    return list(rows.values()), ("individuals", *map(str, people))
