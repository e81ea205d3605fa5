"""The picture of a store: nothing of it is cut off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr
from matplotlib.backends.backend_agg import FigureCanvasAgg

import gangsaw


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
