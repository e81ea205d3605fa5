"""Plots of the visibility page, from its rows alone, so that page and plots never differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from table import Row

from gangsaw.plots import ACCENT, INK, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Sections = Mapping[str, Sequence[Row]]
TEAL, SAND = "#2f6f73", "#c9a227"
OURS = {"dense": ACCENT, "fast": TEAL}
PREFIXES, BLOCKS = "prefix sums", "independent blocks"
NAMED = ("pcodec level 8, time fastest", "blosc2 shuffle4+zstd1", "blosc2 bitshuffle8+lz4", "gzip -6")
SPEEDS = "Visibilities: speed"  # titles of sections
RATIOS = "Visibilities: ratio beside the peers"
PAPER = "Visibilities: the founding paper's questions"
PACKING = "Visibilities: prefix sums against independent blocks"


def draw(sections: Sections) -> Iterator[tuple[str, Figure]]:
    """Yield names and figures of what the sections hold."""
    for name, needed, plot in _PLOTS:
        if all(title in sections for title in needed):
            yield name, plot(*(sections[title] for title in needed))
