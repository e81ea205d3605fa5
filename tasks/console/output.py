"""What the commands print: figures to stdout, progress to stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, final

from gangsaw.cluster.dashboard.units import clock as clock
from gangsaw.cluster.dashboard.units import rate as rate
from gangsaw.cluster.dashboard.units import size as size
from gangsaw.tasks.kernels.shown import drawn_by

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID
    from rich.table import Table

    from gangsaw.codecs.core.numba.kept.telling import KernelCount
    from gangsaw.tasks.console.cluster import Workers
    from gangsaw.tasks.engine.progress import OnProgress, Progress
    from gangsaw.tasks.engine.rehearsal import ArrayPlan, JobPlan
    from gangsaw.tasks.jobs.compress import Summary

    StatusOf = Callable[[Progress], str]


NAME_COLUMNS, FIGURE_COLUMNS = 24, 20  # of a table: names may fold, figures that wide may not
PADDING = 3  # beside a column
LINE_SECONDS = 60.0  # between two lines of progress, where no bar can be drawn
SHOWN = 8  # arrays of a plan that are listed; --json has all
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
    """Print a table; without headers the first column names what the second holds.

    Columns that have no room beside each other stand below each other, with the first one again.
    """
    from rich.console import Console

    console = Console(highlight=False)
    console.print(title, style="bold", markup=False, soft_wrap=True)
    for columns in _side_by_side(rows, headers, console.width):
        part = None if headers is None else [headers[i] for i in columns]
        console.print(_table([[row[i] for i in columns] for row in rows], part))


def _table(rows: Sequence[Sequence[str]], headers: Sequence[str] | None) -> Table:
    """Return a table whose names and texts fold, and whose figures do not."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(headers))
    for i, header in enumerate(headers or ("", "")):
        is_figure = bool(headers and i)
        width = _width(i, rows, headers) if is_figure else 0
        table.add_column(
            header,
            justify="right" if is_figure else "left",
            overflow="fold",
            min_width=width if width <= FIGURE_COLUMNS else None,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _width(column: int, rows: Sequence[Sequence[str]], headers: Sequence[str] | None) -> int:
    texts = [row[column] for row in rows] + ([headers[column]] if headers else [])
    return max((len(line) for text in texts for line in text.splitlines()), default=0)


def _side_by_side(
    rows: Sequence[Sequence[str]], headers: Sequence[str] | None, width: int
) -> list[list[int]]:
    """Return which columns of a table go beside each other, the first one with all of them."""
    if headers is None:
        return [[0, 1]]
    first = min(_width(0, rows, headers), NAME_COLUMNS) + PADDING
    parts, room = [[0]], width - first
    for i in range(1, len(headers)):
        need = min(_width(i, rows, headers), FIGURE_COLUMNS) + PADDING
        if need > room and parts[-1][1:]:
            parts.append([0])
            room = width - first
        parts[-1].append(i)
        room -= need
    return parts


@final  # as below
@dataclass
class LastState:
    """Keeps the last state of a job, and hands each on to what shows it."""

    show: OnProgress | None
    state: Progress | None = None

    def __call__(self, state: Progress) -> None:
        """Keep and show a state."""
        self.state = state
        if self.show is not None:
            self.show(state)

    def figures(self) -> dict[str, object]:
        """Return what a job did in all, as far as it told."""
        if (state := self.state) is None:
            return {}
        names = ("raw_bytes", "seconds", "throughput")
        return {"chunks": state.done, **{name: getattr(state, name) for name in names}}


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
def progress_bars(*, quiet: bool = False) -> Iterator[AddBar | AddLines | None]:
    """Yield a function that adds a bar below the others, for jobs of several phases.

    Where there is no terminal a line a minute says the same.

    It takes a title, a function that describes progress, and the text before its first call.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        yield AddLines()
        return
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Bar(*columns, console=console) as bar, drawn_by(_KernelsBar(bar)):
        yield AddBar(bar)


class _KernelsBar:
    """The bar of kernels that are compiled, added when the first one is told of."""

    def __init__(self, display: Bars) -> None:
        self.display = display
        self.task: TaskID | None = None

    def draw(self, found: KernelCount) -> None:
        """Show how many there are: how many there will be nobody knows."""
        if self.task is None:
            self.task = self.display.add_task("kernels", total=None, status="")
        self.display.update(self.task, completed=found.count, status=found.line())

    def clear(self) -> None:
        """Take the bar away."""
        if self.task is not None:
            self.display.remove_task(self.task)
            self.task = None


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


@final
@dataclass(frozen=True)
class AddLines:
    """Writes a line a minute to standard error, where that is a file or a pipe."""

    clock: Callable[[], float] = time.monotonic

    def __call__(self, title: str, status_of: StatusOf, status: str = "starting") -> OnProgress:
        """Return what writes of a job; the first line comes after a minute."""
        told = self.clock()

        def show(state: Progress) -> None:
            nonlocal told
            if (now := self.clock()) - told >= LINE_SECONDS:
                told = now
                step = f"{state.step}  " if state.step else ""
                sys.stderr.write(f"{title}  {step}{status_of(state)}\n")
                sys.stderr.flush()

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


def show_plan(
    job: Callable[[], object],
    cluster: Workers | None,
    *,
    as_json: bool,
    targets: Sequence[str] = (),
) -> None:
    """Rehearse a job in this process and print its plan; nothing is written, no cluster started.

    `targets` are named as the user did, where the job knows them by other names.
    """
    from gangsaw.tasks.engine.rehearsal import rehearsed

    plan = rehearsed(job)
    if plan is None:
        write_json({"dry_run": True}) if as_json else write_table("nothing is left to do", [])
        return
    named = tuple(targets) or plan.targets
    where = {} if cluster is None else cluster.told()
    if as_json:
        totals = {"n_chunks": plan.n_chunks, "task_bytes": plan.task_bytes}
        write_json({"dry_run": True, **asdict(plan), "targets": named, **totals, "cluster": where})
        return
    write_table(f"dry run: {plan.source} -> {', '.join(named)}", _rows(plan, where))
    if len(plan.arrays) == 1:
        write_table(plan.arrays[0].name or "array", _array(plan.arrays[0]))
    elif plan.arrays:
        more = f", the first {SHOWN} of {len(plan.arrays)}" if plan.arrays[SHOWN:] else ""
        write_table(f"arrays{more}", [_line(array) for array in plan.arrays[:SHOWN]])


def _rows(plan: JobPlan, where: dict[str, object]) -> list[tuple[str, str]]:
    bytes_ = [("bytes", f"{size(plan.raw_bytes)} of samples")] if plan.raw_bytes else []
    chunks = [("chunks", f"{plan.n_chunks:,}")] if plan.n_chunks else []
    memory = [("memory", f"{size(plan.task_bytes)} per task at most")] if plan.task_bytes else []
    workers = [("runs on", str(where["words"]))] if where else []
    lost = [("left out", item) for item in plan.lost]
    notes = [("note", note) for note in plan.notes]
    return [("format", plan.format), *bytes_, *chunks, *memory, *workers, *lost, *notes]


def _array(array: ArrayPlan) -> list[tuple[str, str]]:
    is_growing = 0 in array.shape
    rows = [("shape", f"{'grows' if is_growing else _by(array.shape)}, {array.dtype}")]
    if array.chunks:
        count = f"{array.n_chunks:,} of " if array.n_chunks else ""
        each = f", {size(array.chunk_bytes)} each" if array.chunk_bytes else ""
        rows.append(("chunks", f"{count}{_by(array.chunks)}{each}"))
    if array.codec:
        rows.append(("codec", array.codec))
    if params := _summarised(array.codec, array.parameters):
        rows.append(("parameters", ", ".join(f"{k}={v}" for k, v in params.items())))
    return rows


def _summarised(codec: str, parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the parameters worth showing of a codec of ours, all of another's."""
    from gangsaw.codecs.core import codec_table

    if codec not in codec_table.names():
        return parameters
    usual = codec_table.named_class(codec)().params.to_dict()
    return codec_table.answer(codec).summary(parameters, usual)


def _line(array: ArrayPlan) -> tuple[str, str]:
    return (array.name, "; ".join(text for _, text in _array(array)[:3]))


def _by(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents))
