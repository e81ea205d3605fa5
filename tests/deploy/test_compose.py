"""The Compose file holds nothing that Compose does not know, and its parts fit together."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import command_lines

FOLDER = Path(__file__).parents[2] / "deploy" / "compose"
MONITORING = FOLDER.parent / "monitoring"
DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
TEXT = DEFAULT.sub(r"\1", (FOLDER / "compose.yaml").read_text())  # with no variable set
COMPOSE = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def checked(text: str) -> None:
    if find_spec("compose_spec") is None:
        pytest.skip("compose-spec is not installed")
    import compose_spec

    compose_spec.PyCompose.from_yaml(yaml.safe_dump(yaml.safe_load(text)))


def test_it_holds_nothing_that_is_not_known() -> None:
    checked(TEXT)


@pytest.mark.parametrize(
    "key",
    ["read_only", "cap_drop", "tmpfs", "healthcheck", "interval", "condition", "memory", "replicas",
     "internal", "secrets", "profiles", "depends_on"],
)  # fmt: skip
def test_a_misspelt_key_is_an_error(key: str) -> None:
    wrong = re.sub(rf"\b{key}:", f"{key}x:", TEXT)
    assert wrong != TEXT
    with pytest.raises((ValueError, TypeError)):
        checked(wrong)


@pytest.mark.parametrize("name", SERVICES)
def test_services_are_locked_in(name: str) -> None:
    """And nobody else reaches them: Dask runs whatever reaches its ports."""
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["deploy"]["resources"]["limits"]["memory"]
    assert not service["image"].startswith("docker.io") or re.search(r":v?\d", service["image"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_commands_are_known_to_dask() -> None:
    for name in ("scheduler", "worker"):
        command_lines.check(SERVICES[name]["command"])


def test_all_that_is_mounted_is_there() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", ())]
    files = {mount.split(":")[0] for mount in mounts if mount.startswith(".")} - {"./data"}
    assert len(files) == 5
    assert all((FOLDER / file).is_file() for file in files)
    named = {mount.split(":")[0] for mount in mounts if not mount.startswith(".")}
    assert named == COMPOSE["volumes"].keys()


def test_prometheus_looks_where_services_answer() -> None:
    jobs = yaml.safe_load((MONITORING / "prometheus.yml").read_text())["scrape_configs"]
    scheduler, worker = jobs
    (target,) = scheduler["static_configs"][0]["targets"]
    (names,) = worker["dns_sd_configs"]
    assert target == "scheduler:8787"
    assert (names["names"], names["port"]) == (["worker"], 8788)
    assert ":8787" in SERVICES["scheduler"]["command"]
    assert ":8788" in SERVICES["worker"]["command"]
    for name in ("scheduler", "worker", "prometheus", "grafana"):
        assert "inside" in SERVICES[name]["networks"]


def test_grafana_finds_prometheus_and_the_board() -> None:
    (source,) = yaml.safe_load((FOLDER / "grafana/datasources.yml").read_text())["datasources"]
    (boards,) = yaml.safe_load((FOLDER / "grafana/boards.yml").read_text())["providers"]
    variables = json.loads((MONITORING / "board.json").read_text())["templating"]["list"]
    assert source["url"] == "http://prometheus:9090"
    assert source["type"] in [variable["query"] for variable in variables]
    mounted = [mount.split(":")[1] for mount in SERVICES["grafana"]["volumes"]]
    assert f"{boards['options']['path']}/gangsaw.json" in mounted
