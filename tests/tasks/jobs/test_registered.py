"""Zarr's `scale_offset` and `cast_value` in front of a codec: chosen where they lose no bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.codecs import Scaled
from gangsaw.tasks.engine.report.dry_run import Depth, plan_job
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import facts_of
from gangsaw.tasks.jobs.choice.registered import (
    build_lossless_chain,
    prefer_registered,
    restores_every_bit,
)
from gangsaw.tasks.store.arrays.layout import Filtered

SHAPE = 6, 40, 50
has_them = pytest.mark.skipif(
    find_spec("cast_value_rs") is None or not hasattr(zarr.codecs, "CastValue"),
    reason="scale_offset and cast_value need zarr 3.2 and cast-value-rs",
)


def reflectance() -> Any:
    z, y, x = np.indices(SHAPE)
    grain = np.random.default_rng(1).integers(0, 40, SHAPE)
    return ((500 + 90 * z + 21 * y + 13 * x + grain) / 10000).astype("f4")


def spoiled(where: Any, value: float) -> Any:
    array = reflectance()
    array[where] = value
    return array


def chosen(values: Any, codec: Any = None, fill_value: Any = None) -> Any:
    array = MemoryArray(values, ("band", "y", "x"), chunks=(6, 16, 50), fill_value=fill_value)
    return prefer_registered(codec or Scaled(), array, facts_of(array), None)


LOST = {
    "one sample off": spoiled((5, 39, 49), 0.123456789),
    "a zero that is negative": spoiled((0, 0, 0), -0.0),
    "infinite": spoiled((0, 0, 0), np.inf),
    "the integer of NaN": spoiled((0, 39, 0), -3.2768),
    "out of range": spoiled((0, 39, 0), 5.0),
}


@pytest.mark.parametrize("values", LOST.values(), ids=LOST)
def test_an_array_that_they_lose_a_bit_of_keeps_our_codec(values: Any) -> None:
    assert chosen(values) == Scaled()


@pytest.mark.parametrize("form", [{"form": "product"}, {"precision": "double"}])
def test_their_arithmetic_is_one_alone(form: Mapping[str, Any]) -> None:
    codec = Scaled(**form)
    assert chosen(reflectance(), codec) == codec


def test_codecs_that_are_not_installed_prove_nothing() -> None:
    array = MemoryArray(reflectance(), ("band", "y", "x"))
    none: list[Mapping[str, object]] = [{"name": "gangsaw.none"}, Scaled().to_dict()]
    assert build_lossless_chain(none, array, None) is None


def test_a_quick_rehearsal_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole array would be read for it, in one process, before the workers are there."""

    def read(*_: Any) -> None:
        raise AssertionError("all is read")

    monkeypatch.setattr("gangsaw.tasks.jobs.choice.registered.build_lossless_chain", read)
    codecs: list[Any] = []
    plan_job(lambda: codecs.append(chosen(reflectance())), Depth.CHECK)
    assert codecs == [Scaled()]
    with pytest.raises(AssertionError, match="all is read"):
        chosen(reflectance())


def test_codecs_that_change_nothing_give_back() -> None:
    assert restores_every_bit((), reflectance(), 0)


@has_them
@pytest.mark.parametrize("fill_value", [None, np.nan, -9999.0])
def test_they_are_chosen_with_fill_values(fill_value: Any) -> None:
    values = spoiled((slice(None), slice(30, None)), fill_value or 0.0)
    found = chosen(values, fill_value=fill_value)
    assert isinstance(found, Filtered)
    assert [codec.to_dict()["name"] for codec in found.filters] == ["scale_offset", "cast_value"]  # type: ignore[index]
    assert found.peak_bytes(SHAPE, np.dtype("f4")) > 3 * values.nbytes


def stored(values: Any, tmp_path: Path) -> Path:
    """A store that `auto` made of an array with NaN at its border."""
    source = tmp_path / "source.zarr"
    dataset = xr.Dataset({"r": (("band", "y", "x"), values)})
    dataset.to_zarr(source, zarr_format=3, consolidated=False)
    gangsaw.compress(source, tmp_path / "target.zarr", chunks={"y": 16})
    return tmp_path / "target.zarr"


@pytest.mark.filterwarnings("ignore")  # what zarr finds unstable
@pytest.mark.parametrize("spoil", [lambda: reflectance(), lambda: LOST["one sample off"]])
def test_jobs_go_all_ways(spoil: Callable[[], Any], tmp_path: Path) -> None:
    """Of the one array ours are needed; the other has Zarr's own where those are installed."""
    values = spoil()
    values[:, :, :5] = np.nan
    target = stored(values, tmp_path)
    assert gangsaw.verify(target)
    array = zarr.open_group(target)["r"]
    assert array.filters or isinstance(array.serializer, Scaled)
    bits = values.view("u4")
    assert (array[:].view("u4") == bits).all()
    assert (array[2:4, 10:20, 3:9].view("u4") == bits[2:4, 10:20, 3:9]).all()
    back = tmp_path / "back.zarr"
    gangsaw.decompress(target, back)
    assert (zarr.open_group(back)["r"][:].view("u4") == bits).all()
    (info,) = gangsaw.info(target).arrays
    assert "10000" in str(info.summary)
