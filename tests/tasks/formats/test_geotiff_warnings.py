"""Images without a place on Earth: rasterio's warnings are not printed; wider samples are said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.tiff_files import tiff

import gangsaw

rasterio = pytest.importorskip("rasterio", reason="GeoTIFF needs the extra io")
pytest.importorskip("rioxarray", reason="GeoTIFF needs the extra io")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
]
PLAIN = {"transform": rasterio.Affine.identity(), "crs": None}


def test_a_plain_image_prints_no_warning(tmp_path: Path) -> None:
    source, store, back = tiff(tmp_path / "a.tif", **PLAIN), tmp_path / "a.zarr", tmp_path / "b.tif"
    lines = (
        "import gangsaw",
        f"gangsaw.compress({str(source)!r}, {str(store)!r})",
        f"assert gangsaw.verify({str(store)!r}, against={str(source)!r}).ok",
        f"gangsaw.decompress({str(store)!r}, {str(back)!r})",
    )
    words = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "NotGeoreferencedWarning" not in done.stderr
    assert back.exists()


def test_integers_of_two_parts_are_said_to_be_wider(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", dtype="complex_int16")
    summary = gangsaw.compress(str(source), tmp_path / "a.zarr")
    (note,) = (one for one in summary.notes if "complex_int16" in one)
    assert "complex64 in the store" in note
    assert gangsaw.open(tmp_path / "a.zarr")["data"].dtype == np.dtype("c8")
