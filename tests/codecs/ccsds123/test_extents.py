"""The largest extent, 65536, which a 16-bit field of the header codes as 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from gangsaw.codecs.ccsds123 import Params, decode_stream, encode_stream
from gangsaw.codecs.ccsds123.codec import Ccsds123
from gangsaw.codecs.core.errors import BadParams, CorruptChunk

MOST = 1 << 16
SHAPES = [(1, 1, MOST), (1, MOST, 1), (MOST, 1, 1), (2, 2, MOST), (2, MOST, 2)]
FIELDS = {2: slice(1, 3), 1: slice(3, 5), 0: slice(5, 7)}  # of NX, NY and NZ in the header
CHOICES = [
    pytest.param({}, id="lanes"),
    pytest.param({"order": "bi", "interleave_depth": MOST}, id="pixels"),
    pytest.param({"coder": "block"}, id="block"),
]


def ramp(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return (np.arange(np.prod(shape)) % 1000).astype(np.uint16).reshape(shape)


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("shape", SHAPES)
def test_streams_come_back(shape: tuple[int, int, int], choices: dict[str, Any]) -> None:
    image = ramp(shape)
    stream = encode_stream(image, Params(**choices))
    for axis, field in FIELDS.items():
        assert stream[field] == (shape[axis] % MOST).to_bytes(2, "big")
    decoded, said = decode_stream(stream)
    np.testing.assert_array_equal(decoded, image)
    assert encode_stream(decoded, said) == stream


@pytest.mark.parametrize("shape", SHAPES)
def test_store_blocks_come_back(shape: tuple[int, int, int], tmp_path: Path) -> None:
    image = ramp(shape)
    stored = zarr.create_array(
        tmp_path / "a.zarr",
        data=image,
        chunks=shape,
        serializer=Ccsds123(block=(0, 0, 0)),
        compressors=None,
    )
    np.testing.assert_array_equal(stored[...], image)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_more_is_refused(axis: int) -> None:
    shape = [1, 1, 1]
    shape[axis] = MOST + 1
    with pytest.raises(BadParams, match=r"must be in 1\.\.65536, got 65537"):
        encode_stream(np.zeros(shape, np.uint16), Params())


def test_zero_is_the_largest_extent_and_not_none() -> None:
    stream = bytearray(encode_stream(ramp((2, 3, 4)), Params()))
    stream[FIELDS[1]] = bytes(2)
    with pytest.raises(CorruptChunk, match="2 x 65536 x 4"):
        decode_stream(bytes(stream))
