"""A client of pods of Kubernetes; Dask's operator makes them, dask-kubernetes reaches them."""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Protocol

from distributed import Client
from distributed.core import Status
from distributed.deploy import Cluster
from tornado.ioloop import PeriodicCallback

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.interrupts import interrupts_wait
from gangsaw.cluster.pod_spec import Spec, cluster_spec
from gangsaw.cluster.settings import bounds, imported, settings_of
from gangsaw.cluster.told import Teller

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0  # between two looks at pods that wait for room
START_SECONDS = 1.0  # the same, before there is a scheduler
SAY_SECONDS = 5.0  # after which the user is told what is waited for
OPERATOR_SECONDS = 60.0  # in which the operator says that it has seen the cluster


class Resource(Protocol):
    """An object of Kubernetes as kr8s has it."""

    @property
    def raw(self) -> Mapping[str, object]:
        """What the API server says of it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def namespace(self) -> str:
        """Where it is."""

    def create(self) -> None:
        """Ask for it."""

    def refresh(self) -> None:
        """Read it anew."""

    def delete(self) -> None:
        """Let it go."""


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of pods; the operator replaces those that are lost; at the end all are gone.

    Between pods nothing is encrypted: a network policy keeps others out (`deploy/`).

    Raises
    ------
    ModuleNotFoundError
        dask-kubernetes is not installed.
    RuntimeError
        There is no cluster to ask, or it refuses.
    ValueError
        A setting is wrong.
    """
    settings = settings_of("kubernetes")
    least, most = bounds(config, settings, "workers")
    spec = cluster_spec(config, settings, least)
    module = imported("dask_kubernetes.operator", "dask-kubernetes", "kubernetes")
    with ExitStack() as stack:
        try:
            asked = stack.enter_context(_asked_for(spec, settings.text("namespace") or None))
            _wait_for_scheduler(asked)
            with interrupts_wait():
                cluster = stack.enter_context(
                    module.KubeCluster.from_name(
                        asked.name, namespace=asked.namespace, quiet=config.silent
                    )
                )
                if most > least:
                    cluster.adapt(minimum=least, maximum=most)
        except Exception as error:  # of three libraries, each with its own classes
            raise RuntimeError(f"Kubernetes starts no cluster: {error}") from error
        PodWatch(cluster).start()
        yield stack.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def _asked_for(spec: Spec, namespace: str | None) -> Iterator[Resource]:
    """Ask the operator for a cluster; at the end it is deleted, and with it its pods.

    KubeCluster would do it, too, but waits without a word for a scheduler that has no room, and
    leaves the cluster there when it is interrupted.
    """
    new_class = importlib.import_module("kr8s.objects").new_class
    kind = new_class("DaskCluster", f"{spec['apiVersion']}", asyncio=False)
    asked: Resource = kind(spec, namespace=namespace)
    try:
        asked.create()
        yield asked
    finally:
        with suppress(Exception):  # it was not created, or nobody is there any more
            asked.delete()


def _wait_for_scheduler(asked: Resource) -> None:
    """Return when the pod of its scheduler runs; raise TimeoutError where no operator cares."""
    began, told = time.monotonic(), Teller(log)
    while not _pods(asked, "Running", {"dask.org/component": "scheduler"}):
        seconds = time.monotonic() - began
        asked.refresh()
        if seconds > OPERATOR_SECONDS and not asked.raw.get("status"):
            raise TimeoutError(f"no operator of Dask took it within {OPERATOR_SECONDS:g} s")
        if seconds > SAY_SECONDS:
            queued = waiting([pod.raw for pod in _pods(asked, "Pending")])
            told.tell(f"no scheduler yet: waiting for {queued or 'its pod'}")
        time.sleep(START_SECONDS)


def _pods(
    cluster: Resource | Cluster, phase: str, labels: Mapping[str, str] | None = None
) -> list[Resource]:
    """Return the pods of a cluster that are in a phase, such as "Pending"."""
    found = importlib.import_module("kr8s").get(
        "pods",
        namespace=cluster.namespace,
        label_selector={"dask.org/cluster-name": cluster.name, **(labels or {})},
        field_selector={"status.phase": phase},
    )
    return list(found)


class PodWatch:
    """Says in the text `queued` of the cluster which of its pods wait for room, and why.

    Whoever waits for their workers waits as long as they do.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        cluster.queued = ""

    def start(self) -> None:
        """Look at the pods now and then, as long as the cluster runs."""
        self.again = PeriodicCallback(self.look, LOOK_SECONDS * 1000)
        self.cluster.loop.add_callback(self.again.start)

    async def look(self) -> None:
        """Look once; while the API server is away, what was known stays."""
        if self.cluster.status != Status.running:
            self.again.stop()
            return
        with suppress(Exception):
            pods = await asyncio.to_thread(_pods, self.cluster, "Pending")
            self.cluster.queued = waiting([pod.raw for pod in pods])


def waiting(pods: Sequence[Mapping[str, object]]) -> str:
    """Return in words how many pods wait, and Kubernetes' reasons; "" for none."""
    if not pods:
        return ""
    what = "1 pod is" if len(pods) == 1 else f"{len(pods)} pods are"
    known = ", ".join(dict.fromkeys(filter(None, map(_reason, pods))))
    return f"Kubernetes, where {what} pending" + (f" ({known})" if known else "")


def _reason(pod: Mapping[str, object]) -> str:
    """Return why a pod does not run: it has no node, or its image is not there."""
    status = pod["status"]
    assert isinstance(status, Mapping)
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"{condition.get('message') or condition.get('reason', '')}".rstrip(".")
    states = (each.get("state", {}) for each in status.get("containerStatuses", ()))
    return next((f"{s['waiting'].get('reason', '')}" for s in states if "waiting" in s), "")
