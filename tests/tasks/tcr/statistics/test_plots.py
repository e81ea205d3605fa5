"""The plots of statistics: they show the figures, and nothing is cut off."""

from __future__ import annotations

import math
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
from gangsaw.tasks.tcr.statistics.associate import Association
from gangsaw.tasks.tcr.statistics.by_sharing import QUANTILES, Group
from gangsaw.tasks.tcr.statistics.deciles import Decile
from gangsaw.tasks.tcr.statistics.plots import (
    FEW,
    MAX_BOXES,
    NAMES,
    plot_deciles,
    plot_n2,
    plot_paths,
    write_plots,
)


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
    return Association(
        stores=("a.zarr",),
        table="t",
        nucleotypes=sum(counts),
        shared=sum(counts[1:]),
        individuals=n_groups,
        without_path=0,
        paths="all nu=10 pi=4",
        aucs=(),
        deciles=tenths(has_none=lowest == 0),
        odds=None,
        differences=(),
        correlations=(),
        generation=None,
        lasso=None,
        by_sharing=(*paths, *lengths),
        notes=(),
        seconds=1,
    )


def tenths(*, has_none: bool) -> tuple[Decile, ...]:
    """One without an interval, one without anything shared."""
    found = []
    for k in range(0 if has_none else 1, 11):
        share = 0.0 if k == 2 else 2**k / 2e4
        half = math.nan if k in (2, 3) else 2.0
        n = int(share * 20_000)
        found.append(
            Decile(k, 10**k, 2 * 10**k, 20_000, n, share, share / half, min(1, share * half))
        )
    return tuple(found)


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
    assert_within(plot_deciles(found(n_groups, lowest=0)))
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
    points = heights(axes, "none", is_ring=False)
    wanted = sorted(g.mean for g in found().by_sharing if g.column == "n2" and g.n > FEW)
    np.testing.assert_allclose(points, wanted)
    assert len(points) == 4
    assert "mean, 95 % interval" in axes.get_title(loc="left")
    assert axes.get_ylabel() == "N2 length, nt"


def heights(axes: Axes, face: str, *, is_ring: bool) -> list[float]:
    """Return where the points are that are rings, or that are not."""
    points = [
        line
        for line in axes.lines
        if line.get_marker() == "o" and (line.get_markerfacecolor() == face) == is_ring
    ]
    return sorted(float(y) for line in points for y in np.atleast_1d(line.get_ydata()))


def test_few_values_are_points_and_no_boxes() -> None:
    """Of one to three values the quantiles are these values; a box of them would be none."""
    values = {1: (7.0,), 2: (2.0, 9.0), 3: (1.0, 4.0, 6.0)}
    groups = [grouped("n2", 1, 50, (0, 1, 2, 3, 4))]
    for n, own in values.items():
        quantiles = np.quantile(own, QUANTILES, method="inverted_cdf")
        groups.append(grouped("n2", n + 1, n, quantiles.tolist()))
    whole = found(1)
    axes = assert_within(plot_n2(replace(whole, by_sharing=(whole.by_sharing[0], *groups))))
    assert heights(axes, "none", is_ring=True) == sorted(v for own in values.values() for v in own)
    assert len(axes.patches) == 1
    assert heights(axes, "none", is_ring=False) == [2]


def test_shares_are_drawn_with_their_intervals() -> None:
    axes = assert_within(plot_deciles(found(lowest=0)))
    assert axes.get_yscale() == "log"
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels[0].startswith("no path\n")
    assert len(labels) == 11
    drawn = heights(axes, "none", is_ring=False)
    wanted = sorted(each.share for each in tenths(has_none=True) if each.shared)
    np.testing.assert_allclose(drawn, wanted)
    assert heights(axes, "none", is_ring=True) == [axes.get_ylim()[0]]


def test_a_chain_without_d_has_one_junction() -> None:
    axes = assert_within(plot_n2(found(n2="ndn")))
    assert axes.get_ylabel() == "N length, nt"


@pytest.mark.full
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
    with pytest.raises(BadParams, match="is a file: --plots needs a folder"):
        write_plots(found(), tmp_path / "file")


@pytest.mark.full
def test_the_command_writes_them(tmp_path: Path, gangsaw: CommandLine) -> None:
    samples = ("ann", "ben", "cem")
    made = write_counts(tmp_path / "a.zarr", repertoires(1, 600, samples, pool=400), samples)
    share([str(made.path)], tmp_path / "a.parquet")
    command = ("tcr", "associate", made.path, tmp_path / "a.parquet", "--plots", tmp_path / "plots")
    gangsaw.ok(*command)
    assert len(list((tmp_path / "plots").iterdir())) == 6
    assert "exists" in gangsaw(*command).failed(2), "before hours of work, not after"
    gangsaw.ok(*command, "--overwrite")
