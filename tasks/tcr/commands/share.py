"""Command `gangsaw tcr share`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import clock, print_table, progress_bar, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.sharing.rarefy import Rarefaction
    from gangsaw.tasks.tcr.sharing.share import Shared

PAIRS = 5  # pairs in the table; --json has more
PAIR_HEADERS = ("pair", "nucleotypes", "shared", "expected", "distance")
NAME = 13  # characters of a sample's name in that table
SHOWN = 20  # numbers of individuals with a row of their own; --json has all


@expand_panels
def share(
    counts: Annotated[
        list[str], typer.Argument(metavar="COUNTS.zarr...", help="Stores of gangsaw tcr count.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT.parquet", help="Table to write.")],
    *,
    individuals: Annotated[
        Path | None,
        typer.Option(
            help="Table of sample and individual, which joins the samples of a donor; metadata of "
            "VDJtools or AIRR (sample_id, repertoire_id; subject_id, donor), too. "
            "(default: each sample is one)",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            help="nt: nucleotypes. aa: amino-acid clonotypes, with their variants and summed "
            "paths; aa-v: these with V.",
        ),
    ] = "nt",
    rarefy: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Draw each individual down to N copies without replacement; min: to the fewest "
            "that one has. (default: use all)",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of --rarefy.")] = 0,
    cluster: LocalWorkers,
    overwrite: opt.Overwrite = False,
    printed: tcr.Printed,
) -> None:
    """Find the nucleotypes, identical CDR3 with the same V and J, that individuals share.

    The output lists the pairs of individuals that share most. A warning names pairs that share far
    more than the rest: one donor sampled twice, or contamination.

    Example: gangsaw tcr share paths.zarr shared.parquet --individuals donors.tsv
    """
    from gangsaw.codecs.core.plugins.extras import extras_named
    from gangsaw.tasks.formats.contract.pipes import copy_pipes_to_files

    with extras_named():
        from gangsaw.tasks.tcr.sharing.share import share as job
    rarefaction = _rarefaction(rarefy, seed)
    with copy_pipes_to_files([] if individuals is None else [str(individuals)]) as tables:
        run = partial(
            job,
            counts,
            target,
            table=next(iter(tables), None),
            by=by,
            rarefy=rarefaction,
            overwrite=overwrite,
        )
        with (
            cluster.session(run) as client,
            progress_bar("share", quiet=printed.no_bars) as show,
        ):
            found = run(client=client, on_progress=show)
    if printed.as_json:
        write_json(found.to_dict())
    else:
        print_table(found.target, _rows(found))
        headers = ("individuals", found.word, "percent", *(["variants"] if found.variants else []))
        print_table("sharing", _sharing(found), headers)
        if found.overlaps:
            print_table("pairs that share most", _pairs(found), PAIR_HEADERS)


def _rarefaction(text: str | None, seed: int) -> Rarefaction | None:
    from gangsaw.tasks.tcr.sharing.rarefy import SMALLEST, Rarefaction

    if text is None:
        return None
    if text != "min" and not (text.isdecimal() and int(text)):
        raise BadParams(f"--rarefy must be min or a number of copies, got {text!r}")
    return Rarefaction(SMALLEST if text == "min" else int(text), seed)


def _rows(found: Shared) -> list[tuple[str, str]]:
    return [
        ("rows", f"{found.rows:,} of {found.samples:,} samples, {found.individuals:,} individuals"),
        (found.word, f"{found.nucleotypes:,}, {found.shared:,} of them shared"),
        *([] if found.depth is None else [("depth", f"{found.depth:,} copies of each, drawn")]),
        ("seconds", clock(found.seconds)),
        *(("note", note) for note in found.notes),
    ]


def _sharing(found: Shared) -> Sequence[tuple[str, ...]]:
    each = sorted(found.sharing.items())
    rows = [(str(k), n, _mean(found.variants.get(k))) for k, n in each[:SHOWN]]
    if rest := each[SHOWN:]:
        rows.append((f"{rest[0][0]} or more", sum(n for _, n in rest), ""))
    whole = [(k, f"{n:,}", f"{100 * n / found.nucleotypes:.3g}", v) for k, n, v in rows]
    return whole if found.variants else [row[:-1] for row in whole]


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _pairs(found: Shared) -> list[tuple[str, ...]]:
    far = sum(each.far for each in found.overlaps)
    return [
        (
            f"{_short(each.one)} + {_short(each.other)}",
            f"{each.one_has:,} + {each.other_has:,}",
            f"{each.shared:,}",
            f"{each.expected:.3g}",
            f"{each.distance:+.1f}{' !' if each.far else ''}",
        )
        for each in found.overlaps[: max(PAIRS, min(far, SHOWN))]
    ]


def _short(name: str) -> str:
    """Return a sample's name, shortened for a table of 80 columns."""
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"
