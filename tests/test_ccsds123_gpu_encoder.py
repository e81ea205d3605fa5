"""The GPU encoder against the CPU's, byte for byte: on a device, or on emulated kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from ccsds123_setups import as_image
from emulator.host_module import schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.ccsds123 import Image, Params, cpu, gpu_encode
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from gangsaw.codecs.ccsds123.samples import FULL, noise, samples, scene
from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.errors import BadParams

Cube = npt.NDArray[Any]

# Each is a kernel of its own, with all else free.
KERNELS: tuple[dict[str, Any], ...] = (
    {"prediction_bands": 3, "local_sum": LOCAL_SUMS[0], "dtype": "u2", "n_bands": (4, 33, 70)},
    {"prediction_bands": 2, "local_sum": LOCAL_SUMS[1], "dtype": "i2", "n_bands": (3, 40), **FULL},
    {"prediction_bands": 15, "local_sum": LOCAL_SUMS[3], "dtype": "i4", "n_bands": (16, 34)},
)


def on_device(cupy: ModuleType, x: Cube) -> Any:
    """Return x in device memory, with its axes in the same order of memory."""
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    swapped = x.dtype.newbyteorder("=")
    device = cupy.asarray(np.ascontiguousarray(x.transpose(order)).view(swapped)).view(x.dtype)
    return device.transpose(np.argsort(order).tolist())


def assert_same(cupy: ModuleType, sources: Sequence[Any], params: Params) -> Blocks:
    expected = cpu.encode([source.get() for source in sources], params)
    coded = gpu_encode.encode(sources, params)
    for part, right in zip(coded.parts, expected.parts, strict=True):
        np.testing.assert_array_equal(part, right)
    np.testing.assert_array_equal(coded.lane_bits, expected.lane_bits)
    return coded


@pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in samples()])
def test_equals_cpu(cupy: ModuleType, sample: Any) -> None:
    x = as_image(sample.array, sample.params)
    assert_same(cupy, [on_device(cupy, x)], sample.params)
