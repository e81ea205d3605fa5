"""Random groups of uvfits, bit for bit: visibilities, weights and parameters of each group.

pyuvdata computes `re - 1j * im`, which loses the signs of zeros and infinities, and converts uvw to
metres in double precision. Here every bit of a group is in a column, and the bytes before and after
the groups are the template.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.radio.radio import FREQUENCY, POLARIZATION, ColumnArray
from gangsaw.tasks.radio.rows import Put, Rows, Run
from gangsaw.tasks.sources.open_files import cache_open_files
from gangsaw.tasks.sources.source import Region

SINGLE = -32  # BITPIX of float32
VISIBILITIES, WEIGHTS, FLAGS = "DATA/visibilities", "DATA/weights", "DATA/flags"
PARAMETERS = "PARAMETERS/"  # followed by the range of parameter numbers, first:end, from 0
WEIGHT = 2  # index in a cell: real part, imaginary part, weight
BASELINES = ("UU", "VV", "WW")  # parameters of the baseline, in seconds

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class RandomGroups:
    """Position and layout of the random groups in a file.

    Attributes
    ----------
    offset : byte offset of the first group
    n_groups : number of groups
    n_parameters : number of float32 parameters before the samples of a group
    cell : (frequency, polarization), with all axes before the last two as one
    names : names of the parameters as in the header; a name may occur twice
    scales : factor and offset of each parameter
    """

    offset: int
    n_groups: int
    n_parameters: int
    cell: tuple[int, int]
    names: tuple[str, ...] = ()
    scales: tuple[tuple[float, float], ...] = field(default=(), compare=False)

    @property
    def floats(self) -> int:
        """Number of float32 values in a group."""
        return self.n_parameters + prod(self.cell) * (WEIGHT + 1)

    @property
    def end(self) -> int:
        """Byte offset of the end of the last group."""
        return self.offset + 4 * self.n_groups * self.floats

    def mapped(self, path: str, mode: str) -> NDArray[np.float32]:
        """Return the memory-mapped values of all groups in a file: (groups, floats)."""
        shape = (self.n_groups, self.floats)
        mapped: Floats = np.memmap(path, ">f4", mode, self.offset, shape)  # type: ignore[call-overload]
        return mapped

    def samples(self, floats: Floats) -> Floats:
        """Return a view of the samples of groups: (groups, frequency, polarization, 3)."""
        return floats[:, self.n_parameters :].reshape(len(floats), *self.cell, WEIGHT + 1)


def find_groups(path: str) -> RandomGroups | None:
    """Return the groups of a file; None if they are not plain float32."""
    from astropy.io import fits

    with Path(path).open("rb") as file:
        header, offset = fits.Header.fromfile(file), file.tell()
    plain = header["BITPIX"] == SINGLE and header.get("BSCALE", 1) == 1
    if not plain or header.get("BZERO", 0) != 0:
        return None
    axes = [header[f"NAXIS{i}"] for i in range(2, header["NAXIS"] + 1)]
    if len(axes) < WEIGHT + 1 or axes[0] != WEIGHT + 1:
        return None
    numbers = range(1, header["PCOUNT"] + 1)
    return RandomGroups(
        offset=offset,
        n_groups=header["GCOUNT"],
        n_parameters=header["PCOUNT"],
        cell=(prod(axes[2:]), axes[1]),
        names=tuple(str(header.get(f"PTYPE{i}", "")).strip() for i in numbers),
        scales=tuple((header.get(f"PSCAL{i}", 1.0), header.get(f"PZERO{i}", 0.0)) for i in numbers),
    )


@dataclass(frozen=True)
class GroupsColumn(ColumnArray):
    """A column of the random groups."""

    groups: RandomGroups

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Read the rows of a slice, with the slices `rest` of the other axes: (rows, ...)."""
        floats = _opened(self.path, self.groups, self.version)[run]
        return np.asarray(_values(self.groups, self.item, floats)[(slice(None), *rest)], self.dtype)


@cache_open_files(8)
def _opened(path: str, groups: RandomGroups, version: str) -> Floats:
    """Return the mapped values of all groups of a file, (groups, floats).

    `version` only distinguishes files in the cache.
    """
    return groups.mapped(path, "r")


def find_columns(
    path: str, version: str, groups: RandomGroups, rows: Rows, used_names: Collection[str]
) -> Iterator[GroupsColumn]:
    """Yield the columns of a file's random groups; none has a name in `used_names`."""
    for described in (*_samples(groups), *_parameters(groups, used_names)):
        yield GroupsColumn(
            name=described.name,
            shape=rows.shape + described.shape,
            dtype=np.dtype(described.dtype),
            dims=rows.dims + described.dims,
            chunks=None,
            attrs=described.attrs,
            path=path,
            item=described.item,
            rows=rows,
            version=version,
            groups=groups,
        )


@dataclass(frozen=True)
class _OfGroup:
    """Name, axes and dtype of a column's value in one random group."""

    name: str
    item: str
    shape: tuple[int, ...] = ()
    dims: tuple[str, ...] = ()
    dtype: str = "f4"
    more: Mapping[str, object] = field(default_factory=dict)

    @property
    def attrs(self) -> dict[str, object]:
        """Attributes of the array; flags have no item, as they are computed from weights."""
        return {**self.more, **({} if self.item == FLAGS else {"item": self.item})}


def _samples(groups: RandomGroups) -> Iterator[_OfGroup]:
    inner = (groups.cell, (FREQUENCY, POLARIZATION))
    yield _OfGroup("VISIBILITY", VISIBILITIES, *inner, "c8")
    yield _OfGroup("WEIGHT", WEIGHTS, *inner)
    yield _OfGroup("FLAG", FLAGS, *inner, "?")


def _parameters(groups: RandomGroups, selection: Collection[str]) -> Iterator[_OfGroup]:
    """Yield the columns of group parameters: uvw as one; a repeated name becomes its number."""
    start = tuple(name[:2] for name in groups.names[:3])
    n_uvw = 3 if start == BASELINES and len(set(groups.scales[:3])) == 1 else 0
    if n_uvw:
        more = {"units": "s", **_scaled(groups.scales[0])}
        yield _OfGroup("UVW", f"{PARAMETERS}0:3", (3,), ("uvw_label",), more=more)
    used = {*selection, "UVW", "VISIBILITY", "WEIGHT", "FLAG", ""}
    for i in range(n_uvw, groups.n_parameters):
        name = groups.names[i].replace("/", "_")
        unique = f"PARAMETER_{i + 1}" if name in used else name
        used.add(unique)
        yield _OfGroup(unique, f"{PARAMETERS}{i}:{i + 1}", more=_scaled(groups.scales[i]))


def _scaled(scale: tuple[float, float]) -> dict[str, object]:
    """Return the CF attributes of a scale; none for the identity."""
    factor, offset = scale
    return {} if scale == (1, 0) else {"scale_factor": factor, "add_offset": offset}


def _values(groups: RandomGroups, item: str, floats: Floats) -> NumpyArray:
    """Return the values of a column, given the float32 values of some groups.

    `item` names a range of parameters, the visibilities, the weights or the flags.
    """
    if item.startswith(PARAMETERS):
        first, last = map(int, item.removeprefix(PARAMETERS).split(":"))
        return floats[:, first] if last - first == 1 else floats[:, first:last]
    cells = groups.samples(floats)
    if item == VISIBILITIES:
        return conjugate(cells[..., :WEIGHT])
    return cells[..., WEIGHT] if item == WEIGHTS else cells[..., WEIGHT] <= 0


def conjugate(pairs: Floats) -> NDArray[np.complex64]:
    """Return pairs as visibilities of pyuvdata's convention: flip the sign bits of imaginary parts.

    pairs : (..., 2) float32
    """
    native = np.array(pairs, np.float32, order="C")
    native.view(np.uint32)[..., 1] ^= np.uint32(1 << 31)
    visibilities: NDArray[np.complex64] = native.view(np.complex64)[..., 0]
    return visibilities


def make_uvfits_template(path: str, groups: RandomGroups) -> NDArray[np.uint8]:
    """Return the bytes before and after the groups: (bytes,) uint8."""
    with Path(path).open("rb") as file:
        head = file.read(groups.offset)
        file.seek(groups.end)
        return np.frombuffer(head + file.read(), np.uint8)


def write_empty_file(template: NDArray[np.uint8], path: Path) -> Callable[[str], Put]:
    """Write the file of a template without its samples, to be filled column by column.

    The returned function maps a column to the function that writes its rows.
    """
    groups = _layout_of_groups(template, path)
    with path.open("wb") as file:
        file.write(template[: groups.offset].tobytes())
        file.truncate(groups.end)
        file.seek(groups.end)
        file.write(template[groups.offset :].tobytes())
    floats = groups.mapped(str(path), "r+")

    def put(item: str) -> Put:
        return lambda run, values: _put(groups, item, floats[run], np.asarray(values))

    return put


def _layout_of_groups(template: NDArray[np.uint8], path: Path) -> RandomGroups:
    """Return the layout of the groups that a template's header describes, by a file at `path`."""
    path.write_bytes(template.tobytes())
    groups = find_groups(str(path))
    if groups is None:
        raise CorruptChunk("the template is damaged: it describes no groups", store=str(path))
    return groups


def _put(groups: RandomGroups, item: str, floats: Floats, values: NumpyArray) -> None:
    if item.startswith(PARAMETERS):
        first, last = map(int, item.removeprefix(PARAMETERS).split(":"))
        floats[:, first:last] = values.reshape(len(values), -1)
        return
    cells = groups.samples(floats)
    if item == WEIGHTS:
        cells[..., WEIGHT] = values
        return
    pairs = np.ascontiguousarray(values, np.complex64)[..., None].view(np.float32)
    cells[..., :WEIGHT] = conjugate(pairs)[..., None].view(np.float32)


def read_visibilities(path: str) -> NDArray[np.complex64] | None:
    """Return all visibilities of a file bit for bit; None if the groups are not plain float32."""
    groups = find_groups(path)
    if groups is None:
        return None
    return conjugate(groups.samples(groups.mapped(path, "r"))[..., :WEIGHT])


def compare_uvfits_templates(stored: NumpyArray, wanted: NumpyArray) -> list[str]:
    """Return a line if two uvfits templates differ, each (bytes,) uint8."""
    differs = "the header, or a table after the groups, differs from the source's"
    return [] if np.array_equal(stored, wanted) else [differs]
