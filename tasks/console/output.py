"""What the commands print: figures to stdout, progress to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from gangsaw.cluster.dashboard.units import clock as clock
from gangsaw.cluster.dashboard.units import rate as rate
from gangsaw.cluster.dashboard.units import size as size
from gangsaw.tasks.console.kernels import drawn_by

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from gangsaw.codecs.core.numba.kept.telling import KernelCount
    from gangsaw.tasks.engine.progress import OnProgress, Progress
    from gangsaw.tasks.jobs.compress import Summary

    StatusOf = Callable[[Progress], str]


STOPPED = "interrupted: finished chunks are safe; run the same command with --resume to continue"


class Interrupted(Exception):
    """Ctrl-C, with what the user can do now; typer would swallow a KeyboardInterrupt's text."""


def write_json(figures: Mapping[str, object]) -> None:
    """Print figures as one JSON object."""
    sys.stdout.write(json.dumps(figures, indent=2, default=str) + "\n")


def job_figures(summary: Summary) -> dict[str, object]:
    """Return the figures of a finished job as JSON holds them."""
    derived = ("ratio", "bits_per_sample", "throughput")
    return {**vars(summary), **{name: getattr(summary, name) for name in derived}}


def clear(wanted: bool = True) -> None:
    """Clear the terminal, if it is one, for what is shown again and again."""
    from rich.console import Console

    if wanted:
        Console().clear()


def write_table(
    title: str, rows: Sequence[Sequence[str]], headers: Sequence[str] | None = None
) -> None:
    """Print a table; without headers the first column names what the second holds."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.print(title, style="bold", markup=False, soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD, show_header=bool(headers))
    for i, header in enumerate(headers or ("", "")):
        justify = "right" if headers and i else "left"
        table.add_column(header, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


@contextmanager
def progress_bar(
    title: str, status: str = "starting", *, quiet: bool = False
) -> Iterator[OnProgress | None]:
    """Yield a callback that draws a bar with throughput, ratio and time left on a terminal.

    `status` is shown next to the bar until the first call.
    """
    with progress_bars(quiet=quiet) as add:
        yield None if add is None else add(title, _bytes_status, status)


@contextmanager
def progress_bars(*, quiet: bool = False) -> Iterator[AddBar | None]:
    """Yield a function that adds a bar below the others, for jobs of several phases.

    It takes a title, a function that describes progress, and the text before its first call.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Bar(*columns, console=console) as bar, drawn_by(_KernelsBar(bar).draw):
        yield AddBar(bar)


class _KernelsBar:
    """The bar of kernels that are compiled, added when the first one is told of."""

    def __init__(self, display: Bars) -> None:
        self.display = display
        self.task: TaskID | None = None

    def draw(self, found: KernelCount) -> None:
        """Show how far it is."""
        if self.task is None:
            self.task = self.display.add_task("kernels", total=None, status="")
        total = max(found.functions, found.count)
        self.display.update(self.task, total=total, completed=found.count, status=found.line())


@final  # so that one is never false
@dataclass(frozen=True)
class AddBar:
    """Adds bars to a display of `rich`."""

    display: Bars

    def __call__(self, title: str, status_of: StatusOf, status: str = "starting") -> OnProgress:
        """Add one; return what moves it, and adds one below for each step that comes before."""
        tasks = {"": self.display.add_task(title, total=None, status=status)}

        def show(state: Progress) -> None:
            total, done = float(state.total or 0) or None, float(state.done)
            if total is None and state.share is not None:  # of a stream
                total, done = 1.0, state.share
            if state.step not in tasks:
                tasks[state.step] = self.display.add_task(state.step, total=None, status="")
            task, status = tasks[state.step], status_of(state)
            self.display.update(task, total=total, completed=done, status=status)

        return show


def _bytes_status(state: Progress) -> str:
    of_all = f"/{state.total}" if state.total else ""  # the length of a stream is unknown
    parts = [f"{state.done}{of_all} {'parts' if state.step else 'chunks'}"]
    if state.throughput:
        parts.append(rate(state.throughput))
    if state.ratio:
        parts.append(f"ratio {state.ratio:.2f}")
    return "  ".join([*parts, *time_left(state)])


def time_left(state: Progress) -> list[str]:
    """Return the words for the time left, none where it is zero or unknown."""
    if state.seconds_left is None or state.done >= state.total > 0:
        return []
    return [f"{clock(state.seconds_left)} left"]
