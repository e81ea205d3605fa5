"""A client of pods of a Kubernetes cluster; dask-kubernetes asks Dask's operator for them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from distributed import Client

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.cuda import RESOURCES
from gangsaw.cluster.interrupts import interrupts_wait
from gangsaw.cluster.local import MALLOC
from gangsaw.cluster.settings import KindSettings, bounds, imported, settings_of


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
    options = pod_options(config, settings, least)
    module = imported("dask_kubernetes.operator", "dask-kubernetes", "kubernetes")
    with ExitStack() as stack:
        with interrupts_wait():
            try:
                cluster = stack.enter_context(module.KubeCluster(**options))
            except Exception as error:  # of three libraries, each with its own classes
                raise RuntimeError(f"Kubernetes starts no cluster: {error}") from error
            if most > least:
                cluster.adapt(minimum=least, maximum=most)
        yield stack.enter_context(Client(cluster, set_as_default=False))


def pod_options(config: ClusterConfig, settings: KindSettings, workers: int) -> dict[str, object]:
    """Return the arguments of KubeCluster; raise ValueError for settings that cannot be."""
    if not settings.text("image"):
        raise ValueError(
            "kubernetes.image is not set: name an image with this version of Gangsaw, "
            "as DASK_GANGSAW__KUBERNETES__IMAGE"
        )
    if config.certificates:
        raise ValueError("pods take no certificates from here: mount them by a spec of your own")
    wants_gpu = config.device == "gpu"
    if wants_gpu and settings.number("gpus") != 1:
        raise ValueError(f"--device gpu needs kubernetes.gpus 1, got {settings.number('gpus')}")
    threads = config.threads or settings.number("cores")
    command = ["dask", "worker", "--nthreads", str(threads)]
    return {
        "name": f"gangsaw-{uuid.uuid4().hex[:8]}",  # two jobs of a user are two clusters
        "namespace": settings.text("namespace") or None,
        "image": settings.text("image"),
        "n_workers": workers,
        "resources": _resources(settings),
        "env": {name: str(value) for name, value in MALLOC.items()},
        "worker_command": [*command, *(["--resources", _pairs()] if wants_gpu else [])],
        "quiet": config.silent,
    }


def _resources(settings: KindSettings) -> dict[str, dict[str, str]]:
    """Return requests and limits of a pod, in the form of Kubernetes: 4Gi."""
    memory = settings.text("memory").replace(" ", "").removesuffix("B")
    asked = {"cpu": str(settings.number("cores")), "memory": memory}
    if gpus := settings.number("gpus"):
        asked["nvidia.com/gpu"] = str(gpus)
    return {"requests": asked, "limits": asked}


def _pairs() -> str:
    return ",".join(f"{name}={number}" for name, number in RESOURCES.items())
