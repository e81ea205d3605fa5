"""Damage to the metadata of Zarr stores, versions 2 and 3: info, verify, and reading."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import zarr

import gangsaw
from fuzz.codecs import Attempt
from fuzz.damage import Rng, damaged_json
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source

DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
MOST_READ = 1 << 16  # bytes: chunks may be of one sample each


def targets() -> dict[str, Callable[[], Attempt]]:
    """Return what makes an attempt at each, by name."""
    return {
        "metadata-zarr2": lambda: _of(_zarr2),
        "metadata-zarr3": lambda: _of(_zarr3),
        "metadata-own": lambda: _of(_own),
    }


def _zarr2(place: Path) -> None:
    group = zarr.create_group(place, zarr_format=2, attributes={"title": "made"})
    group.create_array("cube", data=np.arange(60, dtype="i2").reshape(3, 4, 5), chunks=(2, 2, 5))
    zarr.consolidate_metadata(place)


def _zarr3(place: Path) -> None:
    group = zarr.create_group(place, attributes={"title": "made"})
    group.create_array(
        "cube", data=np.arange(60, dtype="u2").reshape(3, 4, 5), chunks=(1, 2, 5), shards=(3, 4, 5)
    )


def _own(place: Path) -> None:
    raw = place.with_name("in.raw")
    np.arange(64, dtype="<u2").tofile(raw)
    gangsaw.compress(raw, place, shape=(4, 4, 4), dtype="uint16")


def _of(make: Callable[[Path], None]) -> Attempt:
    folder = tempfile.TemporaryDirectory()
    whole, place = Path(folder.name) / "whole.zarr", Path(folder.name) / "a.zarr"
    make(whole)
    documents = [path.relative_to(whole) for path in whole.rglob("*") if path.name in DOCUMENTS]

    def attempt(rng: Rng, _: object = folder) -> object:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        document = place / sorted(documents)[rng.integers(len(documents))]
        said = damaged_json(json.loads(document.read_text()), rng)
        text = json.dumps(said)
        document.write_text(text[: int(rng.integers(len(text)))] if rng.random() < 0.05 else text)
        return ASKED[rng.integers(len(ASKED))](place)

    return attempt


def read_all(path: Path | str, options: SourceOptions | None = None) -> None:
    """Open a source and read what is small of its arrays."""
    for array in open_source(str(path), options).arrays:
        if 0 < np.prod([float(n) for n in array.shape]) * array.dtype.itemsize <= MOST_READ:
            array.read(tuple(slice(0, n) for n in array.shape))


ASKED: tuple[Callable[[Path], object], ...] = (read_all, read_all, gangsaw.info, gangsaw.verify)
