"""Alignments over arrays of NumPy, Dask and xarray: those of lists, lazy, with dims and coords."""

from __future__ import annotations

from collections.abc import Callable

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from dask.base import tokenize
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align import (
    Scores,
    edit_distance,
    gapped,
    needleman_wunsch,
    smith_waterman,
    ungapped,
)
from gangsaw.tasks.genomics.align.packed.bases import packed_of

RNG = np.random.default_rng(5)
OURS = np.array(["".join(RNG.choice(list("ACGT"), n)) for n in range(6, 18)]).reshape(3, 4)
THEIRS = np.array(["".join(RNG.choice(list("ACGTN"), 12)) for _ in range(4)])
LISTS = OURS.ravel().tolist(), np.broadcast_to(THEIRS, OURS.shape).ravel().tolist()
ALIGN = [smith_waterman, needleman_wunsch]


def labelled(texts: NDArray[np.str_], *dims: str) -> xr.DataArray:
    return xr.DataArray(texts, dims=dims, coords={"site": ("site", list("abcd"))})


def lazily(texts: NDArray[np.str_], chunk: int = 2) -> da.Array:
    return da.from_array(texts, chunks=chunk)


DISTANCES: list[tuple[Callable[..., object], list[int]]] = [
    (edit_distance, edit_distance(*LISTS).tolist()),
    (gapped, [gapped(a, b) for a, b in zip(*LISTS, strict=True)]),
]


@pytest.mark.parametrize(("function", "known"), DISTANCES)
def test_a_number_for_each_pair(function: Callable[..., object], known: list[int]) -> None:
    wanted = np.array(known).reshape(OURS.shape)
    assert np.array_equal(function(OURS, THEIRS), wanted)
    found = function(lazily(OURS), lazily(THEIRS))
    assert isinstance(found, da.Array)
    assert found.chunks == ((2, 1), (2, 2))
    assert np.array_equal(found.compute(), wanted)
    array = function(labelled(OURS, "read", "site").chunk(read=2), labelled(THEIRS, "site"))
    assert isinstance(array, xr.DataArray)
    assert isinstance(array.data, da.Array)
    assert array.dims == ("read", "site")
    assert list(array["site"].values) == list("abcd")
    assert np.array_equal(array.compute(), wanted)


def test_one_text_goes_with_all() -> None:
    wanted = edit_distance(LISTS[0], [THEIRS[0]] * 12).reshape(OURS.shape)
    assert np.array_equal(edit_distance(OURS, str(THEIRS[0])), wanted)
    assert np.array_equal(edit_distance(lazily(OURS), str(THEIRS[0])).compute(), wanted)


@pytest.mark.parametrize("function", ALIGN)
def test_alignments_of_arrays(function: Callable[..., object]) -> None:
    known = function(*LISTS, cigar=True)
    records = function(lazily(OURS), lazily(THEIRS), cigar=True)
    data = function(
        labelled(OURS, "read", "site").chunk(read=1), labelled(THEIRS, "site"), cigar=True
    )
    assert isinstance(data, xr.Dataset)
    assert list(data["site"].values) == list("abcd")
    for name, values in known._asdict().items():  # type: ignore[attr-defined]
        wanted = np.array(values).reshape(OURS.shape)
        assert isinstance(getattr(records, name), da.Array)
        assert np.array_equal(getattr(records, name).compute(), wanted)
        assert isinstance(data[name].data, da.Array)
        assert np.array_equal(data[name].to_numpy(), wanted)


def test_seeds_in_arrays() -> None:
    query, target = packed_of("ACGTACGTTTACGA"), packed_of("TTACGTACGTTACG")
    seeds = np.array([0, 4, 8]), np.array([2, 6, 4])
    known = ungapped(query, target, seeds)
    found = ungapped(query, target, (da.from_array(seeds[0], chunks=2), da.from_array(seeds[1])))
    data = ungapped(query, target, tuple(xr.DataArray(s, dims="hit").chunk(hit=2) for s in seeds))
    for name in ("score", "query_start", "target_end"):
        assert np.array_equal(getattr(found, name).compute(), getattr(known, name))
        assert np.array_equal(data[name].to_numpy(), getattr(known, name))


def test_the_chunk_functions_go_through_dask_and_xarray() -> None:
    wanted = edit_distance(*LISTS).reshape(OURS.shape)
    theirs = np.broadcast_to(THEIRS, OURS.shape)
    blocks = da.map_blocks(edit_distance, lazily(OURS), lazily(theirs), dtype=np.int64)
    assert np.array_equal(blocks.compute(), wanted)
    found = xr.apply_ufunc(
        edit_distance,
        labelled(OURS, "read", "site").chunk(read=1),
        labelled(THEIRS, "site").chunk(),
        dask="parallelized",
        output_dtypes=[np.int64],
    )
    assert np.array_equal(found.to_numpy(), wanted)


def test_equal_work_has_one_name() -> None:
    assert tokenize(Scores()) == tokenize(Scores())
    assert edit_distance(lazily(OURS), "ACGT").name == edit_distance(lazily(OURS), "ACGT").name


def test_what_is_wrong_is_said_when_it_is_computed() -> None:
    with pytest.raises(BadParams, match="an array of texts pairs with"):
        edit_distance(lazily(OURS), (np.zeros(1, "u1"), np.zeros(2, "i8")))  # type: ignore[call-overload]
    wrong = da.from_array(np.array([1, "A"], object), chunks=1)
    with pytest.raises(BadParams, match="must be str, bytes"):
        edit_distance(wrong, "ACGT").compute()
