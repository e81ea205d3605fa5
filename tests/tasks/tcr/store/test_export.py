"""Tables for R: what is read back equals the store."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.tcr_runs import Repertoires, records, setup, written

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.store.tables import export as module
from gangsaw.tasks.tcr.store.tables.export import ExportChoice, export

READERS = {
    "t.parquet": pd.read_parquet,
    "t.csv": lambda path: pd.read_csv(path, keep_default_na=False),
    "t.csv.gz": lambda path: pd.read_csv(path, keep_default_na=False),
    "t.tsv": lambda path: pd.read_csv(path, sep="\t", keep_default_na=False),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    path = written(folder, "a", records(100))
    Repertoires((path,), ()).count(folder / "o.zarr", setup())
    return folder / "o.zarr"


@pytest.mark.parametrize("name", READERS)
def test_what_was_written_is_read(
    store: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_BYTES", 8 * 700 * 30)  # some rows at a time
    done = export(store, tmp_path / name)
    found, data = READERS[name](tmp_path / name), xr.open_zarr(store, chunks=None)
    assert (len(found), tuple(found)) == (100, done.columns)
    assert found.id.tolist() == data.id.values.tolist()
    assert found.v_gene.tolist() == data.v_gene.values[data.v_index].tolist()
    assert found["sample"].tolist() == ["a"] * 100
    full = data.paths_full.sel(d_gene="TRBD2*01", n_nucleotides=3, p_nucleotides=2).values
    assert found.paths_full_TRBD2_01_nu3_pi2.tolist() == full.tolist()
    assert found.dp1_paths_empty_unit_n7.tolist() == data.dp1_paths_empty_unit[:, 7].values.tolist()
    assert found.n2_composition_TRBD1_01_G.tolist() == (
        data.n2_composition.sel(d_gene="TRBD1*01", nucleotide="G").values.tolist()
    )
    assert found.paths_no_d_nu10_pi4.dtype == np.int64


def test_every_value_is_in_the_table(store: Path, tmp_path: Path) -> None:
    export(store, tmp_path / "t.parquet")
    data = xr.open_zarr(store, chunks=None)
    along = [
        v for v in data.data_vars.values() if v.dims[0] == "reference" and v.dtype.kind in "iu"
    ]
    names = {"v_index", "d_index", "j_index", "sample_index"}
    total = sum(int(v.values.sum(dtype=object)) for v in along if v.name not in names)
    table = pq.read_table(tmp_path / "t.parquet").to_pandas()
    assert total == sum(int(table[c].sum()) for c in table if table[c].dtype.kind in "iu")


def test_a_choice_of_columns(store: Path, tmp_path: Path) -> None:
    choice = ExportChoice(("cdr3", "paths_no_d", "dp1_paths"), nu=(3, 10), pi=(4,), total_n=(0,))
    done = export(store, tmp_path / "t.parquet", choice)
    d = ("TRBD1_01", "TRBD2_01", "TRBD2_02")
    dp1 = [f"dp1_paths_{name}_n0" for name in d]
    assert done.columns == ("cdr3", "paths_no_d_nu3_pi4", "paths_no_d_nu10_pi4", *dp1)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"variables": ("paths",)}, "has no variable 'paths'; it has .*paths_full"),
        ({"variables": ("sample_rows",)}, "has no variable"),
        ({"nu": (11,)}, r"nu must be in 0\.\.10 of what was counted, got 11"),
        ({"counts": "int32"}, "counts must be int64, float64 or text"),
    ],
)
def test_a_wrong_choice(store: Path, tmp_path: Path, choice: dict[str, object], said: str) -> None:
    with pytest.raises(BadParams, match=said):
        export(store, tmp_path / "t.parquet", ExportChoice(**choice))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_target(store: Path, tmp_path: Path) -> None:
    with pytest.raises(BadParams, match=r"suffix of .*t\.xlsx is of no format"):
        export(store, tmp_path / "t.xlsx")
    (tmp_path / "t.csv").write_text("a thesis")
    with pytest.raises(BadParams, match="exists"):
        export(store, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a thesis"
    with pytest.raises(BadParams, match="in the store that is read"):
        export(store, store / "paths_no_d" / "t.csv")
    with pytest.raises(BadParams, match="no Zarr group"):
        export(tmp_path / "none.zarr", tmp_path / "t.parquet")


@pytest.mark.parametrize(("counts", "wanted"), [("text", str(2**64 - 1)), ("float64", 2.0**64)])
def test_counts_beyond_int64(store: Path, tmp_path: Path, counts: str, wanted: object) -> None:
    changed = tmp_path / "o.zarr"
    shutil.copytree(store, changed)
    array = zarr.open_array(changed, path="paths_no_d")
    array[77, 10, 4] = 2**64 - 1
    with pytest.raises(BadParams, match="paths_no_d_nu10_pi4 of reference 77 is 18446744"):
        export(changed, tmp_path / "t.csv")
    export(changed, tmp_path / "t.parquet", ExportChoice(("paths_no_d",), counts=counts))  # type: ignore[arg-type]
    assert pd.read_parquet(tmp_path / "t.parquet").paths_no_d_nu10_pi4[77] == wanted


def test_a_store_that_is_not_finished(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "o.zarr")
    (tmp_path / "o.zarr/cdr3/.gangsaw/manifest").unlink()
    with pytest.raises(BadParams, match="is not finished"):
        export(tmp_path / "o.zarr", tmp_path / "t.csv")


def test_the_command(gangsaw: CommandLine, store: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    ran = gangsaw.ok("tcr", "export", store, table, "--variable", "v_match", "--json")
    assert ran.figures == {"target": str(table), "rows": 100, "columns": ["v_match"]}
    assert "exists" in gangsaw("tcr", "export", store, table).failed(2)
    ran = gangsaw.ok("tcr", "export", store, table, "--overwrite", "--nu", 10, "--pi", 4)
    assert "more" in ran.out
