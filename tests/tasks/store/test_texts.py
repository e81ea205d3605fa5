"""Texts of any length from sources into stores and back: kept, coded where that pays, proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.codecs import Bwt, Strings
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import choose_layout, facts_of
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.figures.report import describe
from gangsaw.tasks.store.dataset import texts as of_texts
from gangsaw.tasks.store.dataset.losses import storable_variables
from gangsaw.tasks.store.dataset.texts import (
    convert_texts,
    count_bytes,
    encode_texts,
    make_large_text_array,
)
from gangsaw.tasks.store.dataset.variables import split_variables

TEXT = np.dtypes.StringDType()
pytestmark = pytest.mark.filterwarnings("ignore:Consolidated metadata", "ignore:The data type")


@pytest.fixture(autouse=True)
def _few_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_texts, "LARGE", 4 << 10)


def log(n: int = 400) -> Any:
    """Lines of a log: some empty, some not of ASCII, one of many letters."""
    lines = [f"12:{i // 60:02}:{i % 60:02} host sshd[{400 + i}]: login of José" for i in range(n)]
    return np.array(["", "long " * 2000, "小林", *lines][:n], object)


def noise(n: int = 400) -> Any:
    rng = np.random.default_rng(2)
    return np.array([rng.integers(0, 1 << 62, 3).tobytes().hex() for _ in range(n)], object)


def dataset() -> xr.Dataset:
    lines = log()
    return xr.Dataset(
        {
            "log": ("line", lines, {"long_name": "what happened"}),
            "pairs": (("line", "k"), np.stack([lines, lines[::-1]], 1)),
            "image": (("y", "x"), np.arange(100, dtype="u2").reshape(10, 10)),
            "one": ((), np.array("alone" * 1000, object)),
        },
        coords={"k": ("k", np.array(["a", "b"], object))},
    )


def write(path: Path, data: xr.Dataset) -> None:
    if path.suffix == ".zarr":
        data.to_zarr(path)
    else:
        data.to_netcdf(path, engine="h5netcdf")


def codecs_of(store: Path) -> dict[str, str]:
    return {array.name: array.codec for array in describe(str(store)).arrays}


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
@pytest.mark.parametrize("codec", ["auto", "bwt"])
def test_texts_are_stored_coded_proved_and_given_back(
    tmp_path: Path, suffix: str, codec: str
) -> None:
    source, store, copy = tmp_path / f"in{suffix}", tmp_path / "s.zarr", tmp_path / f"out{suffix}"
    write(source, dataset())
    gangsaw.compress(source, store, codec=codec)
    found = codecs_of(store)
    assert found["log"] == found["pairs"] == "gangsaw.strings"
    assert found["one"] == ("gangsaw.strings" if codec == "bwt" else "ZstdCodec")  # of a period
    assert gangsaw.verify(store, against=source).ok
    opened = xr.open_zarr(store)
    gangsaw.decompress(store, copy)
    for name, wanted in dataset().variables.items():
        assert np.array_equal(opened[name].values, wanted.values), name
    assert opened["log"].attrs["long_name"] == "what happened"
    back = xr.open_zarr(copy) if suffix == ".zarr" else xr.open_dataset(copy, engine="h5netcdf")
    with back:
        for name, wanted in dataset().variables.items():
            assert np.array_equal(back[name].values, wanted.values), name


def test_info_tells_bytes_and_ratio_of_texts(tmp_path: Path) -> None:
    write(tmp_path / "in.zarr", dataset())
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr", effort="fast")
    (info,) = (a for a in describe(str(tmp_path / "s.zarr")).arrays if a.name == "log")
    letters = sum(len(text.encode()) for text in log())
    assert (info.dtype, info.raw_bytes) == ("string", letters + 4 * 400)
    assert info.summary == {"inner": "gangsaw.bwt", "effort": "fast"}
    assert info.ratio == pytest.approx(info.raw_bytes / info.stored_bytes)
    assert info.ratio > 5


def test_what_gets_no_shorter_goes_to_zstandard(tmp_path: Path) -> None:
    write(tmp_path / "in.zarr", xr.Dataset({"ids": ("n", noise())}))
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr", variables=["ids"])
    assert codecs_of(tmp_path / "s.zarr") == {"ids": "gangsaw.strings"}  # hexadecimal: 4 bits of 8
    few = MemoryArray(np.array(["a", "b"] * 9, TEXT), ("n",))
    layout = choose_layout(few, "auto", None)
    assert layout.codec is not None
    assert layout.codec.to_dict()["name"] == "zstd"


def test_a_store_of_texts_is_a_source_again(tmp_path: Path) -> None:
    write(tmp_path / "in.zarr", dataset())
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "a.zarr", codec="none")
    gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="strings")
    assert codecs_of(tmp_path / "b.zarr")["log"] == "gangsaw.strings"
    assert gangsaw.verify(tmp_path / "b.zarr", against=tmp_path / "in.zarr").ok


def test_a_changed_text_is_found(tmp_path: Path) -> None:
    write(tmp_path / "in.zarr", dataset())
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr")
    zarr.open_array(tmp_path / "in.zarr", path="log", mode="r+")[7] = "another"
    found = gangsaw.verify(tmp_path / "s.zarr", against=tmp_path / "in.zarr")
    assert not found.ok
    assert "log" in " ".join(found.problems)


def test_texts_of_h5py_keep_their_types(tmp_path: Path) -> None:
    source, store, copy = tmp_path / "in.h5", tmp_path / "s.zarr", tmp_path / "out.h5"
    ascii_lines = [text.encode("ascii", "replace") for text in log()]
    with h5py.File(source, "w") as file:
        file.create_dataset("log", data=log(), dtype=h5py.string_dtype())
        file.create_dataset("ascii", data=ascii_lines, dtype=h5py.string_dtype("ascii"))
        file.create_dataset("pairs", data=np.stack([log(), log()]), dtype=h5py.string_dtype())
        file.create_dataset("chars", data=np.array(ascii_lines[3:], "S60"))
    gangsaw.compress(source, store)
    assert codecs_of(store)["ascii"] == "gangsaw.strings"
    assert gangsaw.verify(store, against=source).ok
    gangsaw.decompress(store, copy)
    with h5py.File(source) as a, h5py.File(copy) as b:
        for name in a:
            assert np.array_equal(a[name][...], b[name][...]), name
            assert h5py.check_string_dtype(a[name].dtype) == h5py.check_string_dtype(b[name].dtype)


def test_a_nul_stays_in_zarr_and_is_refused_for_hdf5(tmp_path: Path) -> None:
    lines = np.array([*log(), "a\0b", "c\0"], object)
    write(tmp_path / "in.zarr", xr.Dataset({"log": ("line", lines), "n": ("line", range(402))}))
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr")
    assert np.array_equal(xr.open_zarr(tmp_path / "s.zarr")["log"].values, lines)
    with pytest.raises(BadParams, match=r"NULs in them \(log\)"):
        gangsaw.decompress(tmp_path / "s.zarr", tmp_path / "out.nc")


@pytest.mark.full
def test_a_megabyte_in_one_text(tmp_path: Path) -> None:
    lines = np.array(["x" * 1_000_000, "", "é" * 500_000, "end"], TEXT)
    zarr.create_array(tmp_path / "in.zarr", data=lines, name="t", dimension_names=["n"])
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr", variables=["t"])
    assert np.array_equal(zarr.open_array(tmp_path / "s.zarr", path="t")[...], lines)
    (info,) = describe(str(tmp_path / "s.zarr")).arrays
    assert info.raw_bytes == 2_000_003 + 4 * 4
    assert info.ratio > 1000


def test_zarr_2_with_an_object_codec(tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "in.zarr", shape=(400,), chunks=(64,), dtype=str, name="log", zarr_format=2
    )
    array[...] = log().astype(TEXT)
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr", variables=["log"])
    assert codecs_of(tmp_path / "s.zarr") == {"log": "gangsaw.strings"}
    assert gangsaw.verify(tmp_path / "s.zarr", against=tmp_path / "in.zarr").ok


@pytest.mark.parametrize("dtype", ["<U40", "S40"])
@pytest.mark.parametrize("codec", ["auto", "bwt"])
def test_texts_of_one_length(tmp_path: Path, dtype: str, codec: str) -> None:
    values = np.array([f"station {i} of {i % 7}" for i in range(600)], dtype)
    group = zarr.create_group(tmp_path / "in.zarr")
    group.create_array("names", data=values, chunks=(200,), dimension_names=["n"])
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr", codec=codec)
    assert gangsaw.verify(tmp_path / "s.zarr", against=tmp_path / "in.zarr").ok
    gangsaw.decompress(tmp_path / "s.zarr", tmp_path / "out.zarr")
    back = zarr.open_array(tmp_path / "out.zarr", path="names")
    assert back.dtype == values.dtype
    assert np.array_equal(back[...], values)


def test_codecs_that_users_name() -> None:
    array = MemoryArray(log().astype(TEXT), ("line",), name="log")
    recipe = Recipe(codec="bwt", params={"block": 1 << 12}, options={"effort": "fast"})
    source: Any = type("One", (), {"arrays": (array,), "coords": (), "name": "one"})()
    wanted = Strings(inner=Bwt(effort="fast", block=1 << 12))
    assert recipe.codecs(source) == {"log": wanted}
    assert choose_layout(array, Bwt(effort="fast", block=1 << 12), None).codec == wanted
    assert Recipe(codec="visibility").codecs(source) == {"log": Strings()}  # of other arrays
    assert Recipe(codec="strings").codecs(source) == {"log": Strings()}
    with pytest.raises(BadParams, match="no array has --bit-depth"):
        Recipe(codec="bwt", options={"bit_depth": "12"}).codecs(source)


def test_missing_values_are_refused_by_name() -> None:
    lines = log()
    lines[200] = None
    with pytest.raises(BadParams, match="log has None among its texts"):
        convert_texts(lines, "log")


def test_items_that_are_no_texts_are_not_taken_for_such() -> None:
    items = np.array([b"\xff" * 100] * 400, object)
    assert make_large_text_array(MemoryArray(items, ("n",), name="items")) is None
    few = MemoryArray(log()[3:12], ("n",), name="few")
    assert make_large_text_array(MemoryArray(log(), ("n",))) is not None
    (found,), _ = storable_variables([few])
    assert found is few
    image = MemoryArray(np.zeros((4, 4), "u2"), ("y", "x"), name="image")
    assert [c.name for c in split_variables([few, image])[1]] == ["few"]


def test_large_texts_along_an_axis_stay_coordinates(tmp_path: Path) -> None:
    names = np.array([f"station {i}, of a long name" for i in range(400)], object)
    data = (
        dataset()
        .drop_vars("one")
        .assign(rain=("station", np.arange(400.0)))
        .assign_coords(station=names)
    )
    write(tmp_path / "in.zarr", data)
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "s.zarr")
    assert "station" not in codecs_of(tmp_path / "s.zarr")
    gangsaw.compress(tmp_path / "in.zarr", tmp_path / "t.zarr", variables=["rain"])
    assert codecs_of(tmp_path / "t.zarr").keys().isdisjoint({"station", "log", "pairs"})
    for store in ("s.zarr", "t.zarr"):
        assert np.array_equal(xr.open_zarr(tmp_path / store)["station"].values, names)


def test_bytes_of_texts() -> None:
    lines = log().astype(TEXT)
    data = encode_texts(lines)
    assert count_bytes(lines) == len(data) - 4
    assert data.tobytes() == bytes(
        zarr.codecs.vlen_utf8._vlen_utf8_codec.encode(lines.astype(object))
    )
    read = facts_of(MemoryArray(lines, ("line",))).sample
    assert read is not None
    assert read().tobytes() == data.tobytes()


def test_chunks_and_memory_follow_the_letters() -> None:
    long = MemoryArray(np.array(["x" * 100_000] * 2000, TEXT), ("n",), name="long")
    texts = of_texts.make_text_array(long)
    assert texts.item_bytes == 100_004
    layout = choose_layout(texts, Strings(), None)
    assert layout.chunks[0] * texts.item_bytes < 33 << 20
    assert layout.peak_bytes(texts) > 5 * layout.chunks[0] * texts.item_bytes
