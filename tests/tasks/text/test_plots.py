"""The figure of a text: bits per byte along the file, in its units."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gangsaw
from gangsaw.tasks.jobs.figures.plots import scaled_edges


def test_bits_per_byte_are_drawn_along_the_text(tmp_path: Path) -> None:
    """The first half is a repeated line, the second half is noise: it has more bits."""
    noise = np.random.default_rng(1).integers(32, 127, 150_000, dtype="u1").tobytes()
    (tmp_path / "a.log").write_bytes(b"a line of a log\n" * 10_000 + noise + b"\n")
    options = {"chunks": (40_000,), "format": "text"}
    gangsaw.compress(tmp_path / "a.log", tmp_path / "a.zarr", **options)
    (array,) = gangsaw.info(tmp_path / "a.zarr").arrays
    (axes,) = gangsaw.plot(tmp_path / "a.zarr").axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("bits/byte", "offset in the text, kB")
    steps = axes.patches[0].get_data()
    np.testing.assert_allclose(steps.edges[[0, 1, -1]], [0, 40, 310.001])
    bits = steps.values @ np.diff(1000 * steps.edges)
    assert 0.9 < bits / 8 / array.stored_bytes <= 1, "all of the blocks, but no frame"
    assert steps.values[-1] > 6 > 0.1 > steps.values[0]


def test_offsets_have_the_largest_unit_that_they_reach() -> None:
    for last, expected, unit in (
        (999, 999, "B"),
        (1000, 1, "kB"),
        (2.5e6, 2.5, "MB"),
        (7e9, 7, "GB"),
    ):
        edges, found = scaled_edges(np.array([0, last], np.int64), "B")
        assert (edges.tolist(), found) == ([0, expected], unit)
