"""Output of commands: figures to stdout, progress to stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, final

from gangsaw.cluster.dashboard.units import clock as clock
from gangsaw.cluster.dashboard.units import rate as rate
from gangsaw.cluster.dashboard.units import size as size
from gangsaw.tasks.precompile.shown import drawn_by

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID
    from rich.table import Table

    from gangsaw.codecs.core.numba.packs.compile_counts import KernelCount
    from gangsaw.tasks.console.cluster import Workers
    from gangsaw.tasks.engine.report.dry_run import ArrayPlan, JobPlan
    from gangsaw.tasks.engine.report.progress import Amounts, OnProgress, Progress
    from gangsaw.tasks.jobs.compress import Summary

    StatusOf = Callable[[Progress], str]


NAME_COLUMNS, FIGURE_COLUMNS = 24, 20  # of a table: names may fold, figures that wide may not
PADDING = 3  # beside a column
LINE_SECONDS = 60.0  # between two lines of progress, where no bar can be drawn
LOOK_SECONDS = 0.5  # between two checks of the clock for them
SHOWN = 8  # arrays of a plan that are listed; --json has all
STOPPED = "interrupted: finished chunks are safe; run the same command with --resume to continue"


class Interrupted(Exception):
    """Exception for Ctrl-C with advice; typer would drop the text of a KeyboardInterrupt."""


def write_json(figures: Mapping[str, object]) -> None:
    """Print figures as one JSON object."""
    sys.stdout.write(json.dumps(figures, indent=2, default=str) + "\n")


def job_figures(summary: Summary) -> dict[str, object]:
    """Return the figures of a finished job as JSON values."""
    derived = ("ratio", "ratio_base", "bits_per_sample", "throughput")
    return {**vars(summary), **{name: getattr(summary, name) for name in derived}}


def ratio_rows(found: Amounts) -> list[tuple[str, str]]:
    """Return table rows with the compression ratio and the bytes that it compares."""
    base = f"{size(found.base_bytes)} of {found.ratio_base}"
    return [("ratio", f"{found.ratio:.3f}"), ("bytes", f"{base} -> {size(found.stored_bytes)}")]


def clear_terminal(wanted: bool = True) -> None:
    """Clear the terminal, if there is one, before repeated output."""
    from rich.console import Console

    if wanted:
        Console().clear()


def print_table(
    title: str, rows: Sequence[Sequence[str]], headers: Sequence[str] | None = None
) -> None:
    """Print a table; without headers the first column has labels, the second values.

    Columns that do not fit next to each other are printed below, with the first one repeated.
    """
    from rich.console import Console

    console = Console(highlight=False)
    console.print(title, style="bold", markup=False, soft_wrap=True)
    for columns in _side_by_side(rows, headers, console.width):
        part = None if headers is None else [headers[i] for i in columns]
        console.print(_table([[row[i] for i in columns] for row in rows], part))


def _table(rows: Sequence[Sequence[str]], headers: Sequence[str] | None) -> Table:
    """Return a table with folded names and texts, and unfolded figures."""
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
    """Split the columns of a wide table into parts that fit the width.

    Each part is a list of column indices and begins with the first column.
    """
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

    Without a terminal it prints a line per minute.

    Its arguments are a title, a function that describes progress, and the text before the first
    call.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        with AddLines().write_each_minute() as add:
            yield add
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
    """Progress bar of the kernels that are being compiled, shown from the first one on."""

    def __init__(self, display: Bars) -> None:
        self.display = display
        self.task: TaskID | None = None

    def draw(self, found: KernelCount) -> None:
        """Show the number of compiled kernels; the total is unknown."""
        if self.task is None:
            self.task = self.display.add_task("kernels", total=None, status="")
        self.display.update(self.task, completed=found.count, status=found.line())

    def clear(self) -> None:
        """Remove the bar."""
        if self.task is not None:
            self.display.remove_task(self.task)
            self.task = None


@final  # a subclass could define truth; callers test for None
@dataclass(frozen=True)
class AddBar:
    """Function object that adds progress bars to a display of `rich`."""

    display: Bars

    def __call__(self, title: str, status_of: StatusOf, status: str = "starting") -> OnProgress:
        """Add a bar; return its progress callback, which adds a bar for each preparatory step."""
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
    """Function object that writes a progress line per minute to standard error, without bars.

    Attributes
    ----------
    clock : function that returns the time in seconds
    lines : progress lines of the jobs so far, the running one last
    """

    clock: Callable[[], float] = time.monotonic
    lines: list[_MinuteLine] = field(default_factory=list)

    def __call__(self, title: str, status_of: StatusOf, status: str = "starting") -> OnProgress:
        """Return a progress callback of a job; the first line comes after a minute."""
        self.lines.append(_MinuteLine(title, status_of, status, self.clock))
        return self.lines[-1]

    @contextmanager
    def write_each_minute(self) -> Iterator[AddLines]:
        """Write the line of the running job each minute in the context, even without progress."""
        ended = Event()

        def watch() -> None:
            while not ended.wait(LOOK_SECONDS):
                for line in self.lines[-1:]:
                    line.write_in_time()

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            ended.set()
            thread.join()


class _MinuteLine:
    """Progress callback of a job that writes a line if a minute has passed since the last one."""

    def __init__(
        self, title: str, status_of: StatusOf, status: str, clock: Callable[[], float]
    ) -> None:
        self.title, self.status_of, self.status = title, status_of, status
        self.clock, self.told = clock, clock()
        self.state: Progress | None = None
        self.turn = Lock()

    def __call__(self, state: Progress) -> None:
        """Record the progress of the job; write the line if it is time."""
        self.state = state
        self.write_in_time()

    def write_in_time(self) -> None:
        """Write the line if it is time."""
        with self.turn:
            if (now := self.clock()) - self.told < LINE_SECONDS:
                return
            self.told, state = now, self.state
            step = f"{state.step}  " if state and state.step else ""
            status = self.status_of(state) if state else self.status
            sys.stderr.write(f"{self.title}  {step}{status}\n")
            sys.stderr.flush()


def _bytes_status(state: Progress) -> str:
    of_all = f"/{state.total}" if state.total else ""  # the length of a stream is unknown
    parts = [f"{state.done}{of_all} {'parts' if state.step else 'chunks'}"]
    if state.throughput:
        parts.append(rate(state.throughput))
    if state.ratio:
        parts.append(f"ratio {state.ratio:.2f}")
    return "  ".join([*parts, *time_left(state)])


def time_left(state: Progress) -> list[str]:
    """Return a list with the phrase for the time left; [] if it is zero or unknown."""
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
    """Print the plan of a job from a dry run; nothing is written, no cluster started.

    `targets` are the user's names, if the job has other ones.
    """
    from gangsaw.tasks.engine.report.dry_run import plan_job

    plan = plan_job(job)
    if plan is None:
        write_json({"dry_run": True}) if as_json else print_table("nothing is left to do", [])
        return
    named = tuple(targets) or plan.targets
    where = {} if cluster is None else cluster.describe()
    if as_json:
        totals = {"n_chunks": plan.n_chunks, "task_bytes": plan.task_bytes}
        write_json({"dry_run": True, **asdict(plan), "targets": named, **totals, "cluster": where})
        return
    print_table(f"dry run: {plan.source} -> {', '.join(named)}", _rows(plan, where))
    if len(plan.arrays) == 1:
        print_table(plan.arrays[0].name or "array", _array(plan.arrays[0]))
    elif plan.arrays:
        more = f", the first {SHOWN} of {len(plan.arrays)}" if plan.arrays[SHOWN:] else ""
        print_table(f"arrays{more}", [_line(array) for array in plan.arrays[:SHOWN]])


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
    if params := _summarise(array.codec, array.parameters):
        rows.append(("parameters", ", ".join(f"{k}={v}" for k, v in params.items())))
    return rows


def _summarise(codec: str, parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the main parameters of a Gangsaw codec, or all parameters of another codec."""
    from gangsaw.codecs.core import codec_table

    if codec not in codec_table.names():
        return parameters
    usual = codec_table.named_class(codec)().params.to_dict()
    return codec_table.capabilities_of(codec).summary(parameters, usual)


def _line(array: ArrayPlan) -> tuple[str, str]:
    return (array.name, "; ".join(text for _, text in _array(array)[:3]))


def _by(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents))
