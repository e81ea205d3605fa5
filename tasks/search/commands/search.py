"""Command `gangsaw search`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import progress_bar
from gangsaw.tasks.console.panels import expand_panels

if TYPE_CHECKING:
    from gangsaw.tasks.engine.report.progress import OnProgress
    from gangsaw.tasks.search.results.search import Search

HELP_GROUP = "Search"  # of the command in `gangsaw --help`
NONE_FOUND = 1  # exit code of grep


@dataclass(frozen=True)
class PatternNotation:
    """Command-line options for the notation of patterns: escapes, hexadecimal or files."""

    PANEL: ClassVar[str] = "Patterns"
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="File of patterns, one per line; - for standard input."),
    ] = None
    in_hex: Annotated[
        bool, typer.Option("--hex", help="Patterns are bytes as hexadecimal digits.")
    ] = False
    escapes: Annotated[
        bool, typer.Option("--escapes", help=r"Patterns may have \n, \t, \r, \0, \\ and \xHH.")
    ] = False


@dataclass(frozen=True)
class SearchOutput:
    """Command-line options for the printed output of a search."""

    PANEL: ClassVar[str] = "Output"
    count: Annotated[
        bool,
        typer.Option(
            "--count",
            "-c",
            help=(
                "Print only the number of lines or reads with a hit; for a genome the "
                "same as --count-matches."
            ),
        ),
    ] = False
    count_matches: Annotated[
        bool,
        typer.Option(
            "--count-matches", help="Print only the number of occurrences of each pattern."
        ),
    ] = False
    most: Annotated[
        int | None,
        typer.Option(
            "--max",
            "-m",
            min=1,
            help="Maximum number of hits of each pattern. (default: all)",
            show_default=False,
        ),
    ] = None
    context: Annotated[
        int,
        typer.Option(
            "--context",
            "-C",
            min=0,
            help="Number of context lines around each hit; of bases around it in genomes.",
        ),
    ] = 0


@expand_panels
def search(
    store: Annotated[str, typer.Argument(help="Zarr store with an index of gangsaw index.")],
    patterns: Annotated[
        list[str] | None, typer.Argument(help="Patterns to search for.", metavar="[patterns]...")
    ] = None,
    *,
    sought: PatternNotation,
    shown: SearchOutput,
    index: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Index to use. (default: STORE.index.zarr)", show_default=False
        ),
    ] = "",
    variable: Annotated[
        str | None,
        typer.Option(
            help="Name of the array to search, if several are indexed.", show_default=False
        ),
    ] = None,
    cluster: LocalWorkers,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Find exact occurrences of patterns in an indexed store: lines, records or reads.

    Each line follows the offset of its first byte. Offsets and reads count from 0, residues from 1.
    Of a line of more than 1 MiB a part is shown, and the number of bytes left out.
    Exit codes: 0 found, 1 not found, 2 error.

    Example: gangsaw search logs.zarr "connection refused" -C 2
    """
    from gangsaw.tasks.search.commands.patterns import patterns_of
    from gangsaw.tasks.search.results.search import open_search

    with _errors_as_greps():
        wanted = patterns_of(
            patterns or (), sought.file, in_hex=sought.in_hex, escaped=sought.escapes
        )
        run = partial(open_search, store, index=index or None, variable=variable)
        with (
            cluster.session(run) as client,
            progress_bar("search", quiet=quiet or as_json) as show,
        ):
            opened = run(client=client)
            n = _search(opened, wanted, shown, show, as_json=as_json)
    if not n:
        raise typer.Exit(NONE_FOUND)


def _search(
    opened: Search,
    wanted: list[bytes],
    shown: SearchOutput,
    show: OnProgress | None,
    *,
    as_json: bool,
) -> int:
    """Print the occurrences or counts of patterns; return the number of occurrences or lines."""
    from gangsaw.tasks.search.results import report

    if shown.count and shown.count_matches:
        raise BadParams("lines are counted, or matches: not both")
    if shown.count and opened.has_lines:
        n = opened.count_lines(wanted, on_progress=show)
        report.write_line_count(n, as_json=as_json)
        return n
    if shown.count or shown.count_matches:
        counts = opened.counts(wanted, on_progress=show)
        report.write_counts(wanted, counts, as_json=as_json)
        return int(counts.sum())
    hits = opened.locate(wanted, shown.most, on_progress=show)
    if as_json:
        report.write_hits_as_json(opened, wanted, hits)
    elif opened.records is not None:
        report.write_residues(opened, wanted, hits, shown.context)
    else:
        report.write_matching_lines(opened, wanted, hits, shown.context)
    return len(hits)


@contextmanager
def _errors_as_greps() -> Iterator[None]:
    """Convert errors to exit code 2, as in grep, where 1 means that nothing is found."""
    try:
        yield
    except (BadParams, BrokenPipeError):  # BrokenPipeError comes from a reader such as head
        raise
    except (GangsawError, OSError) as error:
        raise BadParams(str(error)) from error
