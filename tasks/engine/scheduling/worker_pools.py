"""Pools of workers, one for each kind of worker, fed from one sequence of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.scheduling.batch_size import Pace
from gangsaw.tasks.engine.scheduling.memory import Worker

Device = Literal["cpu", "gpu"]
Workers = Mapping[str, Worker]  # by address, as the scheduler describes them

GPU = "GPU"  # resource name; a worker with a GPU has GPU=1
SLOTS = 4  # tasks that share a GPU: one reads, one copies in, one computes, one copies out, writes
WINDOW = 64  # minimum of futures in flight, to hide the scheduler's round trip
TASKS_PER_THREAD = 2  # one runs, one waits
# Bytes in flight of batches with samples, which the client and the scheduler keep in memory: 32
# chunks of the usual size. Each of 16 threads has one that runs and one that waits.
CARRIED_BYTES = 1 << 30


def check_device(device: str) -> Device:
    """Check the name of a device and return it; raise BadParams if it is unknown."""
    known: dict[str, Device] = {"cpu": "cpu", "gpu": "gpu"}
    if device not in known:
        raise BadParams(f"device must be cpu or gpu, got {device!r}")
    return known[device]


@dataclass
class Pool:
    """Workers of one kind, with the limits for the tasks that are submitted to them.

    Attributes
    ----------
    device : device on which its tasks process their batches
    batches : batches per task; 0 leaves the number to `pace`
    resources : worker resources that one task occupies
    size : maximum of tasks in flight
    n_in_flight : number of tasks in flight
    addresses : addresses of the workers for its tasks; () leaves the choice to the resources
    threads : number of threads of all its workers
    carried : maximum of tasks in flight with samples in their batches, one batch each; 0 for others
    pace : estimate of the time per batch
    """

    device: Device
    batches: int = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    size: int = 0
    n_in_flight: int = 0
    addresses: tuple[str, ...] = ()
    threads: int = 0
    carried: int = 0
    pace: Pace = field(default_factory=Pace)

    def fits(self, worker: Worker) -> bool:
        """Return True if the worker has the resources of a task."""
        has = worker.get("resources", {})
        return all(has.get(name, 0) >= need for name, need in self.resources.items())

    def can_run(self, workers: Workers) -> bool:
        """Return True if at least one worker has the resources of a task."""
        return any(self.fits(worker) for worker in workers.values())

    def update(self, workers: Workers) -> None:
        """Update the number of threads and the size after workers joined or left."""
        self.threads = sum(w["nthreads"] for w in workers.values() if self.fits(w))
        self.size = max(0 if self.carried else WINDOW, TASKS_PER_THREAD * max(1, self.threads))

    @property
    def has_capacity(self) -> bool:
        """True if another task may be submitted; the limit is low until the pace is known."""
        is_known = self.batches or self.pace.seconds is not None
        size = self.size if is_known else TASKS_PER_THREAD * max(1, self.threads)
        return self.n_in_flight < min(self.size, size, self.carried or self.size)

    def share(self, left: int | None) -> int:
        """Return the number of batches of the next task, given how many are `left`."""
        return self.batches or (1 if self.carried else self.pace.batches(left, self.threads))

    def __str__(self) -> str:
        """Return the name of its workers for messages, such as "worker with GPU=1"."""
        needs = {GPU: 1.0} if self.device == "gpu" else self.resources
        what = ", ".join(f"{name}={need:g}" for name, need in needs.items())
        return f"worker with {what}" if what else "worker"


class GpuPool(Pool):
    """Workers with GPUs. Each task has its own CUDA stream, so that the stages of tasks overlap."""

    def update(self, workers: Workers) -> None:
        """Update the size after workers joined or left."""
        slots = sum(gpu_slots(worker) for worker in workers.values())
        self.size = TASKS_PER_THREAD * max(SLOTS, slots)  # one may still be starting


class HostPool(Pool):
    """Workers without a GPU, in a cluster where others have one."""

    def update(self, workers: Workers) -> None:
        """Update addresses, threads and size after workers joined or left."""
        own = {address: w for address, w in workers.items() if not gpu_slots(w)}
        self.addresses = tuple(own)
        self.threads = sum(w["nthreads"] for w in own.values())
        self.size = TASKS_PER_THREAD * self.threads


def most_carried(carried_bytes: int) -> int:
    """Return the maximum of batches in flight with `carried_bytes` each; 0 if there is no limit."""
    return max(2, CARRIED_BYTES // carried_bytes) if carried_bytes else 0


def make_pools(
    device: Device, batches: int, resources: Mapping[str, float], carried: int = 0
) -> list[Pool]:
    """Return the pools for a job.

    Parameters
    ----------
    device : "gpu" uses workers with and without a GPU
    batches : batches per task on a GPU
    resources : worker resources that a task occupies, if all workers are of one kind
    carried : maximum of tasks in flight in each pool, if batches contain samples
    """
    if device == "cpu":
        return [Pool("cpu", resources=resources, carried=carried)]
    gpus = GpuPool("gpu", batches, {GPU: 1 / SLOTS}, carried=carried)
    return [gpus, HostPool("cpu", carried=carried)]


def gpu_slots(worker: Worker) -> int:
    """Return the number of tasks that the GPUs of a worker run at once; 0 without a GPU."""
    gpus = worker.get("resources", {}).get(GPU, 0)
    return int(min(worker["nthreads"], SLOTS * gpus))


def select_gpu_workers(workers: Iterable[Worker]) -> list[Worker]:
    """Return the workers that have a GPU, with `nthreads` set to the threads that can share it."""
    return [{**w, "nthreads": slots} for w in workers if (slots := gpu_slots(w))]
