"""Warm-up runs for images and other arrays, which compile the kernels that a first job needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

SHAPE = (96, 40, 48)  # bands, lines, columns


def _runs() -> tuple[FirstRun, ...]:
    """Return the warm-up runs: demos with few and many bands, a round trip per file format.

    Kernels are specialized for classes of band counts.
    """
    return (
        *(
            FirstRun(
                f"scene of {bands} bands",
                lambda _: None,
                (("demo", "--size", f"{bands},64,64", "--workers", "0", "--quiet"),),
            )
            for bands in (8, 96)
        ),
        _file("ENVI", _write_envi, "scene.hdr", "out.hdr"),
        _file(
            "raw samples",
            _write_raw,
            "scene.raw",
            "out.raw",
            ("--shape", ",".join(map(str, SHAPE)), "--dtype", "uint16"),
        ),
        _file("NetCDF", _write_netcdf, "field.nc", "out.nc", needs=("h5netcdf", "xarray")),
    )


def _file(
    name: str,
    make: Callable[[Path], None],
    source: str,
    target: str,
    options: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> FirstRun:
    """Return the warm-up run that compresses a file to a store, and decompresses this."""
    return FirstRun(
        name,
        make,
        (
            ("compress", source, "store.zarr", *options, "--workers", "0"),
            ("decompress", "store.zarr", target, "--workers", "0"),
        ),
        needs,
    )


def make_smooth_scene(dtype: str) -> NumpyArray:
    """Return a smooth scene with noise: (bands, lines, columns)."""
    rng = np.random.default_rng(8)
    steps = rng.normal(0, 3, SHAPE)
    values: NumpyArray = 2000 + steps.cumsum(0) + steps.cumsum(1) + steps.cumsum(2)
    return values.astype(dtype)


def _write_raw(folder: Path) -> None:
    """Write the samples of a scene without a header."""
    make_smooth_scene("<u2").tofile(folder / "scene.raw")


def _write_envi(folder: Path) -> None:
    """Write a scene as most sensors' files are: int16, interleaved by line."""
    bands, lines, columns = SHAPE
    (folder / "scene.hdr").write_text(
        f"ENVI\nsamples = {columns}\nlines = {lines}\nbands = {bands}\nheader offset = 0\n"
        "file type = ENVI Standard\ndata type = 2\ninterleave = bil\nbyte order = 0\n"
    )
    make_smooth_scene("<i2").transpose(1, 0, 2).tofile(folder / "scene.img")


def _write_netcdf(folder: Path) -> None:
    """Write a field of float32 and one of packed integers, with their coordinates."""
    import xarray as xr

    axes = ("time", "lat", "lon")
    data = xr.Dataset(
        {
            "t": (axes, np.divide(make_smooth_scene("f4"), 7)),
            "q": (axes, make_smooth_scene("f4").round()),
        },
        coords={
            "time": np.arange(SHAPE[0]),
            "lat": np.linspace(-9, 9, SHAPE[1]),
            "lon": np.linspace(0, 9, SHAPE[2]),
        },
    )
    encoding = {"q": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": np.int16(-1)}}
    data.to_netcdf(folder / "field.nc", engine="h5netcdf", encoding=encoding)


FIRST_RUNS = FirstRuns(_runs())
