"""What is measured comes from tables: settings from codecs, data from domains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.bench import host
from gangsaw.tasks.bench.data import MAX_BYTES, sample_of, synthetic_sample
from gangsaw.tasks.bench.host import benchmark, ours, stored_bytes

IMAGE, VISIBILITIES = ("band", "y", "x"), ("time", "frequency", "baseline")


def test_codecs_say_which_settings_suit_an_array() -> None:
    cube = np.arange(4 * 6 * 8, dtype="int16").reshape(4, 6, 8) - 90
    for dtype, dims, names in (
        ("int16", IMAGE, ["ccsds123 default", "ccsds123 full", "ccsds123 full, P=15"]),
        ("uint32", IMAGE, ["ccsds123 default", "ccsds123 full", "ccsds123 full, P=15"]),
        ("float32", VISIBILITIES, ["visibility fast", "visibility dense"]),
        ("complex64", VISIBILITIES, ["visibility fast", "visibility dense"]),
        ("bool", IMAGE, []),
    ):
        array = (cube if dtype != "uint32" else abs(cube)).astype(dtype)
        peers = list(ours(array, dims))
        assert [peer.name for peer in peers] == names
        for peer in peers:
            assert stored_bytes(array, peer) > 0  # raises where the bits do not come back


def test_what_no_codec_is_for_is_refused() -> None:
    with pytest.raises(BadParams, match="no codec is for bool of 2 x 3 x 4: nothing to measure"):
        benchmark(np.zeros((2, 3, 4), bool), IMAGE)


def test_a_codec_without_settings_is_measured_as_auto_would_use_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host, "benchmarks_of", lambda _: None)
    cube = np.arange(4 * 6 * 8, dtype="int16").reshape(4, 6, 8)
    (found,) = benchmark(cube, IMAGE, rounds=1, with_peers=False)
    assert found.name == "gangsaw.ccsds123 automatic"
    with pytest.raises(BadParams, match="no codec is for int64 of 4 x 6 x 8"):
        benchmark(cube.astype("int64"), IMAGE)


def test_the_advice_on_raw_samples_is_possible(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(100))
    with pytest.raises(BadParams, match=r"no known format .* gangsaw compress reads raw") as raised:
        sample_of(f"{tmp_path}/a.bin")
    assert "--shape" not in str(raised.value)


def test_made_data_have_the_extents_that_are_asked_for() -> None:
    sample = synthetic_sample((3, 8, 9))
    assert (sample.shape, sample.dims) == ((3, 8, 9), IMAGE)
    with pytest.raises(BadParams, match="a scene is bands,rows,columns"):
        synthetic_sample((3, 8))


def test_of_a_large_source_the_middle_is_measured(tmp_path: object) -> None:
    import xarray as xr

    shape = (4, 2048, 2304)  # (time, frequency, baseline): twice too large
    values = np.zeros(shape, "complex64")
    values[1:3] = 1
    xr.Dataset({"data": (VISIBILITIES, values)}).to_zarr(
        f"{tmp_path}/a.zarr", zarr_format=3, consolidated=False
    )
    sample = sample_of(f"{tmp_path}/a.zarr")
    assert sample.dims == VISIBILITIES
    assert MAX_BYTES / 4 < sample.values.nbytes <= MAX_BYTES
