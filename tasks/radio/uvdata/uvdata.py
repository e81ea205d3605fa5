"""Uvfits files and miriad folders, read by pyuvdata.

For miriad, and for uvfits whose groups are not plain float32, the store has pyuvdata's uvh5 header.
For other uvfits, all columns are read from the file itself; pyuvdata provides times, antennas and
frequencies.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.radio.hdf5.hdf5 import UVH5_ROWS, open_radio_hdf5
from gangsaw.tasks.radio.libraries.quiet import AS_IT_IS, silence_pyuvdata
from gangsaw.tasks.radio.radio import (
    ALL,
    FREQUENCY,
    POLARIZATION,
    ColumnArray,
    RadioSource,
    RowsPart,
    VariableSelection,
    add_left_out,
    describe_error,
    make_source,
    select_variables,
)
from gangsaw.tasks.radio.rows import TIME, Run
from gangsaw.tasks.radio.uvdata.fits_sizes import CARD, check_fits_headers
from gangsaw.tasks.radio.uvdata.losses import lost_of_miriad, lost_of_uvfits
from gangsaw.tasks.radio.uvdata.uvfits import (
    WEIGHT,
    RandomGroups,
    compare_uvfits_templates,
    conjugate,
    find_groups,
    make_uvfits_template,
)
from gangsaw.tasks.radio.uvdata.uvfits import find_columns as group_columns
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.objects.versions import version_of

if TYPE_CHECKING:
    from astropy.io import fits
    from pyuvdata import UVData

MIRIAD = f"""
import sys
from pyuvdata import UVData
UVData().read(sys.argv[1], file_type="miriad", **{AS_IT_IS})
"""
READABLE = (TIME, "ANTENNA1", "ANTENNA2", FREQUENCY, POLARIZATION)


class RowReader(Protocol):
    """Interface of a column that is indexed by a slice of rows: an array, or `_Groups`."""

    def __getitem__(self, run: Run, /) -> NumpyArray:
        """Return the rows of a slice."""


@dataclass(frozen=True)
class UvdataColumn(ColumnArray):
    """A column of a file that pyuvdata has opened."""

    format: str

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Read the rows of a slice, with the slices `rest` of the other axes: (rows, ...)."""
        column = _columns(self.path, self.format, self.version)[self.item]
        return np.asarray(column[run][(slice(None), *rest)])


def is_miriad(folder: Path) -> bool:
    """Return True if the folder has the items of a miriad data set."""
    return all((folder / name).is_file() for name in ("visdata", "vartable", "header"))


def open_miriad(path: str, selection: VariableSelection = ALL) -> RadioSource:
    """Open a miriad folder, which is read whole; raise BadParams if pyuvdata cannot read it.

    It also raises BadParams for items that pyuvdata drops, unless `selection` accepts the loss.
    """
    found = _open(path, "miriad")
    keywords = _described(found.path, "miriad", version_of(found.path)).extra_keywords
    lost = selection.without(path, [*lost_of_miriad(path, keywords)])
    return select_variables(add_left_out(found, lost), selection.variables)


def open_uvfits(path: str, selection: VariableSelection = ALL) -> RadioSource:
    """Open a uvfits file; raise BadParams for other FITS, and if pyuvdata cannot read it.

    It also raises BadParams for items that pyuvdata drops from groups that are not plain float32,
    unless `selection` accepts the loss.
    """
    with Path(path).open("rb") as file:
        header = file.read(36 * CARD)
    cards = [header[at : at + CARD].split() for at in range(0, len(header), CARD)]
    if not any(card[:3] in ([b"GROUPS", b"=", b"T"], [b"GROUPS=", b"T"]) for card in cards):
        raise BadParams(f"{path} is FITS but not uvfits: it has no random groups")
    check_fits_headers(path)
    absolute = str(Path(path).absolute())
    with _read_errors(path):
        groups = find_groups(absolute)
    found = _open(path, "uvfits")
    if groups is not None:
        return select_variables(_with_groups(found, groups), selection.variables)
    lost = selection.without(path, [*lost_of_uvfits(absolute)])
    return select_variables(add_left_out(found, lost), selection.variables)


def _with_groups(found: RadioSource, groups: RandomGroups) -> RadioSource:
    """Return the source with the columns of its groups; times and antennas come from pyuvdata."""
    coords = [
        replace(c, attrs={k: v for k, v in c.attrs.items() if k != "item"})
        for c in found.coords
        if c.name in READABLE
    ]
    rows, version = found.arrays[0].rows, found.arrays[0].version
    columns = group_columns(found.path, version, groups, rows, {c.name for c in coords})
    template = ("uvfits", make_uvfits_template(found.path, groups))
    return make_source(
        found.name,
        found.path,
        [RowsPart("", list(columns), coords)],
        template,
        compare_uvfits_templates,
    )


def _open(path: str, kind: str) -> RadioSource:
    absolute = str(Path(path).absolute())
    version = version_of(absolute)
    with _read_errors(path), TemporaryDirectory() as folder:
        header = Path(folder) / "header.uvh5"
        # uvfits and pyuvdata's visibilities of miriad have single precision
        _described(absolute, kind, version).initialize_uvh5_file(
            str(header), clobber=True, data_write_dtype="c8"
        )
        found = open_radio_hdf5(str(header))
        whole = kind == "miriad"
        arrays = tuple(_column(array, absolute, kind, version, whole) for array in found.arrays)
    return replace(found, name=path, path=absolute, arrays=arrays)


def _column(found: ColumnArray, path: str, kind: str, version: str, whole: bool) -> UvdataColumn:
    fields = {**vars(found), "path": path, "version": version, "format": kind}
    return UvdataColumn(**{**fields, "chunks": found.shape if whole else None})


def _check_miriad(path: str) -> None:
    """Raise BadParams for a miriad folder that cannot be read completely.

    The library ends the process at a damaged folder, so a separate process reads it first.
    """
    command = [sys.executable, "-c", MIRIAD, path]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if ran.returncode:
        said = [line.strip("# ") for line in ran.stderr.splitlines() if line.strip()]
        raise BadParams(f"{path} cannot be read: {said[-1] if said else ran.returncode}")


@lru_cache(maxsize=2)
def _described(path: str, kind: str, version: str) -> UVData:
    """Return the `UVData` object of a file: metadata of uvfits, all data of miriad.

    pyuvdata cannot read only the metadata of miriad.
    """
    from pyuvdata import UVData

    if kind == "miriad":
        _check_miriad(path)
    uvdata = UVData()
    some = {} if kind == "miriad" else {"read_data": False}
    uvdata.read(path, file_type=kind, **some, **AS_IT_IS)
    return uvdata


@lru_cache(maxsize=2)
def _columns(path: str, kind: str, version: str) -> Mapping[str, RowReader]:
    with _read_errors(path):
        uvdata = _described(path, kind, version)
        names: dict[str, RowReader] = {
            item: getattr(uvdata, item.rpartition("/")[2])
            for item in UVH5_ROWS
            if getattr(uvdata, item.rpartition("/")[2]) is not None
        }
        if kind == "uvfits":
            return {**names, **_groups(path)}
        return {
            **names,
            "Data/visdata": uvdata.data_array.astype("c8", copy=False),
            "Data/flags": uvdata.flag_array,
            "Data/nsamples": uvdata.nsample_array.astype("f4"),  # the dtype of uvh5
        }


def _groups(path: str) -> dict[str, RowReader]:
    """Return visibilities, flags and samples of uvfits random groups of (re, im, weight)."""
    from astropy.io import fits

    with fits.open(path, memmap=True) as file:
        groups = file[0].data  # still mapped after the file is closed
    pick = {
        "visdata": lambda cells: conjugate(cells[..., :WEIGHT]),
        "flags": lambda cells: cells[..., WEIGHT] <= 0,
        "nsamples": lambda cells: np.abs(cells[..., WEIGHT]),
    }
    return {f"Data/{name}": _Groups(groups, of) for name, of in pick.items()}


class _Groups:
    """Column of uvfits random groups, computed by `of` from the samples of the requested rows."""

    def __init__(
        self, groups: fits.GroupData, of: Callable[[NDArray[np.float32]], NumpyArray]
    ) -> None:
        self.groups, self.of = groups, of

    def __getitem__(self, run: Run) -> NumpyArray:
        cells = np.asarray(self.groups.field("DATA")[run], np.float32)
        # (rows, dec, ra[, spw], frequency, polarization, 3)
        return np.asarray(self.of(cells.reshape(cells.shape[0], -1, *cells.shape[-2:])))


@contextmanager
def _read_errors(path: str) -> Iterator[None]:
    """Raise BadParams with one line of pyuvdata's message for a file that it cannot read."""
    try:
        with extras_named(path), silence_pyuvdata():
            yield
    except BadParams:
        raise
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, IndexError) as error:
        raise BadParams(f"{path} cannot be read: {describe_error(error)}") from error
