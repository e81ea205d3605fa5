"""HTML texts and tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from gangsaw.cluster.dashboard.figures import BY, parts_by
from gangsaw.cluster.dashboard.jobs import RECENT_SECONDS, Amount, JobState
from gangsaw.cluster.dashboard.units import clock, rate, size

if TYPE_CHECKING:
    from distributed import Scheduler

MOST_ROWS = 30  # workers in a table; the others are summed in one row
MOST_LINES = 8  # of failures
COLOURS = {"running": "", "done": "good", "failed": "bad", "lost": "bad", "interrupted": "warn"}
JOBS = ("Job", "State", "Progress", "Chunks", "Failed", "Data", "Ratio", "Throughput", "Time")
PARTS = ("Chunks", "Failed", "Decoded", "Encoded", "Ratio", "Per busy thread")
NOTHING = (
    "<h2>No job yet</h2><span class='muted'>A job of a client of this scheduler is shown here: "
    "<code>gangsaw compress SOURCE TARGET --scheduler {address}</code></span>"
)


def summary(scheduler: Scheduler, jobs: Sequence[JobState]) -> str:
    """Return the HTML of the page's top line: running jobs, workers and memory."""
    threads = sum(worker.nthreads for worker in scheduler.workers.values())
    used = sum(worker.metrics.get("memory", 0) for worker in scheduler.workers.values())
    n_running = sum(state.is_running for state in jobs)
    parts = [
        _counted(n_running, "job") + " running",
        f"{_counted(len(scheduler.workers), 'worker')}, {_counted(threads, 'thread')}",
        f"{size(used)} of memory used",
    ]
    said = "".join(f"<span>{part}</span>" for part in parts)
    address = f"<span class='muted'>{escape(scheduler.address)}</span>"
    return f"<div class='top'><h1>Gangsaw</h1>{said}{address}</div>"


def jobs_table(jobs: Sequence[JobState], chosen: JobState | None, address: str) -> str:
    """Return the HTML table of all jobs, each with a link that selects it.

    Parameters
    ----------
    chosen : selected job
    address : address of the scheduler, shown if there are no jobs
    """
    if not jobs:
        return NOTHING.format(address=escape(address))
    rows = ((_job_cells(state), "chosen" if state is chosen else "") for state in jobs)
    return f"<div class='jobs'>{_table(JOBS, rows)}</div>"


def _job_cells(state: JobState) -> list[str]:
    name = f"<a href='gangsaw?job={escape(state.job)}'>{escape(state.kind)} "
    return [
        f"{name}<span class='muted'>{escape(state.store)}</span></a>",
        f"<span class='{COLOURS[state.outcome]}'>{state.outcome}</span>",
        _bar(state),
        _of_total(state),
        _failed(state.failed),
        f"{size(state.decoded)} &rarr; {size(state.encoded)}"
        if state.encoded
        else size(state.decoded),
        _ratio(state.ratio),
        rate(state.throughput) if state.throughput else "",
        _time(state),
    ]


def _bar(state: JobState) -> str:
    if not state.total:
        return ""
    percent = 100 * state.done / state.total
    kind = {"done": "done", "running": ""}.get(state.outcome, "failed")
    bar = f"<span class='bar'><i class='{kind}' style='width:{percent:.1f}%'></i></span>"
    return f"{bar}{int(percent)} %"


def _of_total(state: JobState) -> str:
    count = f"{state.done:,} of {state.total:,}" if state.total else f"{state.done:,}"
    return f"{escape(state.step)}: {count}" if state.step else count


def _time(state: JobState) -> str:
    left = state.seconds_left
    if left is not None:
        return f"{clock(left)} left"
    return f"{clock(state.seconds)} so far" if state.is_running else clock(state.seconds)


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio else ""


def _failed(n: int) -> str:
    return f"<span class='bad'>{n:,}</span>" if n else "<span class='muted'>0</span>"


def chosen_job(state: JobState | None) -> str:
    """Return the HTML of the figures and failures of the selected job."""
    if state is None:
        return ""
    still = state.seconds_since_progress > RECENT_SECONDS
    numbers = [
        ("done", _of_total(state)),
        ("left", f"{state.left:,}" if state.total else "unknown"),
        ("by earlier runs", f"{state.resumed:,}" if state.resumed else ""),
        ("throughput", rate(state.throughput) if state.throughput else ""),
        ("ratio", _ratio(state.ratio)),
        ("decoded", size(state.decoded)),
        ("encoded", size(state.encoded) if state.encoded else ""),
        ("time left", clock(state.seconds_left) if state.seconds_left is not None else ""),
        ("running for" if state.is_running else "ran for", clock(state.seconds)),
        ("failed", _failed(state.failed) if state.failed else ""),
        (
            "since the last chunk",
            f"<span class='warn'>{clock(state.seconds_since_progress)}</span>" if still else "",
        ),
    ]
    shown = "".join(f"<span class='muted'><b>{v}</b>{k}</span>" for k, v in numbers if v)
    return f"<h2>{_title(state)}</h2><div class='numbers'>{shown}</div>{_failures(state)}"


def _title(state: JobState) -> str:
    outcome = f"<span class='{COLOURS[state.outcome]}'>{state.outcome}</span>"
    return f"{escape(state.kind)} {escape(state.store)} &middot; {outcome}"


def _failures(state: JobState) -> str:
    if state.outcome == "lost":
        lost = (
            "<p class='bad'>Its client went away before it ended: run it again with --resume.</p>"
        )
    else:
        lost = ""
    lines = list(state.failures)[-MOST_LINES:]
    listed = "".join(f"<li>{escape(line)}</li>" for line in reversed(lines))
    return lost + (f"<ul class='bad'>{listed}</ul>" if listed else "")


def parts_tables(state: JobState | None, names: Mapping[str, str]) -> str:
    """Return the HTML tables of a job's amounts by codec, backend and worker."""
    if state is None:
        return ""
    codec, backend, worker = (_parts_table(by, parts_by(state, by, names)) for by in BY)
    return f"<div class='tables'><div>{codec}{backend}</div><div>{worker}</div></div>"


def _parts_table(by: str, parts: Sequence[tuple[str, Amount]]) -> str:
    rows = [(_part_cells(name, amount), "") for name, amount in parts[:MOST_ROWS]]
    if more := parts[MOST_ROWS:]:
        total = Amount()
        for _, amount in more:
            total.add(amount)
        rows.append((_part_cells(f"{len(more)} more", total), "muted"))
    return _table((by.title(), *PARTS), rows)


def _part_cells(name: str, part: Amount) -> list[str]:
    return [
        escape(name or "unknown"),
        f"{part.chunks:,}",
        _failed(part.failed),
        size(part.decoded),
        size(part.encoded),
        _ratio(part.ratio),
        rate(part.decoded / part.seconds) if part.seconds else "",
    ]


def _table(headers: Sequence[str], rows: Iterable[tuple[Sequence[str], str]]) -> str:
    head = _row("th", headers, "")
    body = "".join(_row("td", cells, kind) for cells, kind in rows)
    return f"<div class='scroll'><table>{head}{body}</table></div>"


def _row(tag: str, cells: Sequence[str], kind: str) -> str:
    first, *others = cells
    inner = "".join(f"<{tag}>{cell}</{tag}>" for cell in others)
    return f"<tr class='{kind}'><{tag} class='name'>{first}</{tag}>{inner}</tr>"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
