"""How a job is run: in this process, or on the workers of a Dask client, as its options say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from gangsaw.cluster.interrupts import Waiting, interrupts_wait
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.flying.handshake import Handshake, workers_of
from gangsaw.tasks.engine.here import in_threads, on_device, one_by_one, side_by_side
from gangsaw.tasks.engine.lazy import Supply
from gangsaw.tasks.engine.memory import CARRIED_COPIES, Worker, check_memory, this_process
from gangsaw.tasks.engine.pools import (
    CARRIED_BYTES,
    SLOTS,
    TASKS_PER_THREAD,
    Device,
    Workers,
    checked_device,
    gpu_slots,
    most_carried,
    with_gpu,
)
from gangsaw.tasks.engine.tally import job
from gangsaw.tasks.engine.work import DeviceTask, Task, carried_bytes

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # between two checks for lost workers while nothing finishes
TICK_SECONDS = 0.002  # between two checks for results; most find several

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Options:
    """How to run a job on Dask.

    Attributes
    ----------
    resources : what each task takes of a worker's resources, such as {"SAW": 1}; with device "gpu"
        the tasks choose them
    retries : how often a single batch is tried again after a transient error
    worker_seconds : how long to wait for a first or a new worker; while a batch system queues its
        job that does not count
    paths : files and folders of this machine that workers must see; others are left out
    device : "gpu" needs a DeviceTask; workers with the resource GPU=1 do many batches at once on
        it, workers without do theirs on the CPU
    """

    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3
    worker_seconds: float = 60.0
    paths: tuple[str, ...] = ()
    device: Device = "cpu"

    def __post_init__(self) -> None:
        """Refuse unknown devices."""
        checked_device(self.device)

    def seeing(self, *paths: str | Path | None) -> Options:
        """Return the same where workers must see these files and folders, too, if they are here."""
        here = [Path(path).absolute() for path in paths if path is not None]
        return replace(self, paths=(*self.paths, *(str(path) for path in here if path.exists())))


def run(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    *,
    client: Client | None = None,
    options: Options | None = None,
) -> None:
    """Run the task on every batch, in any order; return when all are done.

    Parameters
    ----------
    task : the chunk function
    batches : what to run it on; of a sequence tasks get slices, and workers end together
    on_done : called in this thread with each batch and its result
    client : Dask client; None runs everything in this thread, or a `SharingTask`, and batches that
        carry their samples, in as many threads as this process may use
    options : how to run it on Dask

    Raises
    ------
    JobFailed
        The first batch that failed for good, or the scheduler or all workers are gone, or none of
        them has this gangsaw and sees the paths.
    BadParams
        A worker has less memory than the task promised to need.
    KeyboardInterrupt
        After Ctrl-C, between two results, when the batches in flight were cancelled; a second
        Ctrl-C does not wait.
    """
    options = options or Options()
    with interrupts_wait() as interrupts:
        if client is not None:
            _on_workers(task, batches, on_done, client, options, interrupts)
        elif options.device == "gpu":
            on_device(cast("DeviceTask[BatchT, ResultT]", task), batches, on_done, interrupts)
        elif carried_bytes(task):
            in_threads(task, batches, on_done, interrupts)
        elif getattr(task, "side_by_side", False):
            side_by_side(task, batches, on_done, interrupts)
        else:
            one_by_one(task, batches, on_done, interrupts)


def on_every_worker(function: Callable[[], None], client: Client | None) -> None:
    """Call the function once in every worker, or here without a client, to compile beforehand."""
    if client is None:
        function()
    else:
        client.run(function, workers=list(Handshake(client).admitted(workers_of(client))))


def check_room(peak_bytes: int, client: Client | None, options: Options | None = None) -> None:
    """Raise BadParams where a task would need more memory than there is, before a job begins."""
    if rehearsal.is_on():  # these are not the workers
        return
    options = options or Options()
    known = [this_process()] if client is None else workers_of(client).values()
    check_memory(peak_bytes, (worker for worker in known if _is_host(worker, options)))


def _is_host(worker: Worker, options: Options) -> bool:
    return options.device == "cpu" or not gpu_slots(worker)


def _check_gpus(task: DeviceTask[BatchT, ResultT], workers: Workers) -> None:
    found = with_gpu(workers.values())
    if workers and not found:
        raise JobFailed(
            f"none of the {len(workers)} workers has a GPU: start one with --resources GPU=1 "
            f"--nthreads {SLOTS}, or leave --device gpu out"
        )
    check_memory(task.device_peak_bytes, found)


def _on_workers(
    task: Task[BatchT, ResultT],
    batches: Iterable[BatchT],
    on_done: Callable[[BatchT, ResultT], None],
    client: Client,
    options: Options,
    interrupts: Waiting,
) -> None:
    from gangsaw.tasks.engine.flying.flights import InFlight
    from gangsaw.tasks.engine.flying.telling import tell

    handshake = Handshake(client, options.paths)
    workers = handshake.admitted(workers_of(client))
    check_memory(task.peak_bytes, (w for w in workers.values() if _is_host(w, options)))
    if options.device == "gpu":
        _check_gpus(cast("DeviceTask[BatchT, ResultT]", task), workers)
    carried = carried_bytes(task)
    wanted = TASKS_PER_THREAD * sum(worker["nthreads"] for worker in workers.values())
    in_flight = min(most_carried(carried), wanted)
    check_memory(CARRIED_COPIES * carried * in_flight, [this_process()])
    supply = Supply(batches)
    with _large_graphs() if carried else nullcontext(), job(task.name, "") as tally:
        tell(tally, client)
        tally.expect(supply.total)
        InFlight(handshake, task, options, supply, interrupts, tally).run(on_done)


def _large_graphs() -> AbstractContextManager[object]:
    """Let Dask take batches with their samples, of which it warns.

    They go through the scheduler, which gives them to another worker when one is lost, as it does
    with all batches. To scatter them to workers directly takes half the client's processor time (20
    ms instead of 40 for 32 MiB, of which the encoder needs a second), but those of a lost worker
    would be lost, and need a second mechanism.
    """
    import dask

    most = 2 * CARRIED_BYTES
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": most})
