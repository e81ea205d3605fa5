"""Small files of visibilities, made by pyuvdata and casacore themselves, of any bit patterns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.radio.libraries.quiet import silence_pyuvdata

SPECIAL = np.array([0x7FC00001, 0xFFC12345, 0x80000000, 0x00000001, 0x7F800000, 0xFF800000], "u4")


def noise(shape: tuple[int, ...], seed: int, dtype: str = "c8") -> NDArray[Any]:
    """Noise with NaN payloads, -0.0, a denormal and infinities at its start, of complex `dtype`."""
    generator = np.random.default_rng(seed)
    pairs = generator.normal(size=(*shape, 2)).astype("f4")
    pairs.reshape(-1)[: len(SPECIAL)] = SPECIAL.view("f4")
    return pairs.view("c8")[..., 0].astype(dtype)


def make_uvdata(
    *,
    times: int = 5,
    antennas: int = 4,
    channels: int = 16,
    dtype: str = "c8",
    ragged: bool = False,
    special: bool = True,
) -> Any:
    """Return pyuvdata's object, phased, with random visibilities, flags and samples."""
    from astropy.coordinates import EarthLocation
    from pyuvdata import Telescope, UVData

    places = {i: np.array([30.0 * i, 10.0 * i * i, 0.0]) for i in range(antennas)}
    site = EarthLocation.from_geodetic(21.4, -30.7, 1050.0)
    with silence_pyuvdata():
        telescope = Telescope.new(
            "made",
            location=site,
            antenna_positions=places,
            instrument="made",
            feeds=["x", "y"],
            x_orientation="east",
            mount_type="fixed",
        )
        uvdata = UVData.new(
            freq_array=np.linspace(1e8, 1.2e8, channels),
            polarization_array=np.array([-5, -6, -7, -8]),
            times=2458116.25 + np.arange(times) * 10.7 / 86400,
            telescope=telescope,
            antpairs=[(i, j) for i in range(antennas) for j in range(i, antennas)],
            do_blt_outer=True,
            time_axis_faster_than_bls=False,
            integration_time=10.7,
            channel_width=2e7 / channels,
            history="made for a test",
            extra_keywords={"OBSID": 42, "NOTE": "kept"},
            phase_center_catalog={
                0: {
                    "cat_name": "here",
                    "cat_type": "sidereal",
                    "cat_lon": 1.0,
                    "cat_lat": -0.5,
                    "cat_frame": "icrs",
                    "cat_epoch": 2000.0,
                }
            },
            empty=True,
        )
        if ragged:
            uvdata.select(blt_inds=np.delete(np.arange(uvdata.Nblts), [3, 8]))
    shape = (uvdata.Nblts, uvdata.Nfreqs, uvdata.Npols)
    generator = np.random.default_rng(3)
    uvdata.data_array = noise(shape, 1, dtype)
    if not special:
        uvdata.data_array.reshape(-1)[: len(SPECIAL)] = 1 - 2j
    uvdata.flag_array = generator.random(shape) < 0.1
    uvdata.nsample_array = generator.integers(1, 4, shape).astype("f4")
    uvdata.scan_number_array = np.ones(uvdata.Nblts, int)
    return uvdata


def write(path: Path, **options: Any) -> Path:
    """Write such a file in the format of its suffix: .uvh5, .ms or .uvfits."""
    uvdata = make_uvdata(**options)
    return write_as(uvdata, path)


def write_as(uvdata: Any, path: Path) -> Path:
    """Write pyuvdata's object in the format of the suffix."""
    with silence_pyuvdata(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix == ".uvh5":
            uvdata.write_uvh5(str(path), run_check=False)
        elif path.suffix == ".ms":
            uvdata.write_ms(str(path), run_check=False)
        elif path.suffix == ".uvfits":
            uvdata.write_uvfits(str(path), run_check=False)
        else:
            uvdata.write_miriad(str(path), run_check=False)
    return path


def kat_file(path: Path, version: str = "3") -> Path:
    """An HDF5 file as the correlators of KAT-7 ("2") and MeerKAT ("3") lay it out."""
    pairs = noise((6, 8, 5), 11).view("f4").reshape(6, 8, 5, 2)
    with h5py.File(path, "w") as file:
        file.attrs["version"] = f"{version}.0"
        data = file.create_group("Data")
        data.create_dataset("correlator_data", data=pairs, chunks=(1, 8, 5, 2))
        data["timestamps"] = 1.4e9 + np.arange(6.0)
        where = data if version == "3" else file.create_group("Markup")
        flags = np.random.default_rng(5).integers(0, 4, (6, 8, 5), dtype="u1")
        where.create_dataset("flags", data=flags, compression="gzip", chunks=(2, 8, 5))
        if version == "3":
            data["weights"], data["weights_channel"] = flags[::-1], np.ones((6, 8), "f4")
        sensor = np.array([(1.5, b"slew", b"nominal")], "f8,S8,S8")
        file["MetaData/Sensors/activity"] = sensor
        file["MetaData/Configuration"] = h5py.Empty("f4")
        file["MetaData/Configuration"].attrs["bls_ordering"] = np.array([[b"ant1h", b"ant2h"]] * 5)
    return path


def scaled_uvfits(path: Path) -> Path:
    """Write a uvfits file that holds no plain single floats."""
    from astropy.io import fits

    write(path, special=False)
    with fits.open(path) as file:
        groups = file[0]
        names = list(groups.data.parnames)
        pars = [groups.data.par(i) for i in range(len(names))]
        made = fits.GroupData(groups.data.data, bitpix=-64, parnames=names, pardata=pars)
        header = groups.header.copy()
        header["BITPIX"] = -64
        for i in range(1, len(names) + 1):
            header[f"PSCAL{i}"], header[f"PZERO{i}"] = 1.0, 0.0
        rest = [fits.GroupsHDU(made, header), *(hdu.copy() for hdu in file[1:])]
        fits.HDUList(rest).writeto(path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)
    return path


def main_table(path: Path) -> dict[str, NDArray[Any]]:
    """Return every column of a MeasurementSet that has values, sorted by time and baseline."""
    from casacore.tables import table

    with table(str(path), ack=False) as main:
        names = [n for n in main.colnames() if main.isscalarcol(n) or main.iscelldefined(n, 0)]
        columns = {name: np.asarray(main.getcol(name)) for name in names}
    order = np.lexsort((columns["ANTENNA2"], columns["ANTENNA1"], columns["TIME"]))
    return {name: values[order] for name, values in columns.items()}


def cells(path: Path) -> dict[str, list[object]]:
    """Return every cell of the main table with its type, as bytes or text; None for those unset."""
    from casacore.tables import table

    def plain(value: Any) -> object:
        if isinstance(value, np.ndarray):
            return (value.shape, value.dtype.str, value.tobytes())
        return repr(value)

    with table(str(path), ack=False) as main:
        return {
            name: [
                plain(main.getcell(name, row))
                if main.isscalarcol(name) or main.iscelldefined(name, row)
                else None
                for row in range(main.nrows())
            ]
            for name in main.colnames()
        }


def subtables(path: Path) -> dict[str, dict[str, Any]]:
    """Return every cell of the subtables of a MeasurementSet."""
    from casacore.tables import table

    found = {}
    for folder in sorted(p.parent for p in path.glob("*/table.dat")):
        with table(str(folder), ack=False) as sub:
            found[folder.name] = {
                name: [
                    sub.getcell(name, row) if sub.iscelldefined(name, row) else None
                    for row in range(sub.nrows())
                ]
                for name in sub.colnames()
            }
    return found


def items(path: Path) -> dict[str, Any]:
    """Return type, layout, attributes and bytes of everything in an HDF5 file."""
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        attrs = {key: np.asarray(value).tobytes() for key, value in item.attrs.items()}
        found[name] = (type(item).__name__, attrs)
        if isinstance(item, h5py.Dataset):
            filters = (item.chunks, item.compression, item.compression_opts, item.shuffle)
            value = item[()] if item.shape is not None else None
            is_plain = hasattr(value, "tobytes") and not item.dtype.hasobject
            as_bytes = value.tobytes() if is_plain else repr(value)
            found[name] += (item.shape, item.dtype, filters, as_bytes)

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)
    return found


def same_bits(a: Any, b: Any) -> bool:
    """Whether type, shape and every bit are equal."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
