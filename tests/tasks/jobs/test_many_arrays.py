"""What a job does for each of many arrays does not grow with their number."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import gangsaw
from gangsaw.codecs.core.plugins.contents import CONTENT
from gangsaw.codecs.core.plugins.selection import ArrayFacts, SourceArrays
from gangsaw.tasks.formats.hdf5.source import open_netcdf
from gangsaw.tasks.jobs.choice import choose

KINDS = ("i2", "f4", "c8", "i2")
SAID = ("letters", None, "rows", "letters")


def _data(n: int) -> xr.Dataset:
    values = np.arange(4 * 5 * 6, dtype="i2").reshape(4, 5, 6)
    return xr.Dataset({f"v{i}": (("t", "y", "x"), values + i) for i in range(n)})


@pytest.mark.parametrize("n", [3, 30])
def test_facts_are_collected_once_for_each_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    seen: list[str] = []
    plain = choose.facts_of
    monkeypatch.setattr(
        choose, "facts_of", lambda array, *more: seen.append(array.name) or plain(array, *more)
    )
    gangsaw.compress(_data(n), tmp_path / "a.zarr")
    assert len(seen) == 2 * n  # once for the codec, once for the chunks
    seen.clear()
    gangsaw.encoding(_data(n))
    assert len(seen) <= 3 * n


def _facts() -> list[ArrayFacts]:
    pairs = enumerate(zip(KINDS, SAID, strict=True))
    return [
        ArrayFacts(f"v{i}", (3,), np.dtype(kind), ("x",), {CONTENT: said} if said else {})
        for i, (kind, said) in pairs
    ]


def test_each_array_knows_the_others() -> None:
    alone = _facts()
    for number, one in enumerate(SourceArrays(alone)):
        others = [other for other in alone if other.name != one.name]
        assert list(one.others) == others
        assert len(one.others) == 3
        assert alone[(number + 1) % 4] in one.others
        assert alone[number] not in one.others
        assert one.other_contents == {other.content for other in others}
        assert one.other_kinds == {other.dtype.kind for other in others}
        assert one.name == f"v{number}"


def test_facts_with_a_plain_list_of_others() -> None:
    first, *others = _facts()
    one = ArrayFacts("a", (3,), first.dtype, ("x",), others=tuple(others))
    assert one.other_contents == {None, "rows", "letters"}
    assert one.other_kinds == {"f", "c", "i"}
    assert ArrayFacts("a", (3,), first.dtype, ("x",)).other_contents == frozenset()


def test_names_of_dimensions_are_looked_up_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HDF5 searches the file for the name of what a reference leads to."""
    _data(30).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    asked: list[str] = []
    plain = h5py.Dataset.name.fget

    def name(data: h5py.Dataset) -> str:
        found: str = plain(data)
        asked.append(found)
        return found

    monkeypatch.setattr(h5py.Dataset, "name", property(name))
    source = open_netcdf(str(tmp_path / "a.nc"))
    assert [array.dims for array in source.arrays] == [("t", "y", "x")] * 30
    assert max(asked.count(f"/{dim}") for dim in "tyx") < 10
