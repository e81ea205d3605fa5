"""The picture of a store: nothing of it is cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from helpers.array_array_codecs import Viewed
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.figures import array_codecs


@pytest.mark.parametrize("shape", [(20, 90, 10), (20, 10, 90), (20, 40, 40)])
def test_titles_lie_within_the_figure(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    group = zarr.create_group(tmp_path / "a.zarr")
    serializer = gangsaw.codecs.Ccsds123()
    samples = np.arange(np.prod(shape)).reshape(shape).astype("u2")
    group.create_array("data", data=samples, chunks=shape, serializer=serializer, compressors=None)
    figure = gangsaw.plot(tmp_path / "a.zarr")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        for title in (axes.title, axes._left_title):
            box = title.get_window_extent(canvas.get_renderer())
            assert box.x0 >= 0
            assert box.x1 <= figure.bbox.width, title.get_text()


def test_visibilities_are_drawn_over_time_and_frequency(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "a.zarr")
    codec = gangsaw.codecs.Visibility(axes="tbf", block=(4, 8, 2))
    samples = np.ones((8, 3, 16), "c8")
    names = ["time", "baseline", "frequency"]
    kind = {"serializer": codec, "compressors": None, "dimension_names": names}
    group.create_array("data", data=samples, chunks=samples.shape, **kind)
    blocks = gangsaw.info(tmp_path / "a.zarr").arrays[0].block_bits
    assert blocks is not None
    assert blocks.dims == ("time", "frequency")
    assert blocks.bits.shape == (2, 2)
    for axes in gangsaw.plot(tmp_path / "a.zarr").axes[:2]:
        assert (axes.get_ylabel(), axes.get_xlabel()) == ("time (sample)", "frequency (channel)")


@pytest.mark.parametrize("rank", range(6))
@pytest.mark.parametrize("own", [True, False])
def test_arrays_of_any_rank_are_described(tmp_path: Path, rank: int, own: bool) -> None:
    samples = np.ones((3, 4, 2, 5, 2)[:rank], "c8")
    codec = gangsaw.codecs.Visibility() if own else "auto"
    options = {"serializer": codec, "compressors": None if own else "auto"}
    zarr.create_array(tmp_path / "a.zarr", data=samples, chunks=samples.shape, **options)
    (found,) = gangsaw.info(tmp_path / "a.zarr").arrays
    assert (found.shape, found.n_chunks, found.missing) == (samples.shape, 1, 0)
    if own and rank:
        assert found.block_bits is not None
        assert found.block_bits.bits.sum() > 0
        assert gangsaw.plot(tmp_path / "a.zarr").axes
    else:
        assert found.block_bits is None


def test_a_store_of_zarr_2_has_the_figures_of_its_twin(tmp_path: Path) -> None:
    samples = np.ones((8, 4, 16), "f4")
    chunk: dict[str, Any] = {"shape": (8, 4, 16), "dtype": "f4"}
    settings: dict[str, Any] = {"axes": "tbf", "block": (4, 8, 2)}
    of_v2 = gangsaw.codecs.VisibilityV2(**chunk, **settings)
    of_v3 = gangsaw.codecs.Visibility(**settings)
    kinds: list[dict[str, Any]] = [
        {"zarr_format": 2, "compressors": of_v2},
        {"zarr_format": 3, "compressors": None, "serializer": of_v3},
    ]
    for store, kind in zip("23", kinds, strict=True):
        zarr.create_array(tmp_path / store, data=samples, chunks=samples.shape, **kind)
    found, twin = (gangsaw.info(tmp_path / store).arrays[0] for store in "23")
    assert found == twin
    assert (found.codec, found.summary) == ("gangsaw.visibility", twin.summary)
    assert gangsaw.plot(tmp_path / "2").axes
    with pytest.raises(BadParams, match="one of format 2, which has no manifest"):
        gangsaw.verify(tmp_path / "2")


def drawn(store: Path) -> str:
    """Return the name of the array that is drawn."""
    title = gangsaw.plot(store)._suptitle
    return str(title.get_text().partition(":")[0])


def test_the_array_that_holds_the_data_is_drawn(tmp_path: Path) -> None:
    letters = "".join(np.random.default_rng(1).choice(list("ACGT"), 2000))
    (tmp_path / "g.fa").write_text(f">chr1 of a long description\n{letters}\n>chr2\nACGT\n")
    gangsaw.compress(tmp_path / "g.fa", tmp_path / "g.zarr", format="genome")
    assert drawn(tmp_path / "g.zarr") == "sequence"
    (tmp_path / "a.log").write_text("a line of a log\n" * 500)
    gangsaw.compress(tmp_path / "a.log", tmp_path / "t.zarr", format="text")
    assert drawn(tmp_path / "t.zarr") == "text"
    found = gangsaw.info(tmp_path / "g.zarr").arrays
    (sequence,) = (array.block_bits for array in found if array.name == "sequence")
    assert sequence is not None
    assert [*sequence.edges[0]] == [0, 2004]


def test_visibilities_are_drawn_of_a_measurement_set(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "a.zarr")
    group.create_array("FLAG", data=np.zeros((8, 3, 16), "?"))
    codec = gangsaw.codecs.Visibility(axes="tbf", block=(4, 8, 2))
    kind = {"serializer": codec, "compressors": None}
    group.create_array("VISIBILITY", data=np.ones((8, 3, 16), "c8"), chunks=(8, 3, 16), **kind)
    group.create_array("WEIGHT", data=np.zeros((8, 3, 200)))  # more bytes, of a codec of others
    assert drawn(tmp_path / "a.zarr") == "VISIBILITY"


def test_scaled_floats_with_fill_values_are_a_scene(tmp_path: Path) -> None:
    samples = (np.arange(4 * 20 * 30).reshape(4, 20, 30) % 977).astype("f4") / np.float32(1000)
    samples[:, :5, :5] = np.nan
    group = zarr.create_group(tmp_path / "a.zarr")
    codec = gangsaw.codecs.Scaled(scale=1000)
    kind = {"serializer": codec, "compressors": None, "dimension_names": ["band", "y", "x"]}
    group.create_array("data", data=samples, chunks=samples.shape, **kind)
    assert gangsaw.info(tmp_path / "a.zarr").arrays[0].lane_axis == 0
    quicklook = gangsaw.plot(tmp_path / "a.zarr").axes[0].get_images()[0].get_array()
    assert np.isfinite(quicklook).all()
    assert quicklook.std() > 0.1


def test_a_cube_behind_a_cast_is_a_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `scale_offset` and `cast_value` before a codec of images, which newer Zarr has."""
    monkeypatch.setattr(array_codecs, "BY_ITEM", ("test.viewed",))
    samples = (np.arange(4 * 20 * 30).reshape(4, 20, 30) % 977).astype("f4")
    codec = gangsaw.codecs.Ccsds123(block=(0, 10, 10))
    kind: dict[str, Any] = {"filters": [Viewed("int16")], "serializer": codec, "compressors": None}
    group = zarr.create_group(tmp_path / "a.zarr")
    dims = ["band", "y", "x"]
    group.create_array("data", data=samples, chunks=(4, 20, 30), dimension_names=dims, **kind)
    (found,) = gangsaw.info(tmp_path / "a.zarr").arrays
    assert found.block_bits is not None
    assert (found.picture, found.lane_axis, found.block_bits.bits.shape) == ("scene", 0, (2, 3))
    quicklook = gangsaw.plot(tmp_path / "a.zarr").axes[0].get_images()[0].get_array()
    assert quicklook is not None
    assert quicklook.shape[:2] == (20, 30)


def test_filters_that_move_items_leave_no_map_of_blocks(tmp_path: Path) -> None:
    filters: list[Any] = [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}]
    kind: dict[str, Any] = {"filters": filters, "compressors": None}
    samples = np.arange(4 * 20 * 30, dtype="u2").reshape(4, 20, 30)
    codec = gangsaw.codecs.Ccsds123()
    zarr.create_array(tmp_path / "a", data=samples, chunks=(4, 20, 30), serializer=codec, **kind)
    (found,) = gangsaw.info(tmp_path / "a").arrays
    assert (found.block_bits, found.picture) == (None, "")
    assert "each chunk" in gangsaw.plot(tmp_path / "a").axes[0].get_title(loc="left")


@pytest.mark.parametrize("rank", range(1, 5))
def test_chunks_of_codecs_of_others_are_drawn(tmp_path: Path, rank: int) -> None:
    samples = np.arange(6**rank).reshape((6,) * rank)
    zarr.create_array(tmp_path / "a.zarr", data=samples, chunks=(4,) * rank)
    (found,) = gangsaw.info(tmp_path / "a.zarr").arrays
    assert found.chunk_bits is not None
    assert found.chunk_bits.bits.shape == (2, 2)[:rank]
    total = found.chunk_bits.bits
    for along in found.chunk_bits.edges[::-1]:
        total = total @ np.diff(along)
    assert total * 6 ** max(0, rank - 2) == pytest.approx(8 * found.stored_bytes)
    assert "each chunk" in gangsaw.plot(tmp_path / "a.zarr").axes[0].get_title(loc="left")


def test_a_store_without_samples_has_no_picture(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=np.zeros((0, 4)))
    with pytest.raises(BadParams, match="holds no samples"):
        gangsaw.plot(tmp_path / "a.zarr")
