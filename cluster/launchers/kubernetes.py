"""Client of Kubernetes pods, created by Dask's operator and accessed with dask-kubernetes."""

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
from gangsaw.cluster.interrupts import defer_interrupts
from gangsaw.cluster.launchers.pod_spec import Spec, cluster_spec
from gangsaw.cluster.messages import StateLogger
from gangsaw.cluster.settings import bounds, import_for_kind, settings_of

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0  # between two polls of pending pods
START_SECONDS = 1.0  # between two polls before there is a scheduler
SAY_SECONDS = 5.0  # delay of the first line about a wait
OPERATOR_SECONDS = 60.0  # time limit for a first status from the operator


class Resource(Protocol):
    """Kubernetes object, as kr8s represents it."""

    @property
    def raw(self) -> Mapping[str, object]:
        """Description of the object by the API server."""

    @property
    def name(self) -> str:
        """Name of the object."""

    @property
    def namespace(self) -> str:
        """Namespace of the object."""

    def create(self) -> None:
        """Create the object in the API server."""

    def refresh(self) -> None:
        """Read `raw` again from the API server."""

    def delete(self) -> None:
        """Delete the object."""


@contextmanager
def start(config: ClusterConfig) -> Iterator[Client]:
    """Yield a client of Kubernetes pods; delete the pods at the end.

    The operator replaces lost pods. Between pods nothing is encrypted: a network policy excludes
    other pods (`deploy/`).

    Raises
    ------
    ModuleNotFoundError
        dask-kubernetes is not installed.
    RuntimeError
        No Kubernetes cluster is reachable, or it refuses the request.
    ValueError
        A setting is wrong.
    """
    settings = settings_of("kubernetes")
    least, most = bounds(config, settings, "workers")
    spec = cluster_spec(config, settings, least)
    module = import_for_kind("dask_kubernetes.operator", "dask-kubernetes", "kubernetes")
    with ExitStack() as stack:
        try:
            asked = stack.enter_context(_create_cluster(spec, settings.text("namespace") or None))
            _wait_for_scheduler(asked)
            with defer_interrupts():
                cluster = stack.enter_context(
                    module.KubeCluster.from_name(
                        asked.name, namespace=asked.namespace, quiet=config.silent
                    )
                )
                if most > least:
                    cluster.adapt(minimum=least, maximum=most)
        except Exception as error:  # three libraries raise unrelated types
            raise RuntimeError(f"Kubernetes starts no cluster: {error}") from error
        PodWatch(cluster).start()
        yield stack.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def _create_cluster(spec: Spec, namespace: str | None) -> Iterator[Resource]:
    """Create a DaskCluster object for the operator; delete it and thus its pods at the end.

    KubeCluster would create it, too. But it waits silently for a scheduler that cannot be placed on
    a node, and does not delete the cluster when it is interrupted.
    """
    new_class = importlib.import_module("kr8s.objects").new_class
    kind = new_class("DaskCluster", f"{spec['apiVersion']}", asyncio=False)
    asked: Resource = kind(spec, namespace=namespace)
    try:
        asked.create()
        yield asked
    finally:
        with suppress(Exception):  # not created, or the API server is gone
            asked.delete()


def _wait_for_scheduler(resource: Resource) -> None:
    """Wait until the pod of the scheduler runs; raise TimeoutError if no operator reacts."""
    began, told = time.monotonic(), StateLogger(log)
    while not _pods(resource, "Running", {"dask.org/component": "scheduler"}):
        seconds = time.monotonic() - began
        resource.refresh()
        if seconds > OPERATOR_SECONDS and not resource.raw.get("status"):
            raise TimeoutError(f"no operator of Dask took it within {OPERATOR_SECONDS:g} s")
        if seconds > SAY_SECONDS:
            queued = describe_waiting_pods([pod.raw for pod in _pods(resource, "Pending")])
            told.log_state(f"no scheduler yet: waiting for {queued or 'its pod'}")
        time.sleep(START_SECONDS)


def _pods(
    cluster: Resource | Cluster, phase: str, labels: Mapping[str, str] | None = None
) -> list[Resource]:
    """Return the pods of a cluster in a phase, such as "Pending"."""
    found = importlib.import_module("kr8s").get(
        "pods",
        namespace=cluster.namespace,
        label_selector={"dask.org/cluster-name": cluster.name, **(labels or {})},
        field_selector={"status.phase": phase},
    )
    return list(found)


class PodWatch:
    """Monitor of pending pods; it sets the text `queued` of the cluster to their reasons.

    A job waits for a worker as long as this text is not empty.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        cluster.queued = ""

    def start(self) -> None:
        """Poll the pods periodically as long as the cluster runs."""
        self.again = PeriodicCallback(self.poll, LOOK_SECONDS * 1000)
        self.cluster.loop.add_callback(self.again.start)

    async def poll(self) -> None:
        """Poll the pods once; keep the last text if the API server does not answer."""
        if self.cluster.status != Status.running:
            self.again.stop()
            return
        with suppress(Exception):
            pods = await asyncio.to_thread(_pods, self.cluster, "Pending")
            self.cluster.queued = describe_waiting_pods([pod.raw for pod in pods])


def describe_waiting_pods(pods: Sequence[Mapping[str, object]]) -> str:
    """Return a phrase with the number of pending pods and Kubernetes' reasons; "" for none."""
    if not pods:
        return ""
    what = "1 pod is" if len(pods) == 1 else f"{len(pods)} pods are"
    known = ", ".join(dict.fromkeys(filter(None, map(_reason, pods))))
    return f"Kubernetes, where {what} pending" + (f" ({known})" if known else "")


def _reason(pod: Mapping[str, object]) -> str:
    """Return the reason why a pod does not run: no node fits it, or its image is missing."""
    status = pod["status"]
    assert isinstance(status, Mapping)
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"{condition.get('message') or condition.get('reason', '')}".rstrip(".")
    states = (each.get("state", {}) for each in status.get("containerStatuses", ()))
    return next((f"{s['waiting'].get('reason', '')}" for s in states if "waiting" in s), "")
