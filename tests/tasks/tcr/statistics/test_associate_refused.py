"""Tables and limits that do not fit the stores are refused, and it is said why."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from helpers.tcr_associations import ROWS, SAMPLES, run, shared_store, table_of
from helpers.tcr_stores import Made, write_counts

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.tcr.sharing.table import METADATA
from gangsaw.tasks.tcr.statistics.associate import associate


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A store of counts, and the table of its nucleotypes next to it."""
    return shared_store(tmp_path_factory.mktemp("associate"))


def refused(match: str, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(GangsawError, match=match):
        associate(*args, **kwargs)


def test_bad_tables_are_refused(made: Made, tmp_path: Path) -> None:
    counts, table = [str(made.path)], table_of(made)
    refused("is no Parquet table", counts, tmp_path / "absent.parquet")
    refused("is no Parquet table", counts, made.path / "zarr.json")
    frame = pq.read_table(table).to_pandas()
    frame.drop(columns="copies").to_parquet(tmp_path / "a.parquet")
    refused(
        "was not written by gangsaw tcr share: no column copies", counts, tmp_path / "a.parquet"
    )
    frame.assign(cdr3=frame["cdr3"].str[::-1]).to_parquet(tmp_path / "b.parquet")
    refused("the table has other nucleotypes at these rows", counts, tmp_path / "b.parquet")
    frame.assign(v=frame["v"].to_numpy()[::-1]).to_parquet(tmp_path / "b.parquet")
    refused("the table has other nucleotypes at these rows", counts, tmp_path / "b.parquet")
    more = frame.tail(7).assign(first_store=1)
    pd.concat([frame, more]).to_parquet(tmp_path / "d.parquet")
    refused("has 7 nucleotypes that these stores have not", counts, tmp_path / "d.parquet")
    pq.write_table(pq.read_table(table).slice(0, 0), tmp_path / "c.parquet")
    refused("holds no nucleotype of these stores", counts, tmp_path / "c.parquet")
    other = write_counts(tmp_path / "other.zarr", ROWS.iloc[:100], SAMPLES)
    refused(r"was made from stores of \[1500\] rows, these have \[100\]", [str(other.path)], table)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"individuals": "two"}, "its individuals are (large_)?string"),
        ({"copies": math.nan}, "its copies are double"),
        ({"cdr3": 1}, "its cdr3 are int64"),
        ({"owners": 1}, "its owners are int64"),
    ],
)
def test_a_table_of_other_types_is_refused(
    made: Made, tmp_path: Path, change: dict[str, Any], match: str
) -> None:
    frame = pq.read_table(table_of(made)).to_pandas().assign(**change)
    frame.to_parquet(tmp_path / "a.parquet")
    refused(match, [str(made.path)], tmp_path / "a.parquet")


@pytest.mark.parametrize("metadata", [b"{not JSON", b"[1]", b'{"stores": 3}'])
def test_a_table_of_other_metadata_is_refused(made: Made, tmp_path: Path, metadata: bytes) -> None:
    table = pq.read_table(table_of(made)).replace_schema_metadata({METADATA: metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    refused("was not written by .*: its metadata", [str(made.path)], tmp_path / "a.parquet")


def test_a_table_that_went_through_other_tools_serves(made: Made, tmp_path: Path) -> None:
    frame = pq.read_table(table_of(made)).to_pandas()
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "a.parquet")
    found = associate([str(made.path)], tmp_path / "a.parquet")
    wanted = run(made)
    assert found.individuals == wanted.individuals == 5
    assert (found.correlations, found.odds) == (wanted.correlations, wanted.odds)
    assert (found.aucs, found.deciles) == (wanted.aucs, wanted.deciles)


def test_bad_limits_are_refused(made: Made) -> None:
    refused(
        r"nu must be in 0\.\.2 of what was counted, got 3",
        [str(made.path)],
        table_of(made),
        nu=(3,),
    )
    refused(r"pi must be in 0\.\.1", [str(made.path)], table_of(made), pi=(0, -1))
