"""Warm-up runs of visibility jobs, which compile the kernels that a user's first job needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

if TYPE_CHECKING:
    from pyuvdata import UVData

N_TIMES, N_CHANNELS, N_ANTENNAS = 8, 64, 8
POLARIZATIONS = (-5, -6, -7, -8)  # AIPS's numbers of XX, YY, XY, YX


def _runs() -> tuple[FirstRun, ...]:
    """Return the warm-up runs: one round trip through a store per file format."""
    return (
        _file("MeasurementSet", "sky.ms", ("casacore", "pyuvdata")),
        _file("uvh5", "sky.uvh5", ("h5py", "pyuvdata")),
        _file("uvfits", "sky.uvfits", ("astropy", "pyuvdata")),
    )


def _file(name: str, file: str, needs: tuple[str, ...]) -> FirstRun:
    return FirstRun(
        name,
        lambda folder: _write(folder / file),
        (
            ("compress", file, "sky.zarr", "--workers", "0"),
            ("verify", "sky.zarr", "--workers", "0"),
            ("decompress", "sky.zarr", f"out-{file}", "--workers", "0"),
        ),
        needs,
    )


def _write(path: Path) -> None:
    """Write visibilities of noise with 10 % of flags by pyuvdata, in the format of the suffix."""
    from gangsaw.tasks.radio.libraries.quiet import silence_pyuvdata

    with silence_pyuvdata():
        sky = _make_uvdata()
        shape = sky.data_array.shape
        rng = np.random.default_rng(11)
        sky.data_array = rng.normal(size=(*shape, 2)).astype("f4").view("c8")[..., 0]
        sky.flag_array = rng.random(shape) < 0.1
        sky.nsample_array = np.ones(shape, "f4")
        write = {".ms": sky.write_ms, ".uvh5": sky.write_uvh5, ".uvfits": sky.write_uvfits}
        write[path.suffix](str(path), run_check=False)


def _make_uvdata() -> UVData:
    """Return a `UVData` object with all required metadata and empty data arrays."""
    from astropy.coordinates import EarthLocation
    from pyuvdata import Telescope, UVData

    telescope = Telescope.new(
        "made",
        location=EarthLocation.from_geodetic(21.4, -30.7, 1050.0),
        antenna_positions={i: np.array([30.0 * i, 10.0 * i * i, 0.0]) for i in range(N_ANTENNAS)},
        instrument="made",
        feeds=["x", "y"],
        x_orientation="east",
        mount_type="fixed",
    )
    middle = {"cat_name": "here", "cat_type": "sidereal", "cat_frame": "icrs", "cat_epoch": 2000.0}
    return UVData.new(
        freq_array=np.linspace(1e8, 1.2e8, N_CHANNELS),
        polarization_array=np.array(POLARIZATIONS),
        times=2458116.25 + np.arange(N_TIMES) * 8.0 / 86400,
        telescope=telescope,
        antpairs=[(i, j) for i in range(N_ANTENNAS) for j in range(i, N_ANTENNAS)],
        do_blt_outer=True,
        time_axis_faster_than_bls=False,
        integration_time=8.0,
        channel_width=2e7 / N_CHANNELS,
        phase_center_catalog={0: {**middle, "cat_lon": 1.0, "cat_lat": -0.5}},
        empty=True,
    )


FIRST_RUNS = FirstRuns(_runs())
