"""A client of pods of a Kubernetes cluster; dask-kubernetes asks Dask's operator for them.

Their specification is that of `deploy/kubernetes/cluster.yaml`: no pod is root, can write to its
image, or has a token of Kubernetes.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Protocol

from distributed import Client
from distributed.core import Status
from distributed.deploy import Cluster
from tornado.ioloop import PeriodicCallback

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.cuda import RESOURCES
from gangsaw.cluster.interrupts import interrupts_wait
from gangsaw.cluster.local import MALLOC
from gangsaw.cluster.settings import KindSettings, bounds, imported, settings_of

Spec = dict[str, object]

NAME = "gangsaw"  # by which the network policy finds our pods
USER = 10001  # that of the image; the files that pods write belong to it
POD_SECURITY: Spec = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY: Spec = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
PORTS = {"tcp-comm": 8786, "http-dashboard": 8787}  # of the scheduler
WORKER_PORTS = {"http-dashboard": 8788}
HEALTH: Spec = {"httpGet": {"port": "http-dashboard", "path": "/health"}}
# A worker that compiles answers late. One that is silent for two minutes is started anew.
PATIENT: Spec = {**HEALTH, "periodSeconds": 20, "timeoutSeconds": 10, "failureThreshold": 6}
IDLE_SECONDS = 3600  # after which the operator ends a cluster whose command was killed
LOOK_SECONDS = 10.0  # between two looks at pods that wait for room


class Pod(Protocol):
    """A pod as kr8s has it."""

    @property
    def raw(self) -> Mapping[str, object]:
        """What the API server says of it."""


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
    namespace = settings.text("namespace") or None
    module = imported("dask_kubernetes.operator", "dask-kubernetes", "kubernetes")
    with ExitStack() as stack:
        with interrupts_wait():
            try:
                cluster = stack.enter_context(
                    module.KubeCluster(
                        custom_cluster_spec=spec, namespace=namespace, quiet=config.silent
                    )
                )
            except Exception as error:  # of three libraries, each with its own classes
                raise RuntimeError(f"Kubernetes starts no cluster: {error}") from error
            if most > least:
                cluster.adapt(minimum=least, maximum=most)
            PodWatch(cluster).start()
        yield stack.enter_context(Client(cluster, set_as_default=False))


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
            self.cluster.queued = waiting([pod.raw for pod in await self.pending()])

    async def pending(self) -> Sequence[Pod]:
        """Return the pods that do not run yet."""
        found = importlib.import_module("kr8s.asyncio").get(
            "pods",
            namespace=self.cluster.namespace,
            label_selector={"dask.org/cluster-name": self.cluster.name},
            field_selector={"status.phase": "Pending"},
        )
        return [pod async for pod in found]


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


def cluster_spec(config: ClusterConfig, settings: KindSettings, workers: int) -> Spec:
    """Return the DaskCluster that the operator gets; raise ValueError for settings that cannot be.

    Two jobs of a user are two clusters.
    """
    _check(config, settings)
    name = f"{NAME}-{uuid.uuid4().hex[:8]}"
    asked = {"cpu": "1", "memory": _memory(settings)}
    scheduler = {
        "args": ["dask", "scheduler", "--host", "0.0.0.0"],
        "resources": _exactly(asked),
        "ports": _ports(PORTS),
        "readinessProbe": {**HEALTH, "periodSeconds": 2, "timeoutSeconds": 10},
        "livenessProbe": PATIENT,
    }
    worker = {
        "args": _worker_command(config, settings),
        "resources": _exactly(_asked(config, settings)),
        "ports": _ports(WORKER_PORTS),
        "livenessProbe": {**PATIENT, "initialDelaySeconds": 60},
    }
    return {
        "apiVersion": "kubernetes.dask.org/v1",
        "kind": "DaskCluster",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": NAME}},
        "spec": {
            "idleTimeout": IDLE_SECONDS,
            "scheduler": {
                "spec": _pod("scheduler", scheduler, settings),
                "service": _service(name),
            },
            "worker": {"replicas": workers, "spec": _pod("worker", worker, settings)},
        },
    }


def _check(config: ClusterConfig, settings: KindSettings) -> None:
    if not settings.text("image"):
        raise ValueError(
            "kubernetes.image is not set: name an image with this version of Gangsaw, "
            "as DASK_GANGSAW__KUBERNETES__IMAGE"
        )
    if config.certificates:
        raise ValueError("pods take no certificates from here: mount them by a spec of your own")
    if config.device == "gpu" and settings.number("gpus") != 1:
        raise ValueError(f"--device gpu needs kubernetes.gpus 1, got {settings.number('gpus')}")


def _pod(role: str, container: Spec, settings: KindSettings) -> Spec:
    """Return the pod of a scheduler or worker."""
    mounts, volumes = [{"name": "tmp", "mountPath": "/tmp"}], [{"name": "tmp", "emptyDir": {}}]
    if claim := settings.text("claim"):
        mounts.append({"name": "data", "mountPath": settings.text("folder")})
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": claim}})
    whole = {
        "name": role,
        "image": settings.text("image"),
        **container,
        "env": [{"name": name, "value": str(value)} for name, value in MALLOC.items()],
        "securityContext": CONTAINER_SECURITY,
        "volumeMounts": mounts,
    }
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": POD_SECURITY,
        "containers": [whole],
        "volumes": volumes,
    }


def _worker_command(config: ClusterConfig, settings: KindSettings) -> list[str]:
    threads = config.threads or settings.number("cores")
    http = f":{WORKER_PORTS['http-dashboard']}"
    command = ["dask", "worker", "--nthreads", str(threads), "--name", "$(DASK_WORKER_NAME)"]
    pairs = ",".join(f"{name}={number}" for name, number in RESOURCES.items())
    offered = ["--resources", pairs] if config.device == "gpu" else []
    return [*command, "--dashboard-address", http, *offered]


def _service(name: str) -> Spec:
    ports = [
        {"name": port, "protocol": "TCP", "port": number, "targetPort": port}
        for port, number in PORTS.items()
    ]
    selector = {"dask.org/cluster-name": name, "dask.org/component": "scheduler"}
    return {"type": "ClusterIP", "selector": selector, "ports": ports}


def _ports(ports: Mapping[str, int]) -> list[Spec]:
    return [{"name": n, "containerPort": port, "protocol": "TCP"} for n, port in ports.items()]


def _memory(settings: KindSettings) -> str:
    """Return the memory of a pod in the form of Kubernetes: 4Gi."""
    return settings.text("memory").replace(" ", "").removesuffix("B")


def _asked(config: ClusterConfig, settings: KindSettings) -> dict[str, str]:
    asked = {"cpu": str(settings.number("cores")), "memory": _memory(settings)}
    if gpus := settings.number("gpus"):
        asked["nvidia.com/gpu"] = str(gpus)
    return asked


def _exactly(asked: dict[str, str]) -> Spec:
    """Return requests that are limits, too: such pods are the last that a full node ends."""
    return {"requests": asked, "limits": asked}
