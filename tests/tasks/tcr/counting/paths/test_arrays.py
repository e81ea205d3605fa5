"""Counts over arrays of Dask and xarray: those of lists, lazy, in the arrays' dimensions."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.base import tokenize

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr import Model, count_paths

CDR3 = ["ACGTACGT", "ACGTT", "ACGGGACCGT", "ACGTTACGT"]
D = {"D1": "GGGAC", "D2": "GGGACC"}


@pytest.mark.parametrize("model", ["dp2", "both"])
def test_counts_of_lazy_arrays(model: str) -> None:
    wanted = count_paths(CDR3, "ACGTA", "TACGT", D, model=model)  # type: ignore[arg-type]
    lazy = count_paths(da.from_array(np.array(CDR3), chunks=3), "ACGTA", "TACGT", D, model=model)  # type: ignore[arg-type]
    assert all(isinstance(lazy[name].data, da.Array) for name in wanted.data_vars)
    assert lazy["paths_no_d"].chunks[0] == (3, 1)
    assert lazy.compute().identical(wanted)


def test_dims_and_coordinates_are_kept() -> None:
    wanted = count_paths(CDR3, ["ACGTA"] * 4, "TACGT", D)
    coords = {"cell": ("cell", list("wxyz"))}
    array = xr.DataArray(CDR3, dims="cell", coords=coords)
    v = xr.DataArray(["ACGTA"] * 4, dims="cell")
    for given in (array, array.chunk(cell=1)):
        found = count_paths(given, v.chunk(cell=1), "TACGT", D)
        assert list(found["cell"].values) == list("wxyz")
        assert found.drop_vars("cell").rename(cell="reference").compute().identical(wanted)
    square = count_paths(array.drop_vars("cell").data.reshape(2, 2)[0].tolist(), "ACGTA", "TACGT")
    both = count_paths(xr.DataArray([CDR3[:2], CDR3[2:]], dims=("a", "b")), "ACGTA", "TACGT")
    assert both["length"].dims == ("a", "b")
    assert np.array_equal(both["paths_no_d"][0], square["paths_no_d"])


def test_what_is_wrong_is_told() -> None:
    lazy = da.from_array(np.array(CDR3), chunks=2)
    with pytest.raises(BadParams, match="at least 2 D genes"):
        count_paths(lazy, "ACGTA", "TACGT", {"D1": "GGGAC"}, d_segments=2)
    wrong = count_paths(da.from_array(np.array(["AC!T"])), "ACGTA", "TACGT")
    with pytest.raises(BadParams, match="reference 0: the CDR3"):
        wrong.compute()
    assert tokenize(Model()) == tokenize(Model())
