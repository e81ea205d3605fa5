"""Manifests, and what `--cluster kubernetes` asks for, are what Dask's operator takes."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from distributed.core import Status

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers import kubernetes, pod_spec
from gangsaw.cluster.settings import settings_of

if find_spec("dask_kubernetes") is None or find_spec("kubernetes_validate") is None:
    pytest.skip("dask-kubernetes or kubernetes-validate is missing", allow_module_level=True)
from helpers import command_lines
from helpers.manifests import Manifest, documents, errors, pod_specs

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
ALL = [each for file in FILES for each in documents(file)]
CLUSTER, JOB = FOLDER / "cluster.yaml", FOLDER / "job.yaml"
PODS = {
    "gangsaw.kubernetes.image": "registry/gangsaw:1",
    "gangsaw.kubernetes.gpus": 1,
    "gangsaw.kubernetes.claim": "gangsaw-data",
}


def made(config: ClusterConfig, workers: int = 2) -> Manifest:
    with dask.config.set(PODS):
        return pod_spec.cluster_spec(config, settings_of("kubernetes"), workers)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_manifests_hold_nothing_that_is_not_known(file: Path) -> None:
    assert documents(file)
    for manifest in documents(file):
        assert errors(manifest) == []


def test_clusters_that_are_made_here_hold_nothing_that_is_not_known() -> None:
    assert errors(made(ClusterConfig(device="gpu", threads=4))) == []
    assert errors(made(ClusterConfig())) == []


def misspelt(manifest: Manifest, *path: str | int) -> Manifest:
    """The manifest with a key that has one letter more."""
    wrong: Any = deepcopy(manifest)
    place = wrong
    for step in path[:-1]:
        place = place[step]
    place[f"{path[-1]}x"] = place.pop(path[-1])
    return wrong  # type: ignore[no-any-return]


CONTAINER = ("spec", "worker", "spec", "containers", 0)
MISSPELT: list[tuple[str | int, ...]] = [
    ("spec", "idleTimeout"),
    ("spec", "worker", "replicas"),
    ("spec", "worker", "spec", "automountServiceAccountToken"),
    (*CONTAINER, "securityContext", "readOnlyRootFilesystem"),
    (*CONTAINER, "livenessProbe", "httpGet", "path"),
    (*CONTAINER, "env", 0, "value"),
    (*CONTAINER, "volumeMounts", 0, "mountPath"),
    ("spec", "scheduler", "service", "selector"),
]


@pytest.mark.parametrize("path", MISSPELT, ids=lambda path: str(path[-1]))
def test_a_misspelt_key_is_an_error(path: tuple[str | int, ...]) -> None:
    """Of an object that is in order otherwise: the check sees each of them."""
    (manifest,) = documents(CLUSTER)
    assert any(f"'{path[-1]}x'" in error for error in errors(misspelt(manifest, *path)))


def test_a_misspelt_key_of_kubernetes_itself_is_an_error() -> None:
    (policy,) = documents(FOLDER / "network-policy.yaml")
    assert errors(misspelt(policy, "spec", "ingress"))


POD_SPECS = [*pod_specs(ALL), *pod_specs(made(ClusterConfig()))]


@pytest.mark.parametrize("pod", POD_SPECS, ids=lambda pod: pod["containers"][0]["name"])
def test_no_pod_is_root_or_writes_to_its_image(pod: Manifest) -> None:
    assert pod["securityContext"] == pod_spec.POD_SECURITY
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["securityContext"] == pod_spec.CONTAINER_SECURITY
    assert container["resources"]["requests"] == container["resources"]["limits"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"tmp": "/tmp", "data": "/data"}
    assert {volume["name"] for volume in pod["volumes"]} == set(mounts)
    has_ports = "ports" in container
    assert has_ports == ("livenessProbe" in container)  # who answers is asked


def test_manifests_and_clusters_that_are_made_here_are_alike() -> None:
    """Whoever reads the one knows the other."""
    (written,) = documents(CLUSTER)
    (of_job,) = documents(JOB)
    own = made(ClusterConfig(threads=4))
    for cluster in (written, of_job["spec"]["cluster"]):
        for role in ("scheduler", "worker"):
            (mine,), (theirs,) = (
                each["spec"][role]["spec"]["containers"] for each in (own, cluster)
            )
            for key in ("args", "ports", "env", "volumeMounts", "livenessProbe"):
                assert mine[key] == theirs[key]
    assert of_job["spec"]["cluster"]["spec"]["worker"] == written["spec"]["worker"]


def test_the_network_policy_finds_every_pod() -> None:
    """By a label that the operator hands on from the object to its pods."""
    (policy,) = documents(FOLDER / "network-policy.yaml")
    wanted = policy["spec"]["podSelector"]["matchLabels"]
    for manifest in (*documents(CLUSTER), *documents(JOB), made(ClusterConfig())):
        assert manifest["metadata"]["labels"].items() >= wanted.items()
    asked = {port["port"] for port in policy["spec"]["ingress"][1]["ports"]}
    assert asked == {pod_spec.PORTS["http-dashboard"], *pod_spec.WORKER_PORTS.values()}


def test_pods_ask_for_what_the_settings_say() -> None:
    spec = made(ClusterConfig(device="gpu", threads=4), 2)["spec"]
    assert spec["worker"]["replicas"] == 2
    (worker,), (scheduler,) = (spec[r]["spec"]["containers"] for r in ("worker", "scheduler"))
    asked = {"cpu": "1", "memory": "4Gi"}
    assert worker["resources"]["limits"] == {**asked, "nvidia.com/gpu": "1"}
    assert scheduler["resources"]["limits"] == asked
    command = " ".join(worker["args"])
    assert "--nthreads 4 " in command
    assert command.endswith("--resources GPU=1")
    names = {made(ClusterConfig())["metadata"]["name"] for _ in range(2)}
    assert len(names) == 2  # two jobs of a user


def test_commands_are_known_to_dask_and_to_gangsaw() -> None:
    for pod in POD_SPECS:
        command_lines.check(pod["containers"][0]["args"])
    command_lines.check(made_on_gpus()["args"])
    with pytest.raises(Exception, match=r"No such option.*--nthread"):
        command_lines.check(["dask", "worker", "--nthread", "4"])
    with pytest.raises(Exception, match=r"No such option.*--wait"):
        command_lines.check(["gangsaw", "compress", "a.hdr", "a.zarr", "--wait", "1"])


def made_on_gpus() -> Manifest:
    spec = made(ClusterConfig(device="gpu"))["spec"]
    (container,) = spec["worker"]["spec"]["containers"]
    return dict(container)


FULL = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient memory.",
        }
    ]
}
PULLING = {
    "conditions": [{"type": "PodScheduled", "status": "True"}],
    "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}],
}


def test_pods_that_wait_are_told_with_their_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [SimpleNamespace(raw={"status": each}) for each in (FULL, PULLING, FULL, {})]
    monkeypatch.setattr(kubernetes, "_pods", lambda *_: pods)
    cluster: Any = SimpleNamespace(status=Status.running)
    watch = kubernetes.PodWatch(cluster)
    assert cluster.queued == ""
    asyncio.run(watch.poll())
    assert cluster.queued == (
        "Kubernetes, where 4 pods are pending "
        "(0/3 nodes are available: 3 Insufficient memory, ImagePullBackOff)"
    )
    pods.clear()
    asyncio.run(watch.poll())
    assert cluster.queued == ""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A cluster of which an operator knows, looked at without pause; `pods` by phase."""
    for name in ("START_SECONDS", "SAY_SECONDS", "OPERATOR_SECONDS"):
        monkeypatch.setattr(kubernetes, name, 0.0)
    waits = SimpleNamespace(raw={"status": FULL})
    asked = SimpleNamespace(raw={"status": {"phase": "Pending"}}, pods={"Pending": [waits]})
    monkeypatch.setattr(kubernetes, "_pods", lambda of, phase, *_: of.pods.get(phase, []))
    return asked


def test_a_scheduler_without_room_is_waited_for_and_told(
    asked: Any, caplog: pytest.LogCaptureFixture
) -> None:
    looks = iter([{}, {}, {"Running": [SimpleNamespace(raw={})], "Pending": []}])
    asked.refresh = lambda: asked.pods.update(next(looks))
    kubernetes._wait_for_scheduler(asked)
    assert caplog.messages == [
        "no scheduler yet: waiting for Kubernetes, where 1 pod is pending "
        "(0/3 nodes are available: 3 Insufficient memory)",
        "no scheduler yet: waiting for its pod",
    ]


def test_without_an_operator_nothing_is_waited_for(asked: Any) -> None:
    asked.raw = {}
    asked.refresh = lambda: None
    with pytest.raises(TimeoutError, match="no operator of Dask took it within"):
        kubernetes._wait_for_scheduler(asked)


def test_what_was_asked_for_is_deleted_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    kind = SimpleNamespace(create=lambda: done.append("create"), delete=lambda: done.append("gone"))
    objects = SimpleNamespace(new_class=lambda *_, **__: lambda *_, **__: kind)
    monkeypatch.setattr(kubernetes, "importlib", SimpleNamespace(import_module=lambda _: objects))
    with pytest.raises(KeyboardInterrupt), kubernetes._create_cluster(made(ClusterConfig()), None):
        raise KeyboardInterrupt
    assert done == ["create", "gone"]
