"""Backends are looked up by where an array lives."""

from __future__ import annotations

import numpy as np
import pytest

from gangsaw.codecs.core import device
from gangsaw.codecs.core.errors import BadParams


def on_a_gpu() -> object:
    """An array that says it is CuPy's, as far as the look-up can see."""
    return type("ndarray", (), {"__module__": "cupy", "get": lambda self: np.arange(3)})()


def test_numpy_and_its_subclasses_are_on_the_cpu(tmp_path: object) -> None:
    mapped = np.memmap(f"{tmp_path}/x", "u1", "w+", shape=3)
    own = np.zeros(3).view(type("Mine", (np.ndarray,), {}))
    for array in (np.zeros(3), np.ma.zeros(3), mapped, own):
        assert device.backend(array, "plain_codec").__name__ == "plain_codec.cpu"


def test_a_missing_backend_says_what_to_do() -> None:
    with pytest.raises(BadParams, match="plain_codec has no gpu backend yet: pass NumPy arrays"):
        device.backend(on_a_gpu(), "plain_codec")


def test_what_is_no_array() -> None:
    with pytest.raises(BadParams, match="list is no array of numpy or cupy"):
        device.backend([1, 2], "plain_codec")


def test_to_host() -> None:
    here = np.arange(3)
    assert device.to_host(here) is here
    np.testing.assert_array_equal(device.to_host(on_a_gpu()), here)
