"""Streams that other implementations wrote, with their images and parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import shared_folder

# The streams without a header are ours to describe: their bodies end on a four-byte word.
HEADERLESS_WORD = 4


@dataclass(frozen=True)
class Vector:
    """One stream.

    Attributes
    ----------
    stream, raw : files
    dtype, interleave, shape : layout of the raw file; shape is (z, y, x)
    has_header : False where the stream is a body alone
    choices : the encoder's choices, under the names of the standard's symbols
    """

    name: str
    stream: Path
    raw: Path
    dtype: str
    interleave: str
    shape: tuple[int, int, int]
    has_header: bool
    choices: dict[str, Any]

    @property
    def n_samples(self) -> int:
        """Samples of the image."""
        return int(np.prod(self.shape))

    def data(self) -> bytes:
        """Bytes of the stream."""
        return self.stream.read_bytes()

    def image(self) -> npt.NDArray[Any]:
        """Array (z, y, x) of the raw file."""
        axes = {"bsq": (0, 1, 2), "bil": (1, 0, 2), "bip": (1, 2, 0)}[self.interleave]
        on_disk = [self.shape[axis] for axis in axes]
        flat = np.fromfile(self.raw, self.dtype)
        return flat.reshape(on_disk).transpose(np.argsort(axes))


@cache
def vectors() -> tuple[Vector, ...]:
    """Every third-party stream; none where the data folder is absent."""
    folder = shared_folder() / "data" / "hyperspectral"
    if not (folder / "vectors.json").is_file():
        return ()
    entries = json.loads((folder / "vectors.json").read_text())
    return tuple(_vector(folder / entry["set"], entry) for entry in entries)


def vector_parameters(slow_above: int) -> list[Any]:
    """Parameters of a test over all streams; images of more samples than that are marked full."""
    if not vectors():
        absent = pytest.mark.skip(reason=f"no third-party streams in {shared_folder()}")
        return [pytest.param(None, id="absent", marks=absent)]
    slow = [pytest.mark.full]
    return [
        pytest.param(v, id=v.name, marks=slow if v.n_samples > slow_above else [])
        for v in vectors()
    ]


def _vector(folder: Path, entry: dict[str, Any]) -> Vector:
    choices = dict(entry["params"])
    choices.setdefault("D", entry.get("D"))
    choices.setdefault("signed", entry.get("signed"))
    endian = {"le": "<", "be": ">"}[entry.get("raw_endian", "le")]
    # the scenes of issue 1 are stored in 16 bits whatever their depth
    width = 2 if entry["set"] == "issue1" or choices["D"] > 8 else 1
    return Vector(
        name=entry["stream"],
        stream=folder / entry["stream"],
        raw=folder / entry["raw"],
        dtype=f"{endian}{'i' if choices['signed'] else 'u'}{width}",
        interleave=entry.get("raw_interleave", "bsq"),
        shape=tuple(entry["dims_zyx"]),
        has_header=entry.get("has_header", True),
        choices=choices,
    )
