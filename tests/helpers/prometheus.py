"""A Prometheus that runs for a test, and the queries that a board asks it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from helpers.hang import wait_until
from helpers.slurm import free_ports

# what Grafana puts in before it asks
VARIABLES = {"$__rate_interval": "10s", "$scheduler": ".*"}
NAMES = re.compile(r"\b(?:gangsaw|dask|process)_\w+|\bup\b")  # of what we, Dask and Python measure


def missing(*programs: str) -> str:
    """What a test needs, "" for nothing."""
    absent = [program for program in programs if shutil.which(program) is None]
    return f"{absent[0]} is missing: apt-get install prometheus" if absent else ""


def promtool(*arguments: str, folder: Path) -> str:
    """What promtool says; it has to be content."""
    command = ["promtool", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def board_queries(board: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Panel and PromQL of each query of a board, with the variables of Grafana put in."""
    found = [(p["title"], t["expr"]) for p in board["panels"] for t in p["targets"]]
    return [(title, _without_variables(query)) for title, query in found]


def _without_variables(query: str) -> str:
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    return query


@dataclass(frozen=True)
class Prometheus:
    """A server that runs.

    Attributes
    ----------
    address : of its HTTP interface
    """

    address: str

    def query(self, query: str) -> list[dict[str, Any]]:
        """The series that a query finds now, each with its labels and value."""
        with urlopen(f"{self.address}/api/v1/query?{urlencode({'query': query})}") as answer:
            found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        return found

    def is_ready(self) -> bool:
        with suppress(URLError, ConnectionError), urlopen(f"{self.address}/-/ready") as answer:
            return bool(answer.status == 200)
        return False


def with_targets(config: Mapping[str, Any], targets: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """A configuration that looks often, and for its jobs at these addresses."""
    found = ("static_configs", "dns_sd_configs", "kubernetes_sd_configs")
    jobs = [
        {key: value for key, value in job.items() if key not in found}
        | {"static_configs": [{"targets": list(targets[job["job_name"]])}]}
        for job in config["scrape_configs"]
    ]
    often = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    return {**config, "global": often, "scrape_configs": jobs}


@contextmanager
def prometheus(
    folder: Path, config: Path, targets: Mapping[str, Sequence[str]]
) -> Iterator[Prometheus]:
    """Start it with a configuration of ours for these targets; at the end it is gone."""
    shutil.copytree(config.parent, folder / "config")
    own = folder / "config" / "own.yml"
    own.write_text(yaml.safe_dump(with_targets(yaml.safe_load(config.read_text()), targets)))
    (port,) = free_ports(1)
    server = Prometheus(f"http://127.0.0.1:{port}")
    arguments = [
        f"--config.file={own}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(["prometheus", *arguments], stdout=log, stderr=log)
    try:
        wait_until(lambda: server.is_ready() or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        yield server
    finally:
        process.terminate()
        process.wait()
