"""The content of a store of counts: every row, in order, with the counts of the pure function."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest
import xarray as xr
import zarr
from helpers.tcr_runs import BAD, Repertoires, germline, in_memory, setup, three_files
from zarr.storage import MemoryStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.figures.report import describe
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.tcr import count_paths
from gangsaw.tasks.tcr.counting.paths.dataset import variables
from gangsaw.tasks.tcr.germline import open_germline
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.store.counts_store import open_all


@pytest.fixture
def repertoires(tmp_path: Path) -> Repertoires:
    return three_files(tmp_path)


def opened(store: Path) -> xr.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = xr.open_zarr(store, chunks=None)
        return found.load()


MODELS = [Model("both"), Model("dp1", max_p=2, max_n=5), Model("dp2", strands=2, max_p=3, max_n=4)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.kind}-{model.max_p}")
def test_every_row_has_the_counts_of_the_pure_function(
    repertoires: Repertoires, tmp_path: Path, model: Model
) -> None:
    repertoires.count(tmp_path / "o.zarr", setup(model=model))
    found, wanted = opened(tmp_path / "o.zarr"), in_memory(repertoires.good, model)
    for name in wanted.variables:
        if name not in ("d_gene", "nucleotide"):  # their texts are of another type
            xr.testing.assert_equal(found[name].variable, wanted[name].variable)
            assert found[name].dtype == wanted[name].dtype
    assert set(found.data_vars) >= {v.name for v in variables(model, len(germline().d))}


def test_rows_keep_order_and_say_where_they_are_from(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    repertoires.count(tmp_path / "o.zarr")
    found = opened(tmp_path / "o.zarr")
    assert found.id.values.tolist() == [row.id for row in repertoires.good]
    assert found.cdr3.values.tolist() == [row.junction[3:-3] for row in repertoires.good]
    assert found.v_gene.values[found.v_index].tolist() == [row.v for row in repertoires.good]
    assert found.j_gene.values[found.j_index].tolist() == [row.j for row in repertoires.good]
    samples = found.sample.values[found.sample_index].tolist()
    assert samples == ["a"] * 150 + ["b"] * 70 + ["c"] * 30
    assert found.copies.values.tolist() == [row.copies for row in repertoires.good]
    lines = [*range(2, 22), *range(27, 157), *range(4, 74), *range(2, 32)]
    assert found.line.values.tolist() == lines


def test_a_store_says_how_it_was_made(repertoires: Repertoires, tmp_path: Path) -> None:
    repertoires.count(tmp_path / "o.zarr")
    found = opened(tmp_path / "o.zarr")
    assert found.attrs["model"] == "both"
    assert found.attrs["germline_locus"] == "TRB"
    assert found.attrs["germline_notes"] == list(germline().notes)
    assert found.attrs["input_files"] == [str(path) for path in repertoires.paths]
    assert found.attrs["input_rows"] == [155, 72, 30]
    assert found.attrs["input_kept"] == [150, 70, 30]
    assert found.attrs["input_formats"] == ["AIRR"] * 3
    assert dict(zip(found.attrs["dropped_reasons"], found.attrs["dropped_rows"], strict=True)) == {
        reason: 2 if i < 2 else 1 for i, (reason, _) in enumerate(BAD)
    }
    by_outcome = found.sample_rows.sum("sample")
    assert by_outcome.sel(outcome="kept") == 250
    assert by_outcome.sel(outcome="unknown V") == 1
    assert all(found[name].attrs["description"] for name in found.variables)
    pairs = found.d_pairs_with_j.to_pandas()
    assert not pairs.loc["TRBD2*01", "TRBJ1-1*01"]
    assert pairs.loc["TRBD2*01", "TRBJ2-1*01"]
    assert pairs.loc["TRBD1*01"].all()
    assert found.d_gene_length.to_series().to_dict() == {
        part.name: len(part.sequence) for part in germline().d
    }


def test_attributes_go_into_netcdf(repertoires: Repertoires, tmp_path: Path) -> None:
    repertoires.count(tmp_path / "o.zarr")
    numbers = opened(tmp_path / "o.zarr")[["v_match", "paths_no_d"]]
    numbers.drop_vars(["n_nucleotides", "p_nucleotides"]).to_netcdf(
        tmp_path / "o.nc", engine="h5netcdf"
    )
    again = xr.open_dataset(tmp_path / "o.nc", engine="h5netcdf")
    assert again.attrs["germline"] == numbers.attrs["germline"]


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("chunk_rows", [1, 37, 150, 1000])
def test_chunks_change_nothing(repertoires: Repertoires, tmp_path: Path, chunk_rows: int) -> None:
    some = Repertoires(repertoires.paths[1:], repertoires.good[150:])
    some.count(tmp_path / "o.zarr", setup(chunk_rows=chunk_rows), durable=False)
    some.count(tmp_path / "p.zarr", durable=False)
    xr.testing.assert_identical(opened(tmp_path / "o.zarr"), opened(tmp_path / "p.zarr"))
    assert zarr.open_array(tmp_path / "o.zarr/cdr3").chunks == (min(chunk_rows, 100),)


def test_every_chunk_can_be_verified(repertoires: Repertoires, tmp_path: Path) -> None:
    summary = repertoires.count(tmp_path / "o.zarr")
    report = verify(tmp_path / "o.zarr")
    assert report.ok
    assert report.extra == ()
    assert summary.raw_bytes < report.raw_bytes  # which has the coordinates, too
    info = {array.name: array for array in describe(str(tmp_path / "o.zarr")).arrays}
    assert info["paths_full"].ratio > 1
    (tmp_path / "o.zarr/paths_full/c/1/0/0/0").unlink()
    assert any("paths_full" in line for line in verify(tmp_path / "o.zarr").problems)


def test_nothing_but_the_store_is_left(repertoires: Repertoires, tmp_path: Path) -> None:
    repertoires.count(tmp_path / "o.zarr")
    hidden = [path.name for path in (tmp_path / "o.zarr/cdr3/.gangsaw").iterdir()]
    assert sorted(hidden) == ["job.json", "manifest"]
    assert {path.name for path in tmp_path.iterdir()} == {
        *("a.tsv.gz", "b.tsv.gz", "c.tsv.gz"),
        *("o.zarr", "o.dropped.tsv"),
    }


def test_a_store_in_memory(repertoires: Repertoires, tmp_path: Path) -> None:
    store = MemoryStore()
    repertoires.count(store, table=tmp_path / "dropped.tsv")
    assert xr.open_zarr(store, chunks=None).sizes["reference"] == 250


def test_a_chain_without_d(tmp_path: Path) -> None:
    alpha = open_germline("olga", locus="TRA", species="human").checked(4)
    v, j = alpha.v[0], alpha.j[0]
    junction = f"TGT{v.sequence}A{j.sequence}TTT"
    text = f"locus\tjunction\tv_call\tj_call\nTRA\t{junction}\t{v.name}\t{j.name}\n"
    (tmp_path / "t.tsv").write_text(text)
    changed = setup(germline=alpha)
    Repertoires((tmp_path / "t.tsv",), ()).count(tmp_path / "o.zarr", changed)
    found = opened(tmp_path / "o.zarr")
    wanted = count_paths([junction[3:-3]], v.sequence, j.sequence, model="both")
    assert "d_gene" not in found.dims
    for name in wanted.data_vars:
        xr.testing.assert_equal(found[name].variable, wanted[name].variable)


def test_a_store_has_the_sequences_that_it_was_counted_with(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    repertoires.count(tmp_path / "o.zarr")
    found = opened(tmp_path / "o.zarr")
    for gene, parts in (("v", germline().v), ("d", germline().d), ("j", germline().j)):
        pairs = zip(found[f"{gene}_gene"].values, found[f"{gene}_sequence"].values, strict=True)
        assert dict(pairs) == {part.name: part.sequence for part in parts}


def test_stores_of_other_sequences_are_not_compared(
    repertoires: Repertoires, tmp_path: Path
) -> None:
    first = germline().d[0]
    other = replace(first, sequence=f"{first.sequence}A")
    changed = replace(germline(), d=(other, *germline().d[1:]))
    stores = [str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")]
    repertoires.count(stores[0])
    repertoires.count(stores[1], setup(germline=changed))
    with pytest.raises(BadParams, match="have other d_sequences: count both with one germline"):
        open_all(stores)
