"""What stores have beside the counts of single D genes: totals, the best D, names, Pgen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.command_line import CommandLine
from helpers.tcr_runs import Repertoires, germline, records, setup, written

from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.pgen.olga import PGEN_REASONS, pgen_model
from gangsaw.tasks.tcr.store import values
from gangsaw.tasks.tcr.store.counts_store import open_counts
from gangsaw.tasks.tcr.store.path_columns import largest_total, path_columns, read_columns
from gangsaw.tasks.tcr.store.setup import FEW_D
from gangsaw.tasks.tcr.store.tables.export import export

N = 60


@pytest.fixture(scope="module")
def repertoire(tmp_path_factory: pytest.TempPathFactory) -> Repertoires:
    path = written(tmp_path_factory.mktemp("tables"), "a", records(N))
    return Repertoires((path,), ())


@pytest.fixture(scope="module")
def both(repertoire: Repertoires, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One store with counts of each D gene, and one without."""
    folder = tmp_path_factory.mktemp("stores")
    repertoire.count(folder / "all.zarr", setup(by_d=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "AT_ONCE_BYTES", 30_000)  # a few rows
        repertoire.count(folder / "totals.zarr", setup(by_d=False))
    return folder / "all.zarr", folder / "totals.zarr"


def test_a_store_of_totals_has_the_same_values(both: tuple[Path, Path]) -> None:
    everything, totals = (xr.open_zarr(path, chunks=None).load() for path in both)
    left_out = set(everything.variables) - set(totals.variables)
    assert {"paths_full", "dp1_paths", "n1_composition", "d_length"} <= left_out
    for name in totals.variables:
        xr.testing.assert_identical(totals[name].variable, everything[name].variable)
    assert verify(both[1]).ok
    assert verify(both[1]).extra == ()


def test_the_total_is_that_which_statistics_sum(both: tuple[Path, Path]) -> None:
    rows, keep = range(N), np.arange(N)
    found = []
    for path in both:
        store = open_counts(str(path))
        column = largest_total(store)
        found.append(read_columns(store, [column], rows, keep)[column.name])
        kinds = {column.kind for column in path_columns(store, None, None)}
        assert {"all", "no_d"} <= kinds
        del store.shapes["paths_total"]  # as of a store that was written before
        if "paths_full" in store.shapes:
            found.append(read_columns(store, [column], rows, keep)[column.name])
    assert len(found) == 3
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()


def test_many_d_genes_are_left_out_by_default() -> None:
    few = setup()
    assert few.has_by_d
    assert few.notes == ()
    d = tuple(replace(few.germline.d[0], name=f"TRBD{i}*01") for i in range(FEW_D + 1))
    many = setup(germline=replace(germline(), d=d))
    assert not many.has_by_d
    assert "totals over D genes are stored" in many.notes[0]
    assert replace(many, by_d=True).has_by_d
    four = setup(germline=replace(germline(), d=d[:5]), model=Model(d_segments=2))
    assert len(four.d_choices) == 10
    assert not four.has_by_d


def test_rows_are_grouped_by_names(both: tuple[Path, Path]) -> None:
    data = xr.open_zarr(both[1], chunks=None).load()
    assert {"v_call", "d_call", "j_call", "sample_id"} <= set(data.coords)
    assert data.v_call.values.tolist() == data.v_gene.values[data.v_index].tolist()
    names = [*data.d_gene.values.tolist(), ""]
    assert data.d_call.values.tolist() == [names[i] for i in data.d_index.values.tolist()]
    groups = data.length.groupby("j_call").count()
    assert int(groups.sum()) == N
    assert set(data.sample_id.values.tolist()) == {"a"}


def test_names_are_in_tables_where_asked_for(both: tuple[Path, Path], tmp_path: Path) -> None:
    done = export(both[1], tmp_path / "t.csv")
    assert "v_call" not in done.columns
    assert {"v_gene", "d_gene", "paths_total_nu10_pi4", "n2_length"} <= set(done.columns)
    table = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    data = xr.open_zarr(both[1], chunks=None)
    assert table.d_gene.tolist() == data.d_call.values.tolist()


def test_probabilities_of_generation(repertoire: Repertoires, tmp_path: Path) -> None:
    model = pgen_model("TRB", "human")
    repertoire.count(tmp_path / "o.zarr", setup(pgen=model, by_d=False))
    data = xr.open_zarr(tmp_path / "o.zarr", chunks=None).load()
    assert data.attrs["pgen_model"] == "human_T_beta"
    has_one = data.pgen_reason.values == 0
    assert (np.isnan(data.pgen.values) == ~has_one).all()
    assert (data.pgen.values[has_one] > 0).all()
    out_of_frame = (data.length % 3 != 0).values
    assert (data.pgen_reason.values[out_of_frame] == 1).all()
    assert PGEN_REASONS[0].startswith("out of frame")
    assert f"1 {PGEN_REASONS[0]}" in data.pgen_reason.attrs["description"]
    export(tmp_path / "o.zarr", tmp_path / "t.csv")
    texts = pd.read_csv(tmp_path / "t.csv", dtype=str).pgen  # its own reader of floats may round
    np.testing.assert_array_equal(texts.astype(float), data.pgen.values)


def test_the_command_tells_rows_without_paths(gangsaw: CommandLine, tmp_path: Path) -> None:
    rows = records(4)
    strange = replace(rows[0], junction=f"TGT{'ACGGTCATTGCA' * 9}TTT", id="strange")
    path = written(tmp_path, "a", [*rows, strange])
    asked = ("--species", "human", "--workers", 0, "--keep-unproductive", "--keep-out-of-frame")
    ran = gangsaw.ok("tcr", "count", path, tmp_path / "o.zarr", *asked, "--totals", "--json")
    assert (ran.figures["kept"], ran.figures["without_paths"]) == (5, 1)
    ran = gangsaw.ok("tcr", "count", path, tmp_path / "p.zarr", *asked, "--by-d")
    assert "1 of these, 20.0%" in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines()[1:])) <= 80


@pytest.mark.parametrize("locus", ["IGH", "IGK", "IGL"])
def test_b_cells(gangsaw: CommandLine, tmp_path: Path, locus: str) -> None:
    from gangsaw.tasks.tcr.germline import open_germline

    genes = open_germline("olga", locus=locus, species="human").checked(4)
    v, j = genes.v[3], genes.j[1]
    d = genes.d[0].sequence if genes.d else ""
    line = f"{locus}\tTGT{v.sequence}A{d}C{j.sequence}TGG\t{v.name}\t{j.name}\n"
    (tmp_path / "t.tsv").write_text(f"locus\tjunction\tv_call\tj_call\n{line}")
    asked = ("--species", "human", "--workers", 0, "--keep-unproductive", "--keep-out-of-frame")
    target = tmp_path / "o.zarr"
    ran = gangsaw.ok("tcr", "count", tmp_path / "t.tsv", target, "--locus", locus, *asked, "--json")
    assert any("hypermutated" in note for note in ran.figures["notes"])
    assert ran.figures["without_paths"] == 0
    data = xr.open_zarr(target, chunks=None)
    assert ("paths_full" in data) is False
    assert int(data.paths_total[0, -1, -1]) > 0
    if d:
        assert data.d_call.values.tolist() == [genes.d[0].name]
        ends = [int(data[name][0]) for name in ("n1_length", "d5_erosion", "d3_erosion")]
        assert ends == [1, 0, 0]
