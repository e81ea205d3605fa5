"""What decoding a stream takes besides its samples, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gangsaw.codecs.ccsds123 import Params, encode_stream

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads peaks as Linux tells them")

MOST = 64_000_000
# A small image with the same parameters and bands first: what is compiled is no part of the peak.
DECODING = """
import sys
from gangsaw.codecs.ccsds123 import decode_stream

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

for path in sys.argv[1:]:
    with open(path, "rb") as file:
        stream = file.read()
    before = peak()
    image, _ = decode_stream(stream)
    print(peak() - before - image.nbytes)
"""
CODINGS = {
    "sample-bsq": Params(),
    "sample-bi": Params(order="bi", interleave_depth=7),
    "block-bsq": Params(coder="block"),
    "block-bi": Params(coder="block", order="bi"),
}
# few bands of many samples, many bands, and rows that no table of a row holds twice
SHAPES = [(1, 2048, 4096), (64, 256, 512), (200, 300, 140)]


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("coding", CODINGS)
def test_the_output_and_64_megabytes(
    tmp_path: Path, coding: str, shape: tuple[int, int, int]
) -> None:
    params, bands = CODINGS[coding], shape[0]
    for name, cube in (
        ("a", np.zeros((bands, 3, 5), np.uint16)),
        ("b", np.zeros(shape, np.uint16)),
    ):
        (tmp_path / name).write_bytes(encode_stream(cube, params))
    command = [sys.executable, "-c", DECODING, str(tmp_path / "a"), str(tmp_path / "b")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ran.stdout.split()[-1]) < MOST


@pytest.mark.full
@pytest.mark.parametrize("coding", CODINGS)
def test_half_a_gigabyte_of_zeros(tmp_path: Path, coding: str) -> None:
    test_the_output_and_64_megabytes(tmp_path, coding, (64, 2048, 2048))
