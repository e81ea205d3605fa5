"""DaskCluster object for Dask's operator, in the form of `deploy/kubernetes/cluster.yaml`.

No pod is root, can write to its image, or has a Kubernetes token.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.cuda import RESOURCES
from gangsaw.cluster.launchers.local import MALLOC
from gangsaw.cluster.settings import KindSettings

Spec = dict[str, object]

NAME = "gangsaw"  # label by which the network policy selects our pods
USER = 10001  # user of the image; owner of the files that pods write
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
# A worker that compiles answers late. One that is silent for two minutes is restarted.
PATIENT: Spec = {**HEALTH, "periodSeconds": 20, "timeoutSeconds": 10, "failureThreshold": 6}
IDLE_SECONDS = 3600  # idle time before the operator ends a cluster whose command was killed


def cluster_spec(config: ClusterConfig, settings: KindSettings, workers: int) -> Spec:
    """Return the DaskCluster object for the operator; raise ValueError for invalid settings.

    Each call makes a new name, so two jobs of a user are two clusters.
    """
    _check(config, settings)
    name = f"{NAME}-{uuid.uuid4().hex[:8]}"
    asked = {"cpu": "1", "memory": _memory(settings)}
    scheduler: Spec = {
        "args": ["dask", "scheduler", "--host", "0.0.0.0"],
        "resources": _exactly(asked),
        "ports": _ports(PORTS),
        "readinessProbe": {**HEALTH, "periodSeconds": 2, "timeoutSeconds": 10},
        "livenessProbe": PATIENT,
    }
    worker: Spec = {
        "args": _worker_command(config, settings),
        "resources": _exactly(_list_resources(config, settings)),
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
        raise ValueError("pods get no certificates from here: mount them with your own spec")
    if config.device == "gpu" and settings.number("gpus") != 1:
        raise ValueError(f"--device gpu needs kubernetes.gpus 1, got {settings.number('gpus')}")


def _pod(role: str, container: Spec, settings: KindSettings) -> Spec:
    """Return the Kubernetes pod specification of a scheduler or worker (`role`)."""
    mounts, volumes = [{"name": "tmp", "mountPath": "/tmp"}], [{"name": "tmp", "emptyDir": {}}]
    if claim := settings.text("claim"):
        mounts.append({"name": "data", "mountPath": settings.text("folder")})
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": claim}})
    whole: Spec = {
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
    """Return the memory of a pod in the notation of Kubernetes: 4Gi."""
    return settings.text("memory").replace(" ", "").removesuffix("B")


def _list_resources(config: ClusterConfig, settings: KindSettings) -> dict[str, str]:
    asked = {"cpu": str(settings.number("cores")), "memory": _memory(settings)}
    if gpus := settings.number("gpus"):
        asked["nvidia.com/gpu"] = str(gpus)
    return asked


def _exactly(resources: dict[str, str]) -> Spec:
    """Return container resources with requests equal to limits: full nodes evict these last."""
    return {"requests": resources, "limits": resources}
