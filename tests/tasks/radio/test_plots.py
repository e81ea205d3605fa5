"""The figure of visibilities: a waterfall of amplitudes, next to the bits of blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.radio_files import write
from matplotlib.axes import Axes

import gangsaw
from gangsaw.tasks.radio.plots import MAX_CHUNKS, MAX_MEDIAN, median, scale_of, waterfall
from gangsaw.tasks.store.source import ZarrArray, open_zarr

DIMS = ("time", "baseline_id", "frequency", "polarization")


def write_array(
    path: Path,
    samples: np.ndarray,
    dims: tuple[str, ...],
    chunks: tuple[int, ...],
    *,
    axes: str,
    frequency: np.ndarray | None = None,
) -> Path:
    group = zarr.create_group(path)
    codec = gangsaw.codecs.Visibility(axes=axes)
    names = {"dimension_names": list(dims), "serializer": codec, "compressors": None}
    group.create_array("VISIBILITY", data=samples, chunks=chunks, **names)
    if frequency is not None:
        attrs = {"units": "Hz"}
        coord = {"dimension_names": ["frequency"], "attributes": attrs}
        group.create_array("frequency", data=frequency, **coord)
    return path


def shown(axes: Axes) -> np.ndarray:
    return np.asarray(axes.get_images()[0].get_array())


def test_a_measurement_set_is_a_waterfall(tmp_path: Path) -> None:
    write(tmp_path / "a.ms", special=False)
    gangsaw.compress(tmp_path / "a.ms", tmp_path / "a.zarr")
    figure = gangsaw.plot(tmp_path / "a.zarr")
    left, right = figure.axes[:2]
    assert figure.get_suptitle().startswith("VISIBILITY: 5 x 10 x 16 x 4 complex64")
    samples = zarr.open_array(tmp_path / "a.zarr", path="VISIBILITY", mode="r")[...]
    np.testing.assert_allclose(shown(left), np.median(np.abs(samples[..., 0]), axis=1), rtol=1e-6)
    assert left.get_title(loc="left") == "amplitude, median of 10 baselines, XX"
    assert left.get_ylabel() == "time since the first, s"
    assert left.get_xlabel() == right.get_xlabel() == "frequency, MHz"
    step = 20 / 15
    assert left.get_xlim() == pytest.approx((100 - step / 2, 120 + step / 2))
    assert left.get_ylim() == pytest.approx((5 * 10.7, 0))
    assert right.get_ylabel() == "amplitude"
    means = right.patches[0].get_data().values
    np.testing.assert_allclose(means, np.median(shown(left), axis=0), rtol=1e-6)


def test_rows_of_no_rectangle_are_drawn_over_rows_and_channels(tmp_path: Path) -> None:
    write(tmp_path / "a.ms", ragged=True, special=False)
    gangsaw.compress(tmp_path / "a.ms", tmp_path / "a.zarr")
    left = gangsaw.plot(tmp_path / "a.zarr").axes[0]
    assert (left.get_ylabel(), left.get_xlabel()) == ("row (sample)", "frequency, MHz")
    samples = zarr.open_array(tmp_path / "a.zarr", path="VISIBILITY", mode="r")[...]
    np.testing.assert_allclose(shown(left), np.abs(samples[..., 0]), rtol=1e-6)


def test_bits_of_several_blocks_are_a_map(tmp_path: Path) -> None:
    samples = np.exp(1j * np.arange(8 * 3 * 16 * 2)).reshape(8, 3, 16, 2).astype("c8")
    write_array(tmp_path / "a", samples, DIMS, (4, 3, 8, 2), axes="tbfb")
    left, right = gangsaw.plot(tmp_path / "a").axes[:2]
    assert left.get_title(loc="left") == "amplitude, median of 3 baselines, polarization 0"
    assert (right.get_ylabel(), right.get_xlabel()) == ("time (sample)", "frequency (channel)")
    (found,) = gangsaw.info(tmp_path / "a").arrays
    assert found.block_bits is not None
    drawn = np.asarray(right.collections[0].get_array())
    np.testing.assert_array_equal(drawn.reshape(2, 2), found.block_bits.bits)


def test_real_samples_are_a_plane_in_their_order(tmp_path: Path) -> None:
    samples = np.arange(5 * 6 * 7, dtype="f4").reshape(5, 6, 7)
    write_array(tmp_path / "a", samples, ("level", "lat", "lon"), (5, 3, 7), axes="bft")
    left = gangsaw.plot(tmp_path / "a").axes[0]
    np.testing.assert_array_equal(shown(left), samples[2])
    assert (left.get_ylabel(), left.get_xlabel()) == ("lat (sample)", "lon (sample)")
    assert left.get_title(loc="left") == "VISIBILITY, level 2"


def test_uneven_coordinates_are_no_scale(tmp_path: Path) -> None:
    samples, uneven = np.ones((4, 2, 3), "c8"), np.array([1e8, 2e8, 4e8])
    path = write_array(
        tmp_path / "a",
        samples,
        ("time", "row", "frequency"),
        (4, 2, 3),
        axes="tbf",
        frequency=uneven,
    )
    source = open_zarr(str(path))
    assert scale_of(source.there[0], source, "frequency").label == "frequency (channel)"


def test_a_large_array_decodes_few_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, chunks = (60, 2 * MAX_MEDIAN, 36, 2), (3, MAX_MEDIAN, 3, 2)
    samples = np.ones(shape, "c8")
    path = write_array(tmp_path / "a", samples, DIMS, chunks, axes="tbfb")
    source = open_zarr(str(path))
    read: list[tuple[slice, ...]] = []
    plain = ZarrArray.read

    def counted(array: ZarrArray, region: tuple[slice, ...]) -> np.ndarray:
        read.append(region)
        return plain(array, region)

    monkeypatch.setattr(ZarrArray, "read", counted)
    found = waterfall(source.there[0], source, ("time", "frequency"))
    assert len(read) == MAX_CHUNKS
    for region in read:
        pairs = zip(region, chunks, strict=True)
        assert all((one.stop - 1) // n == one.start // n for one, n in pairs)
    assert not found.is_whole
    assert found.window == (slice(18, 42), slice(6, 30))
    assert found.values.shape == (24, 24)


def test_the_median_leaves_out_what_is_not_finite() -> None:
    values = np.array([[1.0, np.nan, 3, np.inf], [np.nan] * 4, [1, 2, 3, 10], [5, 7, 6, np.nan]])
    np.testing.assert_array_equal(median(values), [2, np.nan, 2.5, 6])


def test_special_values_are_drawn(tmp_path: Path) -> None:
    samples = np.full((4, 2, 3), np.nan, "c8")
    path = write_array(tmp_path / "a", samples, ("time", "row", "frequency"), (4, 2, 3), axes="tbf")
    assert np.isnan(shown(gangsaw.plot(path).axes[0]).astype(float)).all()
