"""Kernels without Numba's private names: the same bytes, cached by Numba's own means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SWITCH = "GANGSAW_PRIVATE_NUMBA"
ROUND_TRIP = """
import numpy as np
from gangsaw.codecs.core.numba import private

taken = []
def noting(name):
    before = getattr(private, name)
    def noted(*args, **kws):
        taken.append(name)
        return before(*args, **kws)
    return noted
for name in ("set_cache", "set_load_hook", "cache_of", "stored_data", "exchanged_codegen"):
    setattr(private, name, noting(name))
def begun(library, *args):
    taken.append("BitcodeLibrary")
    super(private.BitcodeLibrary, library).__init__(*args)
private.BitcodeLibrary.__init__ = begun

from gangsaw.codecs.integers.codec import Integers
from gangsaw.codecs.integers.samples import samples

sample = samples()[0]
coder = Integers(**vars(sample.params)).coder(sample.array.shape, sample.array.dtype)
data, found = coder.encode(sample.array), np.empty_like(sample.array)
coder.decode(data, found)
assert np.array_equal(found, sample.array)
print(bytes(data).hex(), *sorted(set(taken)))
"""


def round_trip(folder: Path, used: str) -> list[str]:
    """Return the bytes of a chunk, and the private names that its kernels took."""
    settings = {SWITCH: used, "NUMBA_CACHE_DIR": str(folder), "GANGSAW_KERNELS": ""}
    command = [sys.executable, "-c", ROUND_TRIP]
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_round_trip_without_private_names(tmp_path: Path) -> None:
    data, *taken = round_trip(tmp_path / "with", "1")
    assert taken == ["BitcodeLibrary", "set_cache", "set_load_hook", "stored_data"]
    assert not list(tmp_path.rglob("*.nbi"))
    assert round_trip(tmp_path / "without", "0") == [data]
    assert list((tmp_path / "without").rglob("*.nbi"))  # Numba's own files
