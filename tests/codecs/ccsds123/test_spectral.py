"""The spectral axis of arrays whose axes have no names."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.ccsds123.selection import CAPABILITIES
from gangsaw.codecs.ccsds123.spectral import spectral_axes
from gangsaw.codecs.core.axes import named_axis
from gangsaw.codecs.core.plugins.selection import ArrayFacts

NAMELESS = ("phony_dim_0", "phony_dim_1", "phony_dim_2")


def scene() -> Any:
    """(bands, rows, columns): ground of fine texture, one spectrum for each of three materials."""
    rng = np.random.default_rng(5)
    spectra = np.cumsum(rng.normal(0, 20, (40, 3)), axis=0) + 900
    shares = rng.dirichlet(np.ones(3), (50, 60))
    return (np.einsum("bm,yxm->byx", spectra, shares) + rng.normal(0, 2, (40, 50, 60))).astype("u2")


def facts(samples: Any, dims: tuple[str, ...] = NAMELESS) -> ArrayFacts:
    return ArrayFacts("a", samples.shape, samples.dtype, dims, cube=lambda: samples)


@pytest.mark.parametrize("order", list(permutations("zyx")))
def test_a_sample_tells_the_spectral_axis(order: tuple[str, ...]) -> None:
    samples = scene().transpose(["zyx".index(axis) for axis in order])
    found = spectral_axes(facts(samples))
    assert found.index("z") == order.index("z")
    parameters = CAPABILITIES.parameters(facts(samples), samples.shape)
    assert parameters["axes"] == found
    least = CAPABILITIES.least_chunks(facts(samples))
    if order[0] == "z":
        assert least is None  # the rule for images by position is right
    else:
        assert least is not None
        assert least[order.index("z")] == 1024


def test_names_go_before_a_sample() -> None:
    samples = scene().transpose(1, 0, 2)
    assert spectral_axes(facts(samples, ("band", "y", "x"))) == "zyx"
    assert spectral_axes(facts(samples, ("time", "y", "x"))) == "zyx"


@pytest.mark.parametrize(
    "samples",
    [np.zeros((9, 9, 9), "i2"), np.random.default_rng(1).integers(0, 1 << 16, (20, 20, 20), "u2")],
)
def test_where_a_sample_says_nothing_the_place_does(samples: Any) -> None:
    assert spectral_axes(facts(samples)) == "zyx"


def test_without_samples_the_place_decides() -> None:
    assert spectral_axes(replace(facts(scene()), cube=None)) == "zyx"
    assert spectral_axes(facts(np.zeros((4, 5), "u2"), NAMELESS[:2])) == "zyx"


@pytest.mark.parametrize(
    ("dims", "axis"),
    [
        (("number_of_lines", "pixels_per_line", "wavelength_3d"), 2),
        (("blue_bands", "number_of_scans", "ccd_pixels"), 0),
        (("downtrack", "crosstrack", "bands"), 2),
        (("lat", "depth", "lon"), 1),
        (NAMELESS, None),
        (("a", "y", "b"), None),
        (("y", "x"), None),
    ],
)
def test_words_of_names_tell_the_axis(dims: tuple[str, ...], axis: int | None) -> None:
    assert named_axis(dims) == axis
