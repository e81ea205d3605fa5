"""Independent reader of uvfits: random groups by astropy, times and antennas by pyuvdata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.radio.independent_readers.row_numbers import RowNumbers
from gangsaw.tasks.radio.independent_readers.selection import select_arrays
from gangsaw.tasks.radio.independent_readers.uvdata_arrays import (
    key_arrays,
    open_uvdata_reader,
    read_row_numbers,
)
from gangsaw.tasks.sources.source import Described, Region, SourceArray

if TYPE_CHECKING:
    from astropy.io import fits

SAMPLES = ("VISIBILITY", "WEIGHT", "FLAG")
COORDINATES = ("time", "ANTENNA1", "ANTENNA2", "frequency", "polarization")
BASELINE = ("UU", "VV", "WW")


@dataclass(frozen=True, kw_only=True)
class FieldOfGroups(Described):
    """Parameters of the groups, or an array computed from their samples.

    Attributes
    ----------
    path : path of the file
    fields : numbers of the parameters; empty for the samples
    row_numbers : mapping of times and baselines to groups
    """

    path: str
    fields: tuple[int, ...]
    row_numbers: RowNumbers

    def read(self, region: Region) -> NumpyArray:
        """Return the values of a region of the array."""
        n = len(self.row_numbers.shape)
        groups = _raw(self.path)
        values = self.row_numbers.read(lambda *run: self._values(groups, *run), region[:n])
        return values[(slice(None),) * n + region[n:]]

    def _values(self, groups: NDArray[np.void], first: int, n: int) -> NumpyArray:
        names, run = groups.dtype.names or (), slice(first, first + n)
        if self.fields:
            found = np.stack([groups[names[field]][run] for field in self.fields], axis=-1)
            return found.astype("f4") if self.shape[len(self.row_numbers.shape) :] else found[:, 0]
        cells = groups[names[-1]][run]
        cells = cells.reshape(n, -1, *cells.shape[-2:]).astype("f4")
        if self.name == "VISIBILITY":  # pyuvdata's sign convention; signs of zeros are preserved
            values = np.empty(cells.shape[:-1], "c8")
            values.real, values.imag = cells[..., 0], -cells[..., 1]
            return values
        return cells[..., 2] if self.name == "WEIGHT" else cells[..., 2] <= 0


def _raw(path: str) -> NDArray[np.void]:
    """Return the groups as astropy's records, without scales: (groups,)."""
    from astropy.io import fits

    with fits.open(path, memmap=True) as file:
        return np.asarray(file[0].data).view(np.ndarray)


def open_uvfits_reader(path: str, variables: Sequence[str]) -> IndependentReader | None:
    """Return an independent reader of the parameters and samples of a file.

    For groups that are not plain float32 it has pyuvdata's arrays. None if a time and baseline has
    several groups.
    """
    from astropy.io import fits

    absolute = str(Path(path).absolute())
    with fits.open(absolute, memmap=True) as file:
        header = file[0].header.copy()
    if not _is_plain(header):
        return open_uvdata_reader(path, "uvfits", variables)
    places = read_row_numbers(absolute, "uvfits")
    if places is None:
        return None
    found: list[SourceArray] = [
        *key_arrays(absolute, "uvfits", places),
        *_fields(absolute, header, places),
    ]
    return IndependentReader(
        f"{library('astropy')} and {library('pyuvdata')}", select_arrays(found, variables)
    )


def _is_plain(header: fits.Header) -> bool:
    scale = (header.get("BSCALE", 1), header.get("BZERO", 0))
    return header["BITPIX"] == -32 and scale == (1, 0) and header["NAXIS2"] == 3


def _fields(path: str, header: fits.Header, rows: RowNumbers) -> Iterator[FieldOfGroups]:
    extents = [header[f"NAXIS{i}"] for i in range(3, header["NAXIS"] + 1)]
    cell = (int(np.prod(extents[1:])), extents[0])
    kinds = dict(zip(SAMPLES, ("c8", "f4", "?"), strict=True))
    for name, kind in kinds.items():
        yield _field(path, name, kind, (), cell, rows)
    names = [str(header.get(f"PTYPE{i + 1}", "")).strip() for i in range(header["PCOUNT"])]
    scales = [(header.get(f"PSCAL{i}", 1.0), header.get(f"PZERO{i}", 0.0)) for i in (1, 2, 3)]
    first = 0
    if tuple(n[:2] for n in names[:3]) == BASELINE and len(set(scales)) == 1:
        yield _field(path, "UVW", "f4", (0, 1, 2), (3,), rows)
        first = 3
    used = {*COORDINATES, "UVW", *SAMPLES, ""}
    for number in range(first, len(names)):
        own = names[number].replace("/", "_")
        name = f"PARAMETER_{number + 1}" if own in used else own
        used.add(name)
        yield _field(path, name, "f4", (number,), (), rows)


def _field(
    path: str,
    name: str,
    kind: str,
    fields: tuple[int, ...],
    cell: tuple[int, ...],
    rows: RowNumbers,
) -> FieldOfGroups:
    shape = rows.shape + cell
    return FieldOfGroups(
        name=name,
        shape=shape,
        dtype=np.dtype(kind),
        dims=("",) * len(shape),
        chunks=(1,) * len(rows.shape) + cell,
        path=path,
        fields=fields,
        row_numbers=rows,
    )
