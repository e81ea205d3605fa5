"""The plots of statistics: they show the figures, and nothing is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import CommandLine
from helpers.tcr_stores import repertoires, write_counts
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import CAUTION, Association
from gangsaw.tasks.tcr.statistics.by_sharing import Group
from gangsaw.tasks.tcr.statistics.plots import MAX_BOXES, NAMES, plot_n2, plot_paths, write_plots


def grouped(column: str, k: int, n: int, quantiles: Sequence[float]) -> Group:
    mean = float(np.mean(quantiles))
    half = 0.3 if n > 1 else float("nan")
    return Group(column, k, n, mean, mean - half, mean + half, tuple(quantiles), 0)


def found(n_groups: int = 5, *, lowest: float = 100, n2: str = "n2") -> Association:
    people = range(1, n_groups + 1)
    counts = [200_000 // 10 ** min(k, 5) for k in people]
    paths = [
        grouped("all nu=10 pi=4", k, n, (lowest, 1e5, 1e6, 4e6, 9e6 * k))
        for k, n in zip(people, counts, strict=True)
    ]
    lengths = [
        grouped(n2, k, n, (0, 0, 3 - k / 2, 4, 9)) for k, n in zip(people, counts, strict=True)
    ]
    return Association(("a.zarr",), "t", sum(counts), n_groups, (), None, (*paths, *lengths), (), 1)


def assert_within(figure: Figure) -> Axes:
    """No text is outside the figure, and no two labels below boxes overlap."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    texts = [axes.title, axes._left_title, figure._suptitle, axes.xaxis.label, axes.yaxis.label]
    for text in texts:
        box = text.get_window_extent(canvas.get_renderer())
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width, text.get_text()
        assert box.y1 <= figure.bbox.height, text.get_text()
    boxes = [label.get_window_extent(canvas.get_renderer()) for label in axes.get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    return axes


@pytest.mark.parametrize("n_groups", [1, 2, 5, MAX_BOXES, 30])
def test_nothing_is_cut_off(n_groups: int) -> None:
    for figure in (plot_paths(found(n_groups)), plot_n2(found(n_groups))):
        axes = assert_within(figure)
        assert len(axes.get_xticklabels()) == min(n_groups, MAX_BOXES)
        assert ("are not drawn" in axes.get_title(loc="left")) == (n_groups > MAX_BOXES)


def test_the_path_counts_have_a_log_scale() -> None:
    axes = assert_within(plot_paths(found()))
    assert axes.get_yscale() == "log"
    assert 1 < axes.get_ylim()[0] <= 100
    assert axes.get_ylabel() == "paths, all D choices and none (nu ≤ 10, pi ≤ 4)"
    assert [label.get_text() for label in axes.get_xticklabels()][:2] == [
        "1\nn=20,000",
        "2\nn=2,000",
    ]


def test_a_short_log_axis_has_labels_of_one_size() -> None:
    """Less than a decade labels minor ticks, too."""
    paths = (grouped("all nu=10 pi=4", 1, 10, (2.1e6, 3e6, 5e6, 7e6, 9e6)),)
    axes = assert_within(plot_paths(replace(found(1), by_sharing=paths)))
    labels = [*axes.get_yticklabels(which="major"), *axes.get_yticklabels(which="minor")]
    assert len([label for label in labels if label.get_text()]) > 1
    assert {label.get_fontsize() for label in labels} == {8}


def test_a_count_of_zero_has_its_place() -> None:
    axes = assert_within(plot_paths(found(lowest=0)))
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] == 0


def test_means_are_drawn_with_their_intervals() -> None:
    axes = assert_within(plot_n2(found()))
    points = [line for line in axes.lines if line.get_marker() == "o"]
    heights = sorted(float(y) for line in points for y in np.atleast_1d(line.get_ydata()))
    wanted = sorted(g.mean for g in found().by_sharing if g.column == "n2")
    np.testing.assert_allclose(heights, wanted)
    assert "95 % confidence interval" in axes.get_title(loc="left")
    assert axes.get_ylabel() == "N2 length, nt"


def test_a_chain_without_d_has_one_junction() -> None:
    axes = assert_within(plot_n2(found(n2="ndn")))
    assert axes.get_ylabel() == "N length, nt"


def test_files_are_whole_and_the_same(tmp_path: Path) -> None:
    first = write_plots(found(), tmp_path / "a")
    again = write_plots(replace(found(), seconds=2), tmp_path / "b")
    names = sorted(f"{name}.{form}" for name in NAMES for form in ("png", "svg"))
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for a, b in zip(first, again, strict=True):
        assert a.read_bytes() == b.read_bytes()
    assert first[0].read_text().startswith("<?xml")
    assert first[1].read_bytes().startswith(b"\x89PNG")


def test_files_are_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / f"{NAMES[1]}.png").write_text("mine")
    with pytest.raises(BadParams, match="exists"):
        write_plots(found(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{NAMES[1]}.png"]
    write_plots(found(), tmp_path, overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadParams, match="is a file: --plots takes a folder"):
        write_plots(found(), tmp_path / "file")


def test_the_command_writes_them(tmp_path: Path, gangsaw: CommandLine) -> None:
    samples = ("ann", "ben", "cem")
    made = write_counts(tmp_path / "a.zarr", repertoires(1, 600, samples, pool=400), samples)
    share([str(made.path)], tmp_path / "a.parquet")
    command = ("tcr", "associate", made.path, tmp_path / "a.parquet", "--plots", tmp_path / "plots")
    gangsaw.ok(*command)
    assert len(list((tmp_path / "plots").iterdir())) == 4
    assert "exists" in gangsaw(*command).failed(2), "before hours of work, not after"
    gangsaw.ok(*command, "--overwrite")


def test_the_command_says_what_it_is_not_for(tmp_path: Path, gangsaw: CommandLine) -> None:
    samples = ("ann", "ben", "cem")
    made = write_counts(tmp_path / "a.zarr", repertoires(1, 600, samples, pool=400), samples)
    share([str(made.path)], tmp_path / "a.parquet")
    command = ("tcr", "associate", made.path, tmp_path / "a.parquet")
    first, *others = gangsaw.ok(*command).out.splitlines()
    assert first == f"caution: {CAUTION}"
    assert not any("contain each other" in line for line in others)
    assert CAUTION in gangsaw.ok(*command, "--json").figures["notes"]
