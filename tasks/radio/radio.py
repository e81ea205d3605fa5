"""What all sources of visibilities share: names, the extra, and the template.

The store has one array per column of the file. All else that the file holds (header, history,
antennas, subtables, its own layout) is stored unchanged, as the file with those columns empty: the
coordinate `template`. `gangsaw decompress` fills it again, so nothing is lost.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NotRequired, TypedDict, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat import file_identity
from gangsaw.tasks.radio.rows import ROW, Rows, RowsRecord, Run
from gangsaw.tasks.source import Coordinate, Described, Region, Source, Unlike
from gangsaw.tasks.store.dataset.losses import Refused, kept, left_out_attrs, notes_of
from gangsaw.tasks.store.dataset.paths import resolved
from gangsaw.tasks.store.dataset.variables import SMALL
from gangsaw.tasks.store.stamps import LOCK, file_stamps

TEMPLATE = "template"
FREQUENCY, POLARIZATION = "frequency", "polarization"

Variable = TypeVar("Variable", "ColumnArray", Coordinate)


@dataclass(frozen=True, kw_only=True)
class ColumnArray(Described):
    """A column of a file, on the axes of its rows.

    Attributes
    ----------
    path : the file or folder, absolute
    item : name of the column in the file
    rows : how rows map to the first axes
    version : of the file, so that a changed one is opened again
    """

    path: str
    item: str
    rows: Rows
    version: str

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Return a run of rows, with the slices `rest` of the other axes: (rows, ...)."""
        raise NotImplementedError

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        n = len(self.rows.dims)
        return self.rows.read(lambda run: self.fetch(run, region[n:]), region[:n])


@dataclass(frozen=True)
class RadioSource:
    """The columns of one file or folder of visibilities, and its template."""

    name: str
    path: str
    arrays: tuple[ColumnArray, ...]
    coords: tuple[Coordinate, ...]
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    left_out: tuple[Refused, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the file is left out."""
        return notes_of(self.left_out)

    def identity(self) -> str:
        """Path, bytes and modification time."""
        return identity_of(self.path)

    def stamps(self) -> Mapping[str, str]:
        """What changes with the file, or any in the folder."""
        return file_stamps(self.path)


class PartRecord(TypedDict):
    """`TemplatePart` as JSON has it."""

    path: str
    rows: RowsRecord
    items: list[str]


class TemplateAttrs(TypedDict):
    """Attributes of the coordinate `template`; `parts` only where there are groups below."""

    format: str
    rows: RowsRecord
    items: list[str]
    parts: NotRequired[list[PartRecord]]
    files: NotRequired[list[str]]


@dataclass(frozen=True)
class TemplatePart:
    """Rows of a template that share their axes, in a group of the store.

    Attributes
    ----------
    path : of the group; "" is that of the template
    rows : how the rows of its columns map to the axes of the arrays
    items : the columns that are empty in it
    """

    path: str
    rows: Rows
    items: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON values."""
        return {"path": self.path, "rows": self.rows.to_dict(), "items": list(self.items)}

    @classmethod
    def from_dict(cls, data: PartRecord) -> TemplatePart:
        """Read what `to_dict` returned."""
        return cls(data["path"], Rows.from_dict(data["rows"]), tuple(data["items"]))


@dataclass(frozen=True)
class Template:
    """The template of a store.

    Attributes
    ----------
    format : "uvh5", "hdf5", "uvfits" or "ms"
    parts : its rows, those of the template's own group first
    data : (bytes,) uint8
    files : those that are arrays of the store, where they lie in the source
    """

    format: str
    parts: tuple[TemplatePart, ...]
    data: NDArray[np.uint8] = field(compare=False)
    files: tuple[str, ...] = ()

    def coordinate(self) -> Coordinate:
        """Return it as it is in the store."""
        about = "what the source holds beside the arrays; gangsaw decompress fills it again"
        own, *below = self.parts
        attrs = {"format": self.format, "rows": own.rows.to_dict(), "items": list(own.items)}
        parts: dict[str, object] = {"parts": [part.to_dict() for part in below]} if below else {}
        files: dict[str, object] = {"files": list(self.files)} if self.files else {}
        more = {**parts, **files, "long_name": about}
        return Coordinate(TEMPLATE, ("byte",), self.data, {**attrs, **more})


def find_template(source: Source) -> Template | None:
    """Return the template of a store, or None where it has none."""
    for coord in source.coords:
        if coord.name == TEMPLATE and {"format", "rows", "items"} <= set(coord.attrs):
            attrs = cast("TemplateAttrs", coord.attrs)
            own: PartRecord = {"path": "", "rows": attrs["rows"], "items": attrs["items"]}
            parts = map(TemplatePart.from_dict, [own, *attrs.get("parts", [])])
            files = tuple(attrs.get("files", ()))
            return Template(attrs["format"], tuple(parts), np.asarray(coord.values), files)
    return None


@dataclass(frozen=True)
class RowsPart:
    """Rows of a file that share their axes, as a group of the store.

    Attributes
    ----------
    path : of the group; "" is the root
    columns : of these rows, at least one
    coords : those that are given; small columns join them
    lacking : columns of the file that are left out, without which it cannot be written again
    files : other arrays, which are no columns
    """

    path: str
    columns: Sequence[ColumnArray]
    coords: Sequence[Coordinate]
    lacking: tuple[str, ...] = ()
    files: tuple[ColumnArray, ...] = ()

    def contents(self) -> tuple[list[ColumnArray], list[Coordinate]]:
        """Return its arrays and coordinates, by paths."""
        small = [column for column in self.columns if _is_small(column)]
        near = [*self.coords, *map(_read, small)]
        arrays = [_naming(column, near) for column in self.columns if column not in small]
        arrays += self.files
        return [self._placed(array) for array in arrays], [self._placed(c) for c in near]

    def template(self) -> TemplatePart:
        """Return what a template says of it."""
        variables: list[ColumnArray | Coordinate] = [*self.columns, *self.coords]
        items = (str(v.attrs["item"]) for v in variables if "item" in v.attrs)
        return TemplatePart(self.path, self.columns[0].rows, (*items, *self.lacking))

    def _placed(self, variable: Variable) -> Variable:
        return replace(variable, name=f"{self.path}/{variable.name}".lstrip("/"))


def make_source(
    name: str,
    path: str,
    parts: Sequence[RowsPart],
    template: tuple[str, NDArray[np.uint8]],
    unlike: Unlike,
    files: tuple[str, ...] = (),
) -> RadioSource:
    """Return the source; small columns are added to the given coordinates.

    `template` is its format and its bytes, `unlike` says in what others differ, `files` are those
    of the source that it lacks, being arrays; the first of the parts is the root.
    """
    form, data = template
    described = Template(form, tuple(part.template() for part in parts), data, files).coordinate()
    filled = replace(described, unlike=unlike)
    found = [part.contents() for part in parts]
    arrays = tuple(array for some, _ in found for array in some)
    return RadioSource(name, path, arrays, (*(c for _, near in found for c in near), filled))


def key_coordinates(
    keys: Mapping[str, tuple[str, str]],
    values: Mapping[str, NumpyArray],
    rows: Rows,
    units: Mapping[str, Mapping[str, str]],
) -> Iterator[Coordinate]:
    """Yield times and antennas as coordinates, along one axis where rows are a grid.

    Parameters
    ----------
    keys : item of the file -> name in the store, and the axis along which the item varies
    values : item -> (rows,) values
    units : name in the store -> attributes
    """
    for item, column in values.items():
        name, dim = keys[item]
        own = (dim,) if dim in rows.dims else (ROW,)
        attrs = {**units.get(name, {}), "item": item}
        yield Coordinate(name, own, rows.along(column, dim), attrs)


def first_line(error: Exception) -> str:
    """Return what an error says in one line; its type where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@dataclass(frozen=True)
class Taken:
    """What a user takes of a file of visibilities.

    Attributes
    ----------
    variables : names of arrays; none is all
    accept_loss : leave out what no store can hold, instead of refusing the file
    """

    variables: tuple[str, ...] = ()
    accept_loss: bool = False

    def without(self, path: str, refused: Sequence[Refused]) -> tuple[Refused, ...]:
        """Return what is left out; BadParams, with the file's name, where that was not accepted."""
        try:
            return kept((), refused, self.variables, accept_loss=self.accept_loss)[1]
        except BadParams as error:
            raise BadParams(f"{path}: {error}") from None


ALL = Taken()


def beyond(sizes: Mapping[str, int], most: int) -> Iterator[tuple[str, int]]:
    """Yield the largest names with their bytes, without which the rest has no more than `most`."""
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        if total <= most:
            return
        total -= size
        yield name, size


def without(source: RadioSource, lost: tuple[Refused, ...]) -> RadioSource:
    """Return the source, which says what of the file it lacks."""
    return replace(source, attrs={**source.attrs, **left_out_attrs(lost)}, left_out=lost)


def pick(source: RadioSource, variables: Sequence[str]) -> RadioSource:
    """Return the source with the arrays of these names, none for all; BadParams for others."""
    names = [array.name for array in source.arrays]
    variables = resolved(variables, names)
    if unknown := sorted(set(variables) - set(names)):
        raise BadParams(f"no variable {unknown[0]!r}; there are: {', '.join(names)}")
    chosen = tuple(array for array in source.arrays if not variables or array.name in variables)
    return replace(source, arrays=chosen)


def _naming(array: ColumnArray, coords: Iterable[Coordinate]) -> ColumnArray:
    """Return the array with CF's list of the coordinates along its axes."""
    names = [c.name for c in coords if c.dims != (c.name,) and set(c.dims) <= set(array.dims)]
    return replace(array, attrs={**array.attrs, "coordinates": " ".join(names)})


def _is_small(column: ColumnArray) -> bool:
    n_bytes = math.prod(column.shape) * column.dtype.itemsize
    return len(column.shape) <= len(column.rows.dims) and n_bytes <= SMALL


def _read(column: ColumnArray) -> Coordinate:
    values = column.read(tuple(slice(0, n) for n in column.shape))
    return Coordinate(column.name, column.dims, values, column.attrs)


def identity_of(path: str) -> str:
    """Return path, bytes and modification time of a file, or of all files of a folder."""
    folder = Path(path)
    if not folder.is_dir():
        return file_identity(path)
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    stats = [(file.relative_to(folder), file.stat()) for file in found if file.name != LOCK]
    lines = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{folder.absolute()} {hashlib.sha256(lines.encode()).hexdigest()[:16]}"
