"""HDF5 files of visibilities: uvh5, and the layout of KAT-7 and MeerKAT (versions 2 and 3).

Both are read by h5py alone, run by run of rows, so a file may be larger than memory. Sources:
pyuvdata's memo on uvh5, and katdal's page on its file formats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import h5py
import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.virtual import check_virtual
from gangsaw.tasks.radio.hdf5_template import make_template
from gangsaw.tasks.radio.radio import (
    FREQUENCY,
    POLARIZATION,
    ColumnArray,
    RadioSource,
    RowsPart,
    key_coordinates,
    make_source,
)
from gangsaw.tasks.radio.rows import BASELINE, TIME, Rows, Run, find_rows
from gangsaw.tasks.radio.unlike import unlike_hdf5
from gangsaw.tasks.source import Coordinate, Region
from gangsaw.tasks.store.stamps import version_of
from gangsaw.tasks.store.variables import SMALL

MOST_PACKED = 1100  # bytes that one stored byte may stand for; Deflate gives at most 1032
COMPLEX = "complex"  # the axis of real and imaginary part where they are integers
UVH5_NAMES = {"Data/visdata": "VISIBILITY", "Data/flags": "FLAG", "Data/nsamples": "WEIGHT"}
UVH5_ROWS = {  # items of the header with a value per row, and their names in the store
    "Header/uvw_array": "UVW",
    "Header/integration_time": "integration_time",
    "Header/lst_array": "lst_array",
    "Header/phase_center_id_array": "phase_center_id_array",
    "Header/phase_center_app_ra": "phase_center_app_ra",
    "Header/phase_center_app_dec": "phase_center_app_dec",
    "Header/phase_center_frame_pa": "phase_center_frame_pa",
}
UVH5_KEYS = {  # items that vary along one axis of a grid only
    "Header/time_array": (TIME, TIME),
    "Header/ant_1_array": ("ANTENNA1", BASELINE),
    "Header/ant_2_array": ("ANTENNA2", BASELINE),
}
UNITS = {TIME: {"units": "d", "format": "jd", "scale": "utc"}, "UVW": {"units": "m"}}
KAT_NAMES = {
    "Data/correlator_data": "VISIBILITY",
    "Data/flags": "FLAG",
    "Markup/flags": "FLAG",
    "Data/weights": "WEIGHT",
    "Markup/weights": "WEIGHT",
    "Data/weights_channel": "WEIGHT_CHANNEL",
}
KAT_DIMS = (TIME, FREQUENCY, BASELINE)
POLARIZATIONS = dict(zip(range(1, 5), "IQUV", strict=True)) | dict(
    zip(range(-1, -9, -1), ("RR", "LL", "RL", "LR", "XX", "YY", "XY", "YX"), strict=True)
)


@dataclass(frozen=True)
class Hdf5Column(ColumnArray):
    """A dataset whose first axis is rows."""

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Return a run of rows."""
        dataset = opened(self.path, self.version)[self.item]
        return _from_file(dataset, dataset[(run, *rest[: dataset.ndim - 1])], rest)


def read_whole(path: str, dataset: h5py.Dataset) -> NumpyArray:
    """Return all of a small dataset; BadParams where it claims far more than the file holds of it.

    HDF5 gives fill values for what was never written, as many as the header claims.
    """
    piece = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    if max(dataset.nbytes, piece) > max(SMALL, MOST_PACKED * stored):
        raise BadParams(
            f"{path}: {dataset.name.lstrip('/')} claims {dataset.size:,} values, of which the file "
            f"holds {stored:,} bytes: it is damaged, or was never written; copy it again"
        )
    return np.asarray(dataset[()])


def kind_of(path: str) -> str | None:
    """Return "uvh5", "hdf5" for KAT's layout, or None for other HDF5 and for what is damaged."""
    absolute = str(Path(path).absolute())
    try:
        file = opened(absolute, version_of(absolute))
        if _is_uvh5(file):
            return "uvh5"
        return "hdf5" if "Data/correlator_data" in file else None
    except (OSError, KeyError, RuntimeError):
        return None


def _is_uvh5(file: h5py.File) -> bool:
    return "Data/visdata" in file and "Header/time_array" in file


def open_radio_hdf5(path: str) -> RadioSource:
    """Describe a uvh5 or KAT file; BadParams for other HDF5, and for a damaged one."""
    absolute = str(Path(path).absolute())
    version = version_of(absolute)
    try:
        file = opened(absolute, version)
        if (kind := kind_of(path)) is None:
            raise BadParams(f"{path} holds no visibilities as uvh5, KAT-7 and MeerKAT lay them out")
        check_virtual(path, file)
        return (_uvh5 if kind == "uvh5" else _kat)(path, absolute, version, file)
    except (OSError, KeyError, RuntimeError) as error:
        raise BadParams(f"{path} cannot be read: {_line(error)}") from error


def _line(error: Exception) -> str:
    text = str(error).splitlines()[0]
    return f"{text}: install hdf5plugin" if "filter" in text else text


@lru_cache(maxsize=8)
def opened(path: str, version: str) -> h5py.File:
    """Return the file, open for reading; `version` only distinguishes files."""
    with suppress(ImportError):
        import hdf5plugin  # noqa: F401 -- registers bitshuffle, which HERA's files use
    return h5py.File(path, "r")


def _uvh5(path: str, absolute: str, version: str, file: h5py.File) -> RadioSource:
    keys = {item: read_whole(path, file[item]) for item in UVH5_KEYS}
    rows = find_rows(*keys.values())
    named = {**_data_names(file, rows), **{i: n for i, n in UVH5_ROWS.items() if i in file}}
    columns = [
        _column(file[item], name, rows, absolute, version, _uvh5_dims(file[item], rows))
        for item, name in named.items()
    ]
    coords = [*key_coordinates(UVH5_KEYS, keys, rows, UNITS), *_channels(path, file)]
    template = make_template(file, {*named, *UVH5_KEYS})
    return make_source(
        path, absolute, [RowsPart("", columns, coords)], ("uvh5", template), unlike_hdf5
    )


def _data_names(file: h5py.File, rows: Rows) -> dict[str, str]:
    """Name the datasets with a value per row and channel; unknown ones keep their names."""
    items = (f"Data/{name}" for name, found in file["Data"].items() if _has_rows(found, rows))
    return {item: UVH5_NAMES.get(item, item.partition("/")[2]) for item in items}


def _has_rows(dataset: h5py.HLObject, rows: Rows) -> bool:
    is_dataset = isinstance(dataset, h5py.Dataset)
    return is_dataset and dataset.ndim > 0 and dataset.shape[0] == rows.n_rows


def _uvh5_dims(dataset: h5py.Dataset, rows: Rows) -> tuple[str, ...]:
    inner = {1: (), 2: ("uvw_label",), 3: (FREQUENCY, POLARIZATION)}
    inner[4] = ("spectral_window", FREQUENCY, POLARIZATION)  # of files before 2022
    return rows.dims + inner[dataset.ndim]


def _channels(path: str, file: h5py.File) -> Iterator[Coordinate]:
    """Frequencies and polarizations, for readers; the template holds them, too."""
    frequencies = read_whole(path, file["Header/freq_array"])
    yield Coordinate(FREQUENCY, (FREQUENCY,), np.ravel(frequencies), {"units": "Hz"})
    codes = read_whole(path, file["Header/polarization_array"]).tolist()
    names = [POLARIZATIONS.get(code, str(code)) for code in codes]
    yield Coordinate(POLARIZATION, (POLARIZATION,), np.array(names, np.dtypes.StringDType()))


def _kat(path: str, absolute: str, version: str, file: h5py.File) -> RadioSource:
    n_times = file["Data/correlator_data"].shape[0]
    rows = Rows((TIME,), (n_times,), (TIME,))
    named = {
        item: name
        for item, name in KAT_NAMES.items()
        if item in file and _has_rows(file[item], rows)
    }
    if len(set(named.values())) < len(named):  # both of Data and Markup
        named = {
            item: item.replace("/", "_") if "Markup" in item else named[item] for item in named
        }
    columns = [
        _column(file[item], name, rows, absolute, version, _kat_dims(file[item]))
        for item, name in named.items()
    ]
    stamps = [read_whole(path, file[item]) for item in ("Data/timestamps",) if item in file]
    coords = [
        Coordinate(TIME, (TIME,), values, {"units": "s", "format": "unix"}) for values in stamps
    ]
    template = make_template(file, set(named))
    return make_source(
        path, absolute, [RowsPart("", columns, coords)], ("hdf5", template), unlike_hdf5
    )


def _kat_dims(dataset: h5py.Dataset) -> tuple[str, ...]:
    rank = dataset.ndim - _has_pairs(dataset)
    return KAT_DIMS[:rank] + tuple(f"weight_{i}" for i in range(rank - len(KAT_DIMS)))


def _has_pairs(dataset: h5py.Dataset) -> bool:
    """Whether the last axis is real and imaginary part, as floats that complex numbers have."""
    is_data = dataset.name == "/Data/correlator_data" and dataset.shape[-1] == 2
    return bool(is_data and dataset.dtype.kind == "f" and dataset.dtype.itemsize in (4, 8))


def _column(
    dataset: h5py.Dataset,
    name: str,
    rows: Rows,
    path: str,
    version: str,
    dims: tuple[str, ...],
) -> Hdf5Column:
    item, shape, dtype = dataset.name.lstrip("/"), dataset.shape, dataset.dtype
    if _has_pairs(dataset):
        shape, dtype = shape[:-1], np.result_type(dtype, np.complex64)
    if dtype.names == ("r", "i"):
        shape, dtype, dims = (*shape, 2), dtype["r"], (*dims, COMPLEX)
    if dtype.kind not in "biufc":
        raise BadParams(f"{path}: {item} holds {dtype}, no numbers")
    return Hdf5Column(
        name=name,
        shape=rows.shape + shape[1:],
        dtype=dtype,
        dims=dims,
        chunks=None,
        attrs={**UNITS.get(name, {}), "item": item},
        path=path,
        item=item,
        rows=rows,
        version=version,
    )


def _from_file(dataset: h5py.Dataset, values: NumpyArray, rest: Region) -> NumpyArray:
    if _has_pairs(dataset):
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        values = values.view(np.result_type(values, np.complex64))[..., 0]
    elif dataset.dtype.names:
        values = values.view(dataset.dtype["r"]).reshape(*values.shape, 2)[..., rest[-1]]
    return values


def to_file(dataset: h5py.Dataset, values: NumpyArray) -> NumpyArray:
    """Return rows of an array as in its dataset: the inverse of reading a column."""
    values = np.ascontiguousarray(values)
    if _has_pairs(dataset):
        values = values.view(dataset.dtype.newbyteorder("=")).reshape(*values.shape, 2)
    elif dataset.dtype.names == ("r", "i"):
        values = values.astype(dataset.dtype["r"]).view(dataset.dtype)[..., 0]
    return values
