"""gangsaw status."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import SchedulerFile, TlsCaFile, TlsCert, TlsKey
from gangsaw.tasks.console.output import clear_terminal, clock, print_table, rate, size, write_json

if TYPE_CHECKING:
    Row = Mapping[str, object]

WATCH_SECONDS = 2.0
NAME_COLUMNS = 22  # of 80 characters, for names of jobs and workers
SHOWN = 10  # jobs, workers and failures in the tables; --json has all
JOBS = ("job", "state", "chunks", "throughput", "ratio")
WORKERS = ("worker", "threads", "tasks", "processor", "memory")


def status(
    address: Annotated[
        str,
        typer.Argument(help="Address of a Dask scheduler, tcp://HOST:8786, or of its dashboard."),
    ] = "",
    *,
    scheduler_file: SchedulerFile = "",
    tls_ca_file: TlsCaFile = "",
    tls_cert: TlsCert = "",
    tls_key: TlsKey = "",
    watch: Annotated[bool, typer.Option("--watch", help="Update until Ctrl-C.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Show the jobs of a cluster: progress, failures and workers.

    Example: gangsaw status http://127.0.0.1:8787
    """
    from gangsaw.tasks.api import functions

    if not address and not scheduler_file:
        raise BadParams("name a scheduler or its dashboard, or give --scheduler-file")
    tls = (tls_ca_file, tls_cert, tls_key)
    ask = partial(functions.status, address, scheduler_file=scheduler_file, tls=tls)
    show = write_json if as_json else _show
    if not watch:
        show(ask())
        return
    with suppress(KeyboardInterrupt):
        while True:
            found = ask()
            clear_terminal(not as_json)
            show(found)
            time.sleep(WATCH_SECONDS)


def _show(found: Row) -> None:
    jobs, workers = (cast("Sequence[Row]", found[name]) for name in ("jobs", "workers"))
    n_running = sum(job["outcome"] == "running" for job in jobs)
    title = f"{found['scheduler']}: {n_running} running, {len(workers)} workers"
    if jobs:
        print_table(title, [_job(job) for job in jobs[:SHOWN]], JOBS)
    else:
        print_table(f"{title}, no job yet", [])
    if workers:
        more = f"workers, the first {SHOWN} of {len(workers)}" if workers[SHOWN:] else "workers"
        print_table(more, [_worker(worker) for worker in workers[:SHOWN]], WORKERS)
    lines = [str(line) for job in jobs[:SHOWN] for line in cast("Sequence[str]", job["failures"])]
    if lines:
        print_table("failures", [("", line) for line in lines[-SHOWN:]])


def _job(job: Row) -> tuple[str, ...]:
    done, total, ratio, pace, left = (
        cast("float", job[name] or 0)
        for name in ("done", "total", "ratio", "throughput", "seconds_left")
    )
    state = f"{clock(left)} left" if left else str(job["outcome"])
    share = f"{int(100 * done / total)} % of {total:,}" if total else f"{done:,}"
    figures = (rate(pace) if pace else "", f"{ratio:.2f}" if ratio else "")
    return (_named(str(job["kind"]), str(job["store"])), state, share, *figures)


def _worker(worker: Row) -> tuple[str, ...]:
    used, limit = (cast("float", worker[name] or 0) for name in ("memory", "memory_limit"))
    of = f" of {size(limit)}" if limit else ""
    plain = (str(worker["threads"]), str(worker["tasks"]), f"{worker['cpu_percent']:.0f} %")
    return (_short(str(worker["name"])), *plain, f"{size(used)}{of}")


def _named(kind: str, store: str) -> str:
    """Return the command and the store of a job, in one line if it fits the table column."""
    return one if len(one := f"{kind} {store}") <= NAME_COLUMNS else f"{kind}\n{_short(store)}"


def _short(name: str) -> str:
    """Shorten a name to the width of its table column: the end of a long name is more specific."""
    return name if len(name) <= NAME_COLUMNS else f"..{name[2 - NAME_COLUMNS :]}"
