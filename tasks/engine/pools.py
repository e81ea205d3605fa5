"""Who takes which batches: a pool for each kind of worker, all fed from one sequence of batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.memory import Worker
from gangsaw.tasks.engine.pace import Pace

Device = Literal["cpu", "gpu"]
Workers = Mapping[str, Worker]  # by address, as the scheduler describes them

GPU = "GPU"  # resource of a worker that has one: GPU=1
SLOTS = 4  # tasks that share a GPU: one reads, one copies in, one computes, one copies out, writes
WINDOW = 64  # least futures in flight: hides the scheduler's round trip
TASKS_PER_THREAD = 2  # one runs, one waits
# Samples of batches that carry theirs, in flight: the client and the scheduler hold them. It is 32
# chunks of the usual size: for each of 16 threads one that runs and one that waits.
CARRIED_BYTES = 1 << 30


def checked_device(device: str) -> Device:
    """Return a device's name; raise BadParams for another text."""
    known: dict[str, Device] = {"cpu": "cpu", "gpu": "gpu"}
    if device not in known:
        raise BadParams(f"device must be cpu or gpu, got {device!r}")
    return known[device]


@dataclass
class Pool:
    """The workers of one kind, and how batches are given to them.

    Attributes
    ----------
    device : where its tasks do their batches
    batches : that one task gets; 0 leaves it to the pace
    resources : what one task takes of its worker's resources
    size : most tasks in flight
    flying : tasks in flight
    addresses : of the workers that tasks are restricted to; () leaves it to the resources
    threads : of the workers
    carried : tasks in flight at most where their batches carry samples, one each; 0 elsewhere
    pace : of its batches
    """

    device: Device
    batches: int = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    size: int = 0
    flying: int = 0
    addresses: tuple[str, ...] = ()
    threads: int = 0
    carried: int = 0
    pace: Pace = field(default_factory=Pace)

    def fits(self, worker: Worker) -> bool:
        """Whether the worker has what a task takes."""
        has = worker.get("resources", {})
        return all(has.get(name, 0) >= need for name, need in self.resources.items())

    def can_run(self, workers: Workers) -> bool:
        """Whether there is a worker for its tasks."""
        return any(self.fits(worker) for worker in workers.values())

    def update(self, workers: Workers) -> None:
        """Follow workers that came and went."""
        self.threads = sum(w["nthreads"] for w in workers.values() if self.fits(w))
        self.size = max(0 if self.carried else WINDOW, TASKS_PER_THREAD * max(1, self.threads))

    @property
    def has_room(self) -> bool:
        """Whether another task may be given to it: few before the pace is known."""
        is_known = self.batches or self.pace.seconds is not None
        size = self.size if is_known else TASKS_PER_THREAD * max(1, self.threads)
        return self.flying < min(self.size, size, self.carried or self.size)

    def share(self, left: int | None) -> int:
        """Return how many of the remaining batches the next task gets."""
        return self.batches or (1 if self.carried else self.pace.batches(left, self.threads))

    def __str__(self) -> str:
        """Return what its workers are called in messages, such as "worker with GPU=1"."""
        needs = {GPU: 1.0} if self.device == "gpu" else self.resources
        what = ", ".join(f"{name}={need:g}" for name, need in needs.items())
        return f"worker with {what}" if what else "worker"


class GpuPool(Pool):
    """Workers with GPUs. Each task has its own stream, so the steps of several overlap."""

    def update(self, workers: Workers) -> None:
        """Follow workers that came and went."""
        slots = sum(gpu_slots(worker) for worker in workers.values())
        self.size = TASKS_PER_THREAD * max(SLOTS, slots)  # one may still be starting


class HostPool(Pool):
    """Workers without a GPU, where others have one."""

    def update(self, workers: Workers) -> None:
        """Follow workers that came and went."""
        own = {address: w for address, w in workers.items() if not gpu_slots(w)}
        self.addresses = tuple(own)
        self.threads = sum(w["nthreads"] for w in own.values())
        self.size = TASKS_PER_THREAD * self.threads


def most_carried(carried_bytes: int) -> int:
    """Return how many batches may be in flight that carry so many bytes each; 0 bounds nothing."""
    return max(2, CARRIED_BYTES // carried_bytes) if carried_bytes else 0


def make_pools(
    device: Device, batches: int, resources: Mapping[str, float], carried: int = 0
) -> list[Pool]:
    """Return the pools for a job.

    Parameters
    ----------
    device : "gpu" uses workers with and without a GPU
    batches : that one task gets on a GPU
    resources : what a task takes of a worker's resources where all workers are alike
    carried : most tasks in flight, of each pool, where batches carry samples
    """
    if device == "cpu":
        return [Pool("cpu", resources=resources, carried=carried)]
    gpus = GpuPool("gpu", batches, {GPU: 1 / SLOTS}, carried=carried)
    return [gpus, HostPool("cpu", carried=carried)]


def gpu_slots(worker: Worker) -> int:
    """Return how many tasks at once the GPUs of a worker take; 0 without one."""
    gpus = worker.get("resources", {}).get(GPU, 0)
    return int(min(worker["nthreads"], SLOTS * gpus))


def with_gpu(workers: Iterable[Worker]) -> list[Worker]:
    """Return the workers that have a GPU, with the threads that can use it at once."""
    return [{**w, "nthreads": slots} for w in workers if (slots := gpu_slots(w))]
