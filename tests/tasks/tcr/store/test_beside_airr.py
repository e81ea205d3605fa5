"""AIRR tables with counts beside their rows: every original column as it was."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xarray as xr
from helpers.command_line import CommandLine
from helpers.tcr_runs import BAD, Repertoires, records, setup, written

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.store.tables.airr_export import export_airr
from gangsaw.tasks.tcr.store.tables.export import ExportChoice


def with_note(path: Path) -> Path:
    """Add a column of text that a reader of counts has no use for."""
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    noted = [f"{line}\tnote of {i}, 'quoted'" for i, line in enumerate(lines)]
    path.write_bytes(gzip.compress("\n".join([f"{head}\tmy_note", *noted, ""]).encode()))
    return path


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Two files, the first with rows that are dropped and a column that the other lacks."""
    rows = [*records(12), *(row for _, row in BAD), *records(9, 1)]
    first = with_note(written(tmp_path, "a", rows))
    return [first, written(tmp_path, "b", records(7, 2, "s"))]


@pytest.fixture
def store(tables: list[Path], tmp_path: Path) -> Path:
    Repertoires(tuple(tables), ()).count(tmp_path / "o.zarr", setup(chunk_rows=8))
    return tmp_path / "o.zarr"


def original(tables: list[Path]) -> pd.DataFrame:
    every = [pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False) for path in tables]
    return pd.concat(every).fillna("")


@pytest.mark.parametrize("name", ["t.tsv", "t.tsv.gz", "t.parquet"])
def test_the_rows_that_were_counted_keep_their_columns(
    store: Path, tables: list[Path], tmp_path: Path, name: str
) -> None:
    done = export_airr(store, tmp_path / name)
    read = pd.read_parquet if name.endswith("parquet") else None
    text = {"sep": "\t", "dtype": str, "keep_default_na": False}
    found = read(tmp_path / name) if read else pd.read_csv(tmp_path / name, **text)
    before = original(tables)
    kept = before[before.sequence_id.isin(xr.open_zarr(store, chunks=None).id.values)]
    assert (len(found), done.rows) == (28, 28)
    assert tuple(found) == done.columns
    assert found[list(before)].astype(str).values.tolist() == kept.values.tolist()
    data = xr.open_zarr(store, chunks=None)
    total = data.paths_total[:, -1, -1].values
    assert found["paths_total_nu10_pi4"].astype(int).tolist() == total.tolist()
    assert found["d_gene"].tolist() == data.d_call.values.tolist()
    assert {"n1_length", "v_erosion", "d5_erosion"} <= set(found) - set(before)


def test_columns_of_a_choice(store: Path, tmp_path: Path) -> None:
    done = export_airr(store, tmp_path / "t.tsv", ExportChoice(("paths_no_d",), nu=(1, 3), pi=(0,)))
    assert done.columns[-2:] == ("paths_no_d_nu1_pi0", "paths_no_d_nu3_pi0")
    assert (tmp_path / "t.tsv").read_text().startswith("sequence_id\t")


def test_values_of_a_tsv_have_quotes_only_where_they_must(
    store: Path, tables: list[Path], tmp_path: Path
) -> None:
    export_airr(store, tmp_path / "t.tsv")
    assert '"' not in (tmp_path / "t.tsv").read_text()
    ties = tables[1].parent / "c.tsv"
    text = gzip.decompress(tables[1].read_bytes()).decode().replace("s0", 's"0"')
    ties.write_text(text)
    Repertoires((ties,), ()).count(tmp_path / "c.zarr", setup())
    export_airr(tmp_path / "c.zarr", tmp_path / "c.out.tsv")
    found = pd.read_csv(tmp_path / "c.out.tsv", sep="\t")
    assert found.sequence_id.str.contains('"').any()


def test_a_table_in_parquet(tables: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.Table.from_pandas(original(tables)), path)
    Repertoires((path,), ()).count(tmp_path / "p.zarr", setup())
    export_airr(tmp_path / "p.zarr", tmp_path / "t.tsv")
    found = pd.read_csv(tmp_path / "t.tsv", sep="\t", keep_default_na=False)
    assert found.my_note.tolist()[-1] == ""
    assert len(found) == 28


def test_files_that_are_no_more_what_was_counted(
    store: Path, tables: list[Path], tmp_path: Path
) -> None:
    whole = gzip.decompress(tables[1].read_bytes())
    first, *rest = whole.splitlines(keepends=True)
    for changed in (b"".join([first, *rest[::-1]]), b"".join([first, *rest[:-2]])):
        tables[1].write_bytes(gzip.compress(changed))
        with pytest.raises(BadParams, match=r"b\.tsv\.gz is not as it was when it was counted"):
            export_airr(store, tmp_path / "t.tsv")
    tables[1].unlink()
    with pytest.raises(BadParams, match="does not exist any more"):
        export_airr(store, tmp_path / "t.tsv")
    assert not (tmp_path / "t.tsv").exists()


def test_what_cannot_be_beside(store: Path, tables: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="is to be read"):
        export_airr(store, tables[0], overwrite=True)
    export_airr(store, tmp_path / "again.tsv")
    Repertoires((tmp_path / "again.tsv",), ()).count(tmp_path / "q.zarr", setup())
    again = export_airr(tmp_path / "q.zarr", tmp_path / "twice.tsv").columns
    assert again.count("n1_length") == again.count("counted_n1_length") == 1
    Repertoires((tmp_path / "twice.tsv",), ()).count(tmp_path / "s.zarr", setup())
    with pytest.raises(BadParams, match="has a column counted_paths_total_nu10_pi4, too"):
        export_airr(tmp_path / "s.zarr", tmp_path / "t.tsv")
    text = "junction,v_call,j_call\nTGTGCCAGCAGTTTT,TRBV18*01,TRBJ1-1*01\n"
    (tmp_path / "plain.csv").write_text(text)
    columns = (("j", "j_call"), ("junction", "junction"), ("v", "v_call"))
    Repertoires((tmp_path / "plain.csv",), ()).count(tmp_path / "r.zarr", setup(columns=columns))
    with pytest.raises(BadParams, match=r"plain\.csv is a table of .*not of AIRR"):
        export_airr(tmp_path / "r.zarr", tmp_path / "t.tsv")


def test_the_command(gangsaw: CommandLine, store: Path, tmp_path: Path) -> None:
    ran = gangsaw.ok("tcr", "export", store, tmp_path / "t.tsv", "--airr", "--json")
    assert ran.figures["rows"] == 28
    assert ran.figures["columns"][0] == "sequence_id"
    assert "paths_total_nu10_pi4" in ran.figures["columns"]
