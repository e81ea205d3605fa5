"""Every panel and every alert is about something that a cluster at work really measures."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from distributed import Client
from helpers.envi_files import cube, write_envi
from helpers.hang import wait_until
from helpers.prometheus import NAMES, Prometheus, board_queries, missing, prometheus

import gangsaw
from gangsaw.tasks.api import functions

FOLDER = Path(__file__).parents[2] / "deploy" / "monitoring"
BOARD = json.loads((FOLDER / "board.json").read_text())
RULES = yaml.safe_load((FOLDER / "rules.yml").read_text())["groups"][0]["rules"]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    if find_spec("prometheus_client") is None:
        pytest.skip("prometheus-client is not installed")
    with functions.workers(
        cluster="local", workers=1, threads=1, dashboard=True, silent=True
    ) as client:
        yield client


def addresses(client: Client) -> dict[str, list[str]]:
    """Where scheduler and workers serve what they measure, by Prometheus' names of its jobs."""
    info = client.scheduler_info(n_workers=-1)
    workers = [each["services"]["dashboard"] for each in info["workers"].values()]
    return {
        "gangsaw-scheduler": [f"127.0.0.1:{info['services']['dashboard']}"],
        "gangsaw-worker": [f"127.0.0.1:{port}" for port in workers],
    }


@contextmanager
def at_work(client: Client, folder: Path) -> Iterator[None]:
    """Compress and verify a scene again and again, beside the test."""
    scene = write_envi(folder / "scene.hdr", cube("uint16", (8, 32, 32)))
    enough = threading.Event()

    def work() -> None:
        while not enough.is_set():
            store = folder / "scene.zarr"
            gangsaw.compress(scene, store, chunks=(8, 8, 8), client=client, overwrite=True)
            gangsaw.verify(store, client=client)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        enough.set()
        worker.join()


def has_numbers(server: Prometheus, query: str) -> bool:
    values = [float(series["value"][1]) for series in server.query(query)]
    return any(math.isfinite(value) for value in values)


def jobs_told(server: Prometheus) -> set[str]:
    return {series["metric"]["job"] for series in server.query("gangsaw_chunks_total")}


@pytest.mark.full
def test_no_panel_is_empty_and_no_alert_is_about_nothing(client: Client, tmp_path: Path) -> None:
    if why := missing("prometheus"):
        pytest.skip(why)
    targets = addresses(client)
    with (
        at_work(client, tmp_path),
        prometheus(tmp_path, FOLDER / "prometheus.yml", targets) as server,
    ):
        for _, query in board_queries(BOARD):
            wait_until(lambda q=query: has_numbers(server, q))  # type: ignore[misc]
        wait_until(lambda: jobs_told(server) == {"compress", "verify"})  # not Prometheus' own
        with urlopen(f"{server.address}/api/v1/rules") as answer:
            (group,) = json.load(answer)["data"]["groups"]
        assert {rule["health"] for rule in group["rules"]} <= {"ok", "unknown"}
        assert {rule["name"] for rule in group["rules"]} == {rule["alert"] for rule in RULES}


def test_all_names_are_measured(client: Client, tmp_path: Path) -> None:
    """Those in an alert that is silent, too: a name that nobody measures is silent for ever."""
    queries = [query for _, query in board_queries(BOARD)] + [rule["expr"] for rule in RULES]
    names = {name for query in queries for name in NAMES.findall(query)}
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (8, 32, 32)))
    gangsaw.compress(scene, tmp_path / "scene.zarr", client=client)
    found = {"up"}  # Prometheus measures it
    for address in chain(*addresses(client).values()):
        with urlopen(f"http://{address}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        found |= {line.partition("{")[0].partition(" ")[0] for line in lines}
    assert names <= found
