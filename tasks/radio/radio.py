"""Common parts of all sources of visibilities: columns, names, rows and the template.

The store has one array per column of the file. All other contents (header, history, antennas,
subtables, layout of the file) are stored unchanged: the coordinate `template` is the file with
empty columns. `gangsaw decompress` fills the columns again, so nothing is lost.
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
from gangsaw.codecs.core.plugins.options import nearest
from gangsaw.tasks.formats.flat.flat_array import file_identity
from gangsaw.tasks.radio.rows import ROW, Rows, RowsRecord, Run
from gangsaw.tasks.sources.source import Coordinate, Described, Region, Source, Unlike
from gangsaw.tasks.store.dataset.losses import Refused, left_out_attrs, notes_of, storable_variables
from gangsaw.tasks.store.dataset.paths import resolve_paths
from gangsaw.tasks.store.dataset.variables import SMALL
from gangsaw.tasks.store.objects.versions import LOCK, file_versions

TEMPLATE = "template"
FREQUENCY, POLARIZATION = "frequency", "polarization"

Variable = TypeVar("Variable", "ColumnArray", Coordinate)


@dataclass(frozen=True, kw_only=True)
class ColumnArray(Described):
    """A column of a file, with its rows mapped to the first axes.

    Attributes
    ----------
    path : absolute path of the file or folder
    item : name of the column in the file
    rows : mapping of rows to the first axes
    version : version of the file, so that a changed file is opened again
    """

    path: str
    item: str
    rows: Rows
    version: str

    def fetch(self, run: Run, rest: Region) -> NumpyArray:
        """Read the rows of a slice, with the slices `rest` of the other axes: (rows, ...)."""
        raise NotImplementedError

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of a region."""
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
        """Descriptions of the items of the file that are left out."""
        return notes_of(self.left_out)

    def identity(self) -> str:
        """Return a text of path, size and modification time."""
        return identify_files(self.path)

    def versions(self) -> Mapping[str, str]:
        """Return the version of the file, or of each file in the folder."""
        return file_versions(self.path)


class PartRecord(TypedDict):
    """JSON form of `TemplatePart`."""

    path: str
    rows: RowsRecord
    items: list[str]


class TemplateAttrs(TypedDict):
    """Attributes of the coordinate `template`; `parts` exists only if the store has groups."""

    format: str
    rows: RowsRecord
    items: list[str]
    parts: NotRequired[list[PartRecord]]
    files: NotRequired[list[str]]


@dataclass(frozen=True)
class TemplatePart:
    """Rows of a template file that share their axes, and become one group of the store.

    Attributes
    ----------
    path : path of the group; "" is the group of the template
    rows : mapping of the rows of its columns to the axes of the arrays
    items : names of the columns that are empty in the template
    """

    path: str
    rows: Rows
    items: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the part as JSON values."""
        return {"path": self.path, "rows": self.rows.to_dict(), "items": list(self.items)}

    @classmethod
    def from_dict(cls, data: PartRecord) -> TemplatePart:
        """Return the part from the values of `to_dict`."""
        return cls(data["path"], Rows.from_dict(data["rows"]), tuple(data["items"]))


@dataclass(frozen=True)
class Template:
    """Template of a store: the source file without the values of its columns.

    Attributes
    ----------
    format : "uvh5", "hdf5", "uvfits" or "ms"
    parts : groups of rows, first the template's own group
    data : (bytes,) uint8
    files : paths in the source of the files that are arrays of the store
    """

    format: str
    parts: tuple[TemplatePart, ...]
    data: NDArray[np.uint8] = field(compare=False)
    files: tuple[str, ...] = ()

    def coordinate(self) -> Coordinate:
        """Return the template as a coordinate of the store."""
        about = "what the source holds beside the arrays; gangsaw decompress fills it again"
        own, *below = self.parts
        attrs = {"format": self.format, "rows": own.rows.to_dict(), "items": list(own.items)}
        parts: dict[str, object] = {"parts": [part.to_dict() for part in below]} if below else {}
        files: dict[str, object] = {"files": list(self.files)} if self.files else {}
        more = {**parts, **files, "long_name": about}
        return Coordinate(TEMPLATE, ("byte",), self.data, {**attrs, **more})


def find_template(source: Source) -> Template | None:
    """Return the template of a store; None if it has none."""
    for coord in source.coords:
        if coord.name == TEMPLATE and {"format", "rows", "items"} <= set(coord.attrs):
            attrs = cast("TemplateAttrs", coord.attrs)
            own: PartRecord = {"path": "", "rows": attrs["rows"], "items": attrs["items"]}
            parts = map(TemplatePart.from_dict, [own, *attrs.get("parts", [])])
            files = tuple(attrs.get("files", ()))
            return Template(attrs["format"], tuple(parts), np.asarray(coord.values), files)
    return None


def suggest_remedy(source: Source) -> str:
    """Return the next step for a message about a missing template or missing columns."""
    is_part = getattr(source, "tree", "") is None
    return "leave --variable out" if is_part else "compress the file again, with all variables"


@dataclass(frozen=True)
class RowsPart:
    """Rows of a file that share their axes, and become one group of the store.

    Attributes
    ----------
    path : path of the group; "" is the root
    columns : columns of these rows, at least one
    coords : given coordinates; small columns are added to them
    lacking : columns that are left out, without which the file cannot be written again
    files : other arrays, which are not columns
    """

    path: str
    columns: Sequence[ColumnArray]
    coords: Sequence[Coordinate]
    lacking: tuple[str, ...] = ()
    files: tuple[ColumnArray, ...] = ()

    def contents(self) -> tuple[list[ColumnArray], list[Coordinate]]:
        """Return the arrays and coordinates of the group, named by their paths."""
        small = [column for column in self.columns if _is_small(column)]
        near = [*self.coords, *map(_read, small)]
        arrays = [_name_coordinates(column, near) for column in self.columns if column not in small]
        arrays += self.files
        return [self._prefix_name(array) for array in arrays], [self._prefix_name(c) for c in near]

    def template(self) -> TemplatePart:
        """Return the description of the rows for the template."""
        variables: list[ColumnArray | Coordinate] = [*self.columns, *self.coords]
        items = (str(v.attrs["item"]) for v in variables if "item" in v.attrs)
        return TemplatePart(self.path, self.columns[0].rows, (*items, *self.lacking))

    def _prefix_name(self, variable: Variable) -> Variable:
        return replace(variable, name=f"{self.path}/{variable.name}".lstrip("/"))


def make_source(
    name: str,
    path: str,
    parts: Sequence[RowsPart],
    template: tuple[str, NDArray[np.uint8]],
    list_differences: Unlike,
    files: tuple[str, ...] = (),
) -> RadioSource:
    """Return the source of a file; small columns are added to the given coordinates.

    Parameters
    ----------
    parts : groups of rows; the first one is the root
    template : format of the template, and its bytes
    list_differences : function that lists the differences between two templates
    files : paths of the files that the template excludes because they are arrays
    """
    form, data = template
    described = Template(form, tuple(part.template() for part in parts), data, files).coordinate()
    filled = replace(described, unlike=list_differences)
    found = [part.contents() for part in parts]
    arrays = tuple(array for some, _ in found for array in some)
    return RadioSource(name, path, arrays, (*(c for _, near in found for c in near), filled))


def key_coordinates(
    keys: Mapping[str, tuple[str, str]],
    values: Mapping[str, NumpyArray],
    rows: Rows,
    units: Mapping[str, Mapping[str, str]],
) -> Iterator[Coordinate]:
    """Yield times and antennas as coordinates, along one axis if the rows are a grid.

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
        yield Coordinate(name, own, rows.reduce_to_axis(column, dim), attrs)


def describe_error(error: Exception) -> str:
    """Return the first line of an error's message, or its type if the message is empty."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@dataclass(frozen=True)
class VariableSelection:
    """Selection of a file's variables by the user.

    Attributes
    ----------
    variables : names of arrays; an empty tuple selects all
    accept_loss : leave out items that no store can contain, instead of refusing the file
    """

    variables: tuple[str, ...] = ()
    accept_loss: bool = False

    def without(self, path: str, refused: Sequence[Refused]) -> tuple[Refused, ...]:
        """Return the items that are left out; raise BadParams if the loss was not accepted."""
        try:
            return storable_variables((), refused, self.variables, accept_loss=self.accept_loss)[1]
        except BadParams as error:
            raise BadParams(f"{path}: {error}") from None


ALL = VariableSelection()


def list_largest(sizes: Mapping[str, int], most: int) -> Iterator[tuple[str, int]]:
    """Yield (name, bytes) of the largest items until the others have at most `most` bytes."""
    total = sum(sizes.values())
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        if total <= most:
            return
        total -= size
        yield name, size


def add_left_out(source: RadioSource, lost: tuple[Refused, ...]) -> RadioSource:
    """Return the source with notes of the items that are left out of it."""
    return replace(source, attrs={**source.attrs, **left_out_attrs(lost)}, left_out=lost)


def select_variables(source: RadioSource, variables: Sequence[str]) -> RadioSource:
    """Return the source with only the named arrays, all if none is named.

    Raises BadParams for unknown names.
    """
    names = [array.name for array in source.arrays]
    variables = resolve_paths(variables, names)
    if unknown := sorted(set(variables) - set(names)):
        near = nearest(unknown[0], names)
        raise BadParams(f"no variable {unknown[0]!r}; there are: {', '.join(names)}{near}")
    chosen = tuple(array for array in source.arrays if not variables or array.name in variables)
    return replace(source, arrays=chosen)


def _name_coordinates(array: ColumnArray, coords: Iterable[Coordinate]) -> ColumnArray:
    """Add the CF attribute `coordinates` to an array: names of the coordinates along its axes."""
    names = [c.name for c in coords if c.dims != (c.name,) and set(c.dims) <= set(array.dims)]
    return replace(array, attrs={**array.attrs, "coordinates": " ".join(names)})


def _is_small(column: ColumnArray) -> bool:
    n_bytes = math.prod(column.shape) * column.dtype.itemsize
    return len(column.shape) <= len(column.rows.dims) and n_bytes <= SMALL


def _read(column: ColumnArray) -> Coordinate:
    values = column.read(tuple(slice(0, n) for n in column.shape))
    return Coordinate(column.name, column.dims, values, column.attrs)


def identify_files(path: str) -> str:
    """Return a text of path, size and modification time of a file, or of all files in a folder."""
    folder = Path(path)
    if not folder.is_dir():
        return file_identity(path)
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    stats = [(file.relative_to(folder), file.stat()) for file in found if file.name != LOCK]
    lines = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{folder.absolute()} {hashlib.sha256(lines.encode()).hexdigest()[:16]}"
