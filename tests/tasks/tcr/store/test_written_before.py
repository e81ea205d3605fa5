"""Stores that earlier versions wrote are read for ever: `written` gets files, and loses none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.store.counts_store import CountsStore, open_counts
from gangsaw.tasks.tcr.store.path_columns import largest_total, read_columns
from gangsaw.tasks.tcr.store.tables.export import export

WRITTEN = sorted((Path(__file__).parent / "written").glob("*.zip"))


@pytest.fixture(params=WRITTEN, ids=lambda path: path.name)
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def store(path: Path) -> CountsStore:
    return open_counts(str(path))


def genes(store: CountsStore, letter: str) -> list[str]:
    sequences = np.array(store.names[f"{letter}_sequence"], object)
    found: list[str] = sequences[store.index(f"{letter}_index", range(store.rows))].tolist()
    return found


def test_their_counts_are_those_of_today(store: CountsStore) -> None:
    rows = range(store.rows)
    d = dict(zip(store.names["d_gene"], store.names["d_sequence"], strict=True))
    cdr3 = [str(text) for text in store.read("cdr3", rows)]
    now = count_paths(cdr3, genes(store, "v"), genes(store, "j"), d, model="both", max_n=2, max_p=1)
    for name in ("paths_full", "paths_no_d", "dp1_paths", "v_match", "n1_composition"):
        assert store.read(name, rows).tolist() == now[name].values.tolist()


def test_the_total_of_all_paths_is_there(store: CountsStore) -> None:
    column = largest_total(store)
    assert (column.nu, column.pi) == (2, 1)
    total = read_columns(store, [column], range(store.rows), np.arange(store.rows))[column.name]
    assert (total >= store.read("paths_no_d", range(store.rows))[:, 2, 1]).all()


def test_they_become_tables(path: Path, tmp_path: Path) -> None:
    export(path, tmp_path / "t.csv")
    table = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    wanted = open_counts(str(path)).read("paths_full", range(len(table)))[:, 1, 2, 1]
    assert table["paths_full_TRBD2_01_nu2_pi1"].tolist() == wanted.tolist()


def test_they_are_verified(path: Path) -> None:
    assert verify(path).ok
