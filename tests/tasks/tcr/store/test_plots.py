"""The figure of a store of path counts: a histogram of total paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.tcr_stores import repertoires, write_counts

import gangsaw
from gangsaw.tasks.tcr.store import plots
from gangsaw.tasks.tcr.store.counts_store import open_counts
from gangsaw.tasks.tcr.store.plots import bin_edges, read_totals

SAMPLES = ("ann", "ben")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = repertoires(1, 700, SAMPLES)
    return write_counts(tmp_path_factory.mktemp("tcr") / "a.zarr", rows, SAMPLES).path


def test_total_paths_are_drawn(store: Path) -> None:
    (axes,) = (figure := gangsaw.plot(store)).axes
    assert figure.get_suptitle().endswith("a.zarr: 700 references of 2 samples, TRB")
    assert axes.get_xscale() == "log"
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("references", "all paths (nu ≤ 2, pi ≤ 1)")
    bars = axes.patches[0].get_data()
    totals = read_totals(open_counts(str(store)), 256).counts
    none = int((totals == 0).sum())
    assert bars.values.sum() == 700 - none
    assert f"{none:,} without a path" in axes.get_title(loc="left")
    counted, _ = np.histogram(totals[totals > 0].astype(float), bars.edges)
    np.testing.assert_array_equal(bars.values, counted)


def test_totals_are_sums_over_d_genes(store: Path) -> None:
    """TRBD2 is joined to genes of TRBJ2 only."""
    import xarray as xr

    with xr.open_zarr(store, consolidated=False) as data:
        full = data["paths_full"].values[..., -1, -1].copy()
        full[data["j_index"].values == 0, 1] = 0
        expected = data["paths_no_d"].values[..., -1, -1] + full.sum(axis=1)
    np.testing.assert_array_equal(read_totals(open_counts(str(store)), 256).counts, expected)


def test_a_large_store_has_few_chunks_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "MAX_CHUNKS", 2)
    found = read_totals(open_counts(str(store)), 256)
    assert (len(found.counts), found.rows) == (256 + 700 - 512, 700)
    assert "444 of 700 references" in gangsaw.plot(store).axes[0].get_title(loc="left")


def test_no_paths_at_all_have_a_bin() -> None:
    assert bin_edges(np.zeros(3, np.uint64)).tolist() == [0.5, 1.5]
    assert bin_edges(np.array([7, 7], np.uint64))[0] < 7 < bin_edges(np.array([7], np.uint64))[-1]
