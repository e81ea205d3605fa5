"""Client of workers that are jobs of a SLURM cluster, submitted by dask-jobqueue.

The scheduler runs in this process: start it on a host that jobs reach, a login node or in a job.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import dask
from distributed import Client, Security
from distributed.core import Status
from distributed.deploy import Cluster
from distributed.deploy.spec import ProcessInterface
from tornado.ioloop import PeriodicCallback

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import defer_interrupts
from gangsaw.cluster.launchers.cuda import RESOURCES, THREADS
from gangsaw.cluster.launchers.local import MALLOC
from gangsaw.cluster.security import key_folder, security_of, write_to_files
from gangsaw.cluster.settings import KindSettings, bounds, import_for_kind, setting, settings_of

log = logging.getLogger(__name__)

WALLTIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
# Before its walltime a worker accepts no more tasks, and its job ends by itself. The margin is for
# running tasks, for the start of the job, and for a slow disk.
MARGIN = 0.1, 20.0, 300.0  # share of the walltime, least and most seconds
# Dask's adaptive scaling estimates the duration of waiting tasks. Jobs submit only as many tasks
# as keep all threads busy, so waiting tasks are a reason for more workers.
ADAPTIVE = {"interval": "1s", "wait_count": 10, "target_duration": "50ms"}
QUEUE_SECONDS = 10.0  # between two polls of the queue, only while jobs have no worker
CANCEL_SECONDS = 30.0
PENDING = {"PD", "CF"}  # states of queued jobs, and of jobs whose nodes boot
ENDED_JOBS = 6  # in a row, without a worker: further jobs would end, too


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of workers that SLURM runs as jobs; cancel all jobs at the end.

    Jobs that end or are lost are replaced.

    Raises
    ------
    ModuleNotFoundError
        dask-jobqueue is not installed.
    RuntimeError
        This host has no SLURM, or SLURM refuses the job.
    ValueError
        A setting is wrong.
    """
    settings = settings_of("slurm")
    cluster_type = import_for_kind("dask_jobqueue", "dask-jobqueue", "slurm").SLURMCluster
    least, most = bounds(config, settings, "jobs")
    options = job_options(config, settings)
    if shutil.which("sbatch") is None:
        raise RuntimeError("sbatch is not on PATH: run this on a login node of the SLURM cluster")
    lost = {"distributed.deploy.lost-worker-timeout": f"{settings.number('lost-seconds')}s"}
    with dask.config.set(lost), ExitStack() as stack:
        security = _for_all_nodes(security_of(config), _folder(settings), stack)
        stack.callback(_cancel_all, options["job_name"])
        with defer_interrupts():
            cluster = stack.enter_context(cluster_type(**options, security=security))
            cluster.adapt(minimum_jobs=least, maximum_jobs=most, **ADAPTIVE)
            JobWatch(cluster, _folder(settings) / "logs").start()
        yield stack.enter_context(Client(cluster, set_as_default=False))


class JobWatch:
    """Monitor that drops SLURM jobs that ended before their worker came, so that they are replaced.

    Dask knows of a job only by its worker. If many such jobs end in a row, all of them are faulty.
    Then none is replaced, and the text `failure` of the cluster gives the reason. Its text `queued`
    describes the queued jobs; a job of gangsaw waits as long as it is not empty.
    """

    def __init__(self, cluster: Cluster, logs: Path) -> None:
        self.cluster, self.logs, self.ended = cluster, logs, 0
        cluster.failure = cluster.queued = ""

    def start(self) -> None:
        """Poll the queue periodically as long as the cluster runs."""
        self.again = PeriodicCallback(self.poll, QUEUE_SECONDS * 1000)
        self.cluster.loop.add_callback(self.again.start)

    async def poll(self) -> None:
        """Poll the queue once, if any job has no worker."""
        if self.cluster.status != Status.running:
            self.again.stop()
            return
        there = {worker["name"] for worker in self.cluster.scheduler_info["workers"].values()}
        jobs = {name: job for name, job in self.cluster.workers.items() if name not in there}
        self.ended = 0 if there else self.ended
        queue = await self.queue(next(iter(jobs.values()))) if jobs else {}
        if queue is not None:
            self.cluster.queued = describe_queue(
                [queue.get(job.job_id, "") for job in jobs.values()]
            )
            self.forget([name for name, job in jobs.items() if job.job_id not in queue])

    async def queue(self, job: ProcessInterface) -> dict[str, str] | None:
        """Return the reason why each job of this user waits, by job id; None without a controller.

        The reason of a running job is "".
        """
        try:
            said = await job._call(["squeue", "-h", "-o", "%A %t %r", "-u", str(os.getuid())])
        except RuntimeError:
            return None
        lines = [line.split(maxsplit=2) for line in said.splitlines() if line.strip()]
        return {number: reason if state in PENDING else "" for number, state, reason in lines}

    def forget(self, names: list[str]) -> None:
        """Drop these SLURM jobs, so that they are replaced, unless too many ended in a row."""
        self.ended += len(names)
        for name in names:
            self.cluster.workers.pop(name, None)
        if self.ended >= ENDED_JOBS and not self.cluster.failure:
            self.cluster.failure = (
                f"{self.ended} jobs in a row ended before they had a worker: see {self.logs}"
            )
            log.error(self.cluster.failure)
            self.cluster.adapt(minimum_jobs=0, maximum_jobs=0)


def describe_queue(reasons: list[str]) -> str:
    """Return a phrase with the number of queued jobs and SLURM's reasons; "" for none."""
    waiting = [reason for reason in reasons if reason]
    if not waiting:
        return ""
    what = "1 job waits" if len(waiting) == 1 else f"{len(waiting)} jobs wait"
    known = ", ".join(dict.fromkeys(reason for reason in waiting if reason != "None"))
    return f"SLURM, in whose queue {what}" + (f" ({known})" if known else "")


def _cancel_all(job_name: object) -> None:
    """Cancel the jobs with this name.

    Dask knows the last job of each worker; those that SLURM requeued would wait for a scheduler
    that is gone.
    """
    command = ["scancel", f"--name={job_name}"]
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, check=False, capture_output=True, timeout=CANCEL_SECONDS)


def _for_all_nodes(security: Security | None, folder: Path, stack: ExitStack) -> Security | None:
    """Return certificates as files that all nodes see, until the stack is closed.

    dask-jobqueue would write them, too, but keep them until the program ends.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if security is None:
        return None
    return write_to_files(security, stack.enter_context(key_folder(folder)))


def job_options(config: ClusterConfig, settings: KindSettings) -> dict[str, object]:
    """Return the arguments of SLURMCluster; raise ValueError for invalid settings."""
    given = {
        "queue": settings.text("queue"),
        "account": settings.text("account"),
        "interface": settings.text("interface"),
        "local_directory": settings.text("local-folder"),
        "python": _python(settings),
    }
    return {
        "cores": _cores(config, settings),
        "processes": 1,
        "memory": config.memory_limit or settings.text("memory"),
        "walltime": settings.text("walltime"),
        "log_directory": str(_folder(settings) / "logs"),
        "job_name": f"gangsaw-{uuid.uuid4().hex[:8]}",
        "job_extra_directives": [*_of_gpu(config, settings), *settings.texts("directives")],
        "job_script_prologue": [*_exports(), *settings.texts("prologue")],
        "worker_extra_args": [*_lifetime(settings.text("walltime")), *_http(), *_offers(config)],
        "scheduler_options": {
            "dashboard_address": setting("dashboard-address"),
            "dashboard": config.dashboard,
        },
        "silence_logs": logging.CRITICAL + 1 if config.silent else logging.WARNING,
        **{name: text for name, text in given.items() if text},
    }


def _folder(settings: KindSettings) -> Path:
    return Path(settings.text("folder")).expanduser()


def _cores(config: ClusterConfig, settings: KindSettings) -> int:
    return config.threads or settings.number("cores")


def seconds_of(walltime: str) -> int:
    """Parse a walltime of SLURM to seconds: "30", "1:30", "1:00:00", "1-12" or "1-12:00:00"."""
    match = WALLTIME.fullmatch(walltime)
    if match is None:
        raise ValueError(f"slurm.walltime must be such as 01:00:00, got {walltime!r}")
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:  # minutes, or minutes and seconds
        numbers = [0, *numbers]
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return ((24 * int(days or 0) + hours) * 60 + minutes) * 60 + seconds


def _lifetime(walltime: str) -> list[str]:
    """Return options that end workers at different times, all of them before the walltime."""
    whole = seconds_of(walltime)
    share, least, most = MARGIN
    margin = min(most, max(least, share * whole))
    lifetime = whole - 1.5 * margin
    if lifetime <= margin / 2:
        raise ValueError(f"a walltime of {walltime} leaves no time to work: set a minute or more")
    return ["--lifetime", f"{lifetime:.0f}s", "--lifetime-stagger", f"{margin / 2:.0f}s"]


def _http() -> list[str]:
    return ["--dashboard-address", str(setting("dashboard-address"))]


def _offers(config: ClusterConfig) -> list[str]:
    offered = {**(RESOURCES if config.device == "gpu" else {}), **config.resources}
    pairs = ",".join(f"{name}={number:g}" for name, number in offered.items())
    return ["--resources", pairs] if pairs else []


def _of_gpu(config: ClusterConfig, settings: KindSettings) -> list[str]:
    gpus = settings.number("gpus")
    if gpus not in (0, 1):
        raise ValueError(f"slurm.gpus must be 0 or 1, got {gpus}: ask for more jobs of one GPU")
    if config.device != "gpu":
        return ["--gres=gpu:1"] if gpus else []
    cores = _cores(config, settings)
    if not gpus or cores < THREADS:
        raise ValueError(
            f"--device gpu needs slurm.gpus 1 and slurm.cores {THREADS} or more, "
            f"got {gpus} and {cores}"
        )
    return ["--gres=gpu:1"]


def _exports() -> list[str]:
    return [f"export {name}={value}" for name, value in MALLOC.items()]


def _python(settings: KindSettings) -> str:
    """Return the command of a worker's Python in a container; "" for the Python of this process."""
    container = settings.text("container")
    return container and f"{settings.text('container-command')} {container} python"
