"""HDF5 files of visibilities: uvh5, and the layout of KAT-7 and MeerKAT (versions 2 and 3).

Both are read by h5py alone, in runs of rows, so a file may be larger than memory. Sources:
pyuvdata's memo on uvh5, and katdal's page on its file formats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.signatures import hdf5_start
from gangsaw.tasks.formats.hdf5.filters import missing_filter, open_hdf5
from gangsaw.tasks.formats.hdf5.virtual import check_virtual
from gangsaw.tasks.radio.hdf5.template import find_large_datasets, make_hdf5_template
from gangsaw.tasks.radio.hdf5.template_differences import compare_hdf5_templates
from gangsaw.tasks.radio.radio import (
    ALL,
    FREQUENCY,
    POLARIZATION,
    ColumnArray,
    RadioSource,
    RowsPart,
    VariableSelection,
    add_left_out,
    key_coordinates,
    make_source,
    select_variables,
)
from gangsaw.tasks.radio.rows import BASELINE, TIME, Rows, Run, map_rows_to_axes
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Coordinate, Region
from gangsaw.tasks.store.dataset.variables import SMALL
from gangsaw.tasks.store.objects.versions import version_of

MOST_PACKED = 1100  # largest ratio of decoded to stored bytes; Deflate reaches at most 1032
COMPLEX = "complex"  # axis of real and imaginary part if they are integers
UVH5_NAMES = {"Data/visdata": "VISIBILITY", "Data/flags": "FLAG", "Data/nsamples": "WEIGHT"}
UVH5_ROWS = {  # header items with one value per row, and their names in the store
    "Header/uvw_array": "UVW",
    "Header/integration_time": "integration_time",
    "Header/lst_array": "lst_array",
    "Header/phase_center_id_array": "phase_center_id_array",
    "Header/phase_center_app_ra": "phase_center_app_ra",
    "Header/phase_center_app_dec": "phase_center_app_dec",
    "Header/phase_center_frame_pa": "phase_center_frame_pa",
}
UVH5_KEYS = {  # items that vary along only one axis of a grid
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
        """Read the rows of a slice, with the slices `rest` of the other axes: (rows, ...)."""
        dataset = open_cached_file(self.path, self.version)[self.item]
        return _from_file(dataset, dataset[(run, *rest[: dataset.ndim - 1])], rest)


def read_whole(path: str, dataset: h5py.Dataset) -> NumpyArray:
    """Return all values of a small dataset; raise BadParams if it claims far more than is stored.

    HDF5 returns fill values for chunks that were never written, up to the extents of the header.
    """
    piece = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    if max(dataset.nbytes, piece) > max(SMALL, MOST_PACKED * stored):
        raise BadParams(
            f"{path}: {dataset.name.lstrip('/')} claims {dataset.size:,} values, of which the file "
            f"holds {stored:,} bytes: it is damaged, or was never written; copy it again"
        )
    return np.asarray(dataset[()])


def detect_layout(path: str) -> str | None:
    """Return "uvh5", "hdf5" for KAT's layout, or None for other HDF5 and for a damaged file."""
    absolute = str(Path(path).absolute())
    try:
        file = open_cached_file(absolute, version_of(absolute))
        if _is_uvh5(file):
            return "uvh5"
        return "hdf5" if "Data/correlator_data" in file else None
    except (OSError, KeyError, RuntimeError):
        return None


def _is_uvh5(file: h5py.File) -> bool:
    return "Data/visdata" in file and "Header/time_array" in file


def open_radio_hdf5(path: str, selection: VariableSelection = ALL) -> RadioSource:
    """Open a uvh5 or KAT file as a source; raise BadParams for other HDF5 and for a damaged file.

    It also raises BadParams if the datasets other than columns are too large to be copied whole,
    unless `selection` accepts the loss.
    """
    absolute = str(Path(path).absolute())
    if Path(absolute).is_file() and hdf5_start(absolute) is None:
        raise BadParams(f"{path} is no HDF5 file: leave --format out, or name its own")
    version = version_of(absolute)
    try:
        file = open_cached_file(absolute, version)
        if (kind := detect_layout(path)) is None:
            raise BadParams(f"{path} holds no visibilities as uvh5, KAT-7 and MeerKAT lay them out")
        check_virtual(path, file)
        _check_filters(path, file)
        opening = _Opening(path, absolute, version, file, selection)
        return select_variables((_uvh5 if kind == "uvh5" else _kat)(opening), selection.variables)
    except (OSError, KeyError, RuntimeError) as error:
        raise BadParams(f"{path} cannot be read: {_line(error)}") from error


def _check_filters(path: str, file: h5py.File) -> None:
    """Raise BadParams for a dataset whose filter is not installed."""

    def look(name: str, member: object) -> None:
        if isinstance(member, h5py.Dataset) and (reason := missing_filter(member)):
            raise BadParams(f"{path}: {name} {reason}")

    file.visititems(look)


def _line(error: Exception) -> str:
    return str(error).splitlines()[0]


@cache_open_files(8)
def open_cached_file(path: str, version: str) -> h5py.File:
    """Open a file for reading; `version` only distinguishes versions of it in the cache."""
    return open_hdf5(path)  # HERA's files use the Bitshuffle filter


@dataclass(frozen=True)
class _Opening:
    """Open HDF5 file of visibilities, of which a source is made.

    Attributes
    ----------
    name, path : path as given by the user, and the absolute path
    version : version of the file, so that a changed file is opened again
    file : the open file
    selection : the user's selection of variables
    """

    name: str
    path: str
    version: str
    file: h5py.File
    selection: VariableSelection

    def source(
        self, kind: str, columns: list[Hdf5Column], coords: list[Coordinate], emptied: set[str]
    ) -> RadioSource:
        """Return the source with these columns and coordinates, and the template.

        Datasets that are no columns and too large for the template are refused or left out.
        `emptied` are the datasets that the template has without samples.
        """
        lost = self.selection.without(self.name, find_large_datasets(self.file, emptied))
        template = (kind, make_hdf5_template(self.file, emptied, {one.name for one in lost}))
        parts = [RowsPart("", columns, coords)]
        return add_left_out(
            make_source(self.name, self.path, parts, template, compare_hdf5_templates), lost
        )

    def column(self, item: str, name: str, rows: Rows, dims: tuple[str, ...]) -> Hdf5Column:
        """Return the dataset `item` as a column with the name `name`."""
        return _column(self.file[item], name, rows, self.path, self.version, dims)


def _uvh5(of: _Opening) -> RadioSource:
    keys = {item: read_whole(of.name, of.file[item]) for item in UVH5_KEYS}
    rows = map_rows_to_axes(*keys.values())
    in_header = {i: n for i, n in UVH5_ROWS.items() if _has_rows(of.file.get(i), rows)}
    named = {**_data_names(of.file, rows), **in_header}
    channels = [*_channels(of.name, of.file)]
    extents = {c.name: c.values.size for c in channels}
    columns = [
        of.column(item, name, rows, rows.dims + _uvh5_dims(of.file[item], name, extents))
        for item, name in named.items()
    ]
    coords = [*key_coordinates(UVH5_KEYS, keys, rows, UNITS), *channels]
    return of.source("uvh5", columns, coords, {*named, *UVH5_KEYS})


def _data_names(file: h5py.File, rows: Rows) -> dict[str, str]:
    """Return dataset -> name in the store, for datasets with a number for each row.

    Unknown datasets keep their names.

    All other datasets are copied whole into the template.
    """
    items = (f"Data/{name}" for name, found in file["Data"].items() if _has_rows(found, rows))
    return {item: UVH5_NAMES.get(item, item.partition("/")[2]) for item in items}


def _has_rows(dataset: h5py.HLObject | None, rows: Rows) -> bool:
    if not isinstance(dataset, h5py.Dataset) or not dataset.shape:
        return False
    dtype = dataset.dtype["r"] if dataset.dtype.names == ("r", "i") else dataset.dtype
    return dataset.shape[0] == rows.n_rows and dtype.kind in "biufc"


def _uvh5_dims(dataset: h5py.Dataset, name: str, extents: Mapping[str, int]) -> tuple[str, ...]:
    """Return names of the axes of a cell: frequency and polarization if the extents match."""
    cell, own = dataset.shape[1:], (extents[FREQUENCY], extents[POLARIZATION])
    if name == "UVW" and cell == (3,):
        return ("uvw_label",)
    if cell == own:
        return (FREQUENCY, POLARIZATION)
    if cell == (1, *own):
        return ("spectral_window", FREQUENCY, POLARIZATION)  # axis of files before 2022
    return tuple(f"{name}_{i}" for i in range(len(cell)))


def _channels(path: str, file: h5py.File) -> Iterator[Coordinate]:
    """Yield frequencies and polarizations as coordinates; the template has them, too."""
    frequencies = read_whole(path, file["Header/freq_array"])
    yield Coordinate(FREQUENCY, (FREQUENCY,), np.ravel(frequencies), {"units": "Hz"})
    codes = read_whole(path, file["Header/polarization_array"]).tolist()
    names = [POLARIZATIONS.get(code, str(code)) for code in codes]
    yield Coordinate(POLARIZATION, (POLARIZATION,), np.array(names, np.dtypes.StringDType()))


def _kat(of: _Opening) -> RadioSource:
    file, visibilities = of.file, of.file["Data/correlator_data"]
    n_times = visibilities.shape[0]
    rows = Rows((TIME,), (n_times,), (TIME,))
    named = {item: n for item, n in KAT_NAMES.items() if _has_rows(file.get(item), rows)}
    if len(set(named.values())) < len(named):  # a name occurs in both Data and Markup
        named = {
            item: item.replace("/", "_") if "Markup" in item else named[item] for item in named
        }
    columns = [
        of.column(item, name, rows, _kat_dims(file[item], name, visibilities.shape))
        for item, name in named.items()
    ]
    has_times = _has_rows(file.get("Data/timestamps"), rows)
    stamps = [read_whole(of.name, file["Data/timestamps"])] if has_times else []
    coords = [
        Coordinate(TIME, (TIME,), values, {"units": "s", "format": "unix"}) for values in stamps
    ]
    return of.source("hdf5", columns, coords, set(named))


def _kat_dims(dataset: h5py.Dataset, name: str, extents: tuple[int, ...]) -> tuple[str, ...]:
    """Return names of a dataset's axes: those of visibilities, as long as the extents match."""
    shape = dataset.shape[: dataset.ndim - _has_pairs(dataset)]
    own = zip(shape, extents, KAT_DIMS, strict=False)
    known = [dim for n, extent, dim in own if n == extent]
    n = len(known) if known == list(KAT_DIMS[: len(known)]) else 1
    return KAT_DIMS[:n] + tuple(f"{name}_{i}" for i in range(len(shape) - n))


def _has_pairs(dataset: h5py.Dataset) -> bool:
    """Return True if the last axis is real and imaginary part, as float32 or float64."""
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
    """Convert rows of a column to the dtype of its dataset: the inverse of reading them."""
    values = np.ascontiguousarray(values)
    if _has_pairs(dataset):
        values = values.view(dataset.dtype.newbyteorder("=")).reshape(*values.shape, 2)
    elif dataset.dtype.names == ("r", "i"):
        values = values.astype(dataset.dtype["r"]).view(dataset.dtype)[..., 0]
    return values
