"""Metadata that are JSON and no more: each command says so in a line that names the store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gangsaw
from gangsaw.codecs.core.errors import GangsawError

COMMANDS: dict[str, Callable[[Path], object]] = {
    "info": gangsaw.info,
    "verify": gangsaw.verify,
    "decompress": lambda store: gangsaw.decompress(store, store.with_name("out.raw")),
}
GROUP, ARRAY = "zarr.json", "data/zarr.json"
ANY = (None, 7, [], "x")
FIELDS = {
    GROUP: ("attributes", "consolidated_metadata", "node_type"),
    ARRAY: ("chunk_grid", "codecs", "shape", "data_type", "chunk_key_encoding", "zarr_format"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    np.arange(64, dtype="<u2").tofile(folder / "in.raw")
    gangsaw.compress(folder / "in.raw", folder / "a.zarr", shape=(4, 4, 4), dtype="uint16")
    return folder / "a.zarr"


@pytest.mark.parametrize("command", COMMANDS)
def test_fields_of_any_kind_are_told(command: str, whole: Path, tmp_path: Path) -> None:
    refused = 0
    for key, field in [(key, field) for key, fields in FIELDS.items() for field in fields]:
        for value in ANY:
            store = tmp_path / "a.zarr"
            shutil.copytree(whole, store, dirs_exist_ok=True)
            found = json.loads((store / key).read_text())
            (store / key).write_text(json.dumps({**found, field: value}))
            refused += _refuses(command, store)
    assert refused > len(ANY) * len(FIELDS[GROUP]) // 2


def _refuses(command: str, store: Path) -> bool:
    """Whether a command refuses a store; any other error than one of ours fails the test."""
    try:
        report = COMMANDS[command](store)
    except GangsawError as error:
        return store.name in str(error)
    store.with_name("out.raw").unlink(missing_ok=True)
    return bool(getattr(report, "problems", ()))


@pytest.mark.parametrize("command", COMMANDS)
def test_an_array_without_its_own_metadata(command: str, whole: Path, tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    shutil.copytree(whole, store)
    (store / ARRAY).unlink()
    assert _refuses(command, store)
