"""Sources for the tests of jobs: real raw files, and one that logs which chunks are read."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.formats.raw.source import RawSource, open_raw
from gangsaw.tasks.sources.source import Coordinate, Region

WAVELENGTHS = Coordinate("band", ("band",), np.linspace(400.0, 2500.0, 6), {"units": "nm"})


def cube(shape: tuple[int, ...], seed: int = 0) -> NDArray[np.uint16]:
    """A smooth image with noise; one corner is constant zero, the fill value."""
    rng = np.random.default_rng(seed)
    image = 500 + np.cumsum(rng.integers(-9, 10, shape), axis=-1)
    image[..., : shape[-1] // 3] = 0
    return image.clip(0, 4095).astype("<u2")


def raw_source(folder: Path, shape: tuple[int, int, int] = (6, 40, 50), seed: int = 0) -> RawSource:
    """Write a cube to a raw file; describe it."""
    path = folder / f"cube{seed}.raw"
    cube(shape, seed).tofile(path)
    return open_raw(str(path), shape, "<u2")


@dataclass(frozen=True)
class LoggedArray:
    """An array that writes each region it reads into a log, after an optional pause.

    Attributes
    ----------
    inner : what is read
    log : file; one line "pid start start ..." per read
    seconds : pause
    """

    inner: Any
    log: str
    seconds: float = 0.0
    name: str = "data"
    dims: tuple[str, ...] = ("band", "y", "x")
    chunks: tuple[int, ...] | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    fill_value: Any = None

    @property
    def path(self) -> str:
        return self.inner.path

    @property
    def shape(self) -> tuple[int, ...]:
        return self.inner.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.inner.dtype

    def read(self, region: Region) -> NDArray[Any]:
        line = " ".join(map(str, (os.getpid(), *(s.start for s in region))))
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{line}\n".encode())
        os.close(descriptor)
        time.sleep(self.seconds)
        return self.inner.read(region)


def logged(source: RawSource, log: Path, seconds: float = 0.0) -> RawSource:
    """The same source, with its reads in a log."""
    arrays = tuple(LoggedArray(array, str(log), seconds) for array in source.arrays)
    return RawSource(source.name, arrays, source.coords, source.attrs)  # type: ignore[arg-type]


def reads(log: Path) -> list[tuple[int, tuple[int, ...]]]:
    """(pid, starts of the region) of each read in the log."""
    lines = log.read_text().splitlines() if log.exists() else []
    numbers = [tuple(map(int, line.split())) for line in lines]
    return [(pid, tuple(starts)) for pid, *starts in numbers]


def objects(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative path; not its history, which tells when that was."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "history")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
