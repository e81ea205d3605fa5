"""Differences between a store and its source file: repeated coordinates, names, attributes.

A store may have coordinates that repeat values found elsewhere in the file, and other names of
axes. The attribute ATTR records the state in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, cast

from gangsaw.tasks.sources.source import Coordinate, Described, GroupAttrs, Source, SourceArray
from gangsaw.tasks.store.dataset.attribute_types import ATTRIBUTE_TYPES, HDF5, LAYOUT

ATTR = "gangsaw_as_read"
# attributes that other file formats have no use for
OURS = (ATTR, ATTRIBUTE_TYPES, HDF5, *LAYOUT)


class HasAttributes(Protocol):
    """Variable with attributes: an array or a coordinate."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes."""


Variable = TypeVar("Variable", bound=HasAttributes)
Array = TypeVar("Array", bound=Described)


def mark_repeated(attrs: Mapping[str, object], origin: str) -> dict[str, object]:
    """Return the attributes of a variable that only the store has; the attribute ATTR marks it.

    Parameters
    ----------
    origin : name of the part of the file whose values the variable repeats
    """
    return {**attrs, ATTR: json.dumps({"repeats": origin})}


def change_dims(variable: Array, dims: tuple[str, ...], more: Mapping[str, object]) -> Array:
    """Return an array with new dimension names and attributes, and the former ones in ATTR.

    Parameters
    ----------
    dims : new dimension names
    more : attributes to add or replace
    """
    attrs = {key: value for key, value in more.items() if variable.attrs.get(key) != value}
    if not attrs and dims == variable.dims:
        return variable
    had = {"dims": list(variable.dims), "attrs": {key: variable.attrs.get(key) for key in attrs}}
    return replace(variable, dims=dims, attrs={**variable.attrs, **attrs, ATTR: json.dumps(had)})


def record_renamed_dims(
    attrs: Mapping[str, object], had: tuple[str, ...], dims: tuple[str, ...]
) -> Mapping[str, object]:
    """Return a variable's attributes after its dimensions were renamed; ATTR has the former names.

    Parameters
    ----------
    had, dims : dimension names in the file and in the store
    """
    record = _parse(attrs.get(ATTR)) or {"attrs": {}}
    if had == dims or "dims" in record or "repeats" in record:
        return attrs
    return {**attrs, ATTR: json.dumps({"dims": list(had), **record})}


def set_aside(attrs: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return attributes without the given names; the attribute ATTR records their values."""
    gone = {name: attrs[name] for name in names}
    kept = {key: value for key, value in attrs.items() if key not in gone}
    had = _parse(attrs.get(ATTR)) or {"attrs": {}}
    if "repeats" in had:  # the variable is not in the file
        return kept
    before = had.get("attrs")
    of_file = before if isinstance(before, dict) else {}
    return {**kept, ATTR: json.dumps({**had, "attrs": {**gone, **of_file}})}


def recorded_attrs_of(attrs: Mapping[str, object]) -> Mapping[str, object]:
    """Return the file's attributes that the store lacks or has changed, by its attribute ATTR."""
    found = (_parse(attrs.get(ATTR)) or {}).get("attrs")
    return found if isinstance(found, dict) else {}


def record_unnamed_axes(names: Sequence[str | None] | None, n_axes: int) -> Mapping[str, object]:
    """Return the attribute ATTR for an array with unnamed axes; {} if all axes have names."""
    is_whole = names is not None and all(names)
    return {} if is_whole or not n_axes else _dims_record(names)


def _dims_record(dims: Sequence[str | None] | None) -> dict[str, object]:
    return {ATTR: json.dumps({"dims": None if dims is None else list(dims), "attrs": {}})}


def restore_for_zarr(
    attrs: Mapping[str, object], dims: tuple[str, ...]
) -> tuple[Mapping[str, object], tuple[str | None, ...] | None]:
    """Return the attributes and dimension names with which an array is exported to Zarr.

    Zarr supports unnamed axes, so recorded names of the file are restored. If attributes were
    changed, too, all stay as they are in the store.
    """
    had = _record(attrs)
    if had is None or had.get("attrs") != {} or "dims" not in had:
        return attrs, dims
    own = {key: value for key, value in attrs.items() if key != ATTR}
    return own, None if had["dims"] is None else _recorded_dims(had["dims"], dims)


def _recorded_dims(had: object, dims: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return the file's dimension names in `had`, extended or cut to the number of axes of `dims`.

    A variable stored as bytes may have one axis more or less than in the file.
    """
    names = [None if name is None else str(name) for name in had] if isinstance(had, list) else []
    return (*names[: len(dims)], *dims[len(names) :])


def _complete_dims(had: object, dims: tuple[str, ...]) -> tuple[str, ...]:
    """Return the file's dimension names in `had`, or that of `dims` for an unnamed axis."""
    named = zip(_recorded_dims(had, dims), dims, strict=True)
    return tuple(own if name is None else name for name, own in named)


@dataclass(frozen=True)
class OriginalFormSource:
    """Source with the variables of a store in the form that they had in the store's input file."""

    name: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...]
    groups: tuple[GroupAttrs, ...]
    attrs: Mapping[str, object]
    content: str

    def identity(self) -> str:
        """Return the identity of the store."""
        return self.content


def restore_original_form(source: Source) -> Source:
    """Undo the changes to variables that their attribute ATTR records, such as new names."""
    attributes = [
        *(array.attrs for array in source.arrays),
        *(coord.attrs for coord in source.coords),
    ]
    if not any(ATTR in attrs for attrs in attributes):
        return source
    return OriginalFormSource(
        source.name,
        tuple(_restore_all(source.arrays)),
        tuple(_restore_all(source.coords)),
        getattr(source, "groups", ()),
        source.attrs,
        source.identity(),
    )


def select_for_image(source: Source, image: SourceArray) -> Source:
    """Return a source with the variables and names that are exported with one image.

    Variables that repeat other parts of a product, such as wavelengths, are left out. Variables of
    the image's group lose their path.
    """
    group = f"{image.name.rpartition('/')[0]}/".lstrip("/")
    near = [coord for coord in source.coords if coord.name.startswith(group)]
    repeated = {str(had.get("repeats")) for had in map(_recorded_state, near) if had}
    return OriginalFormSource(
        source.name,
        tuple(_restore_for_image(array, "") for array in source.arrays),
        tuple(
            _restore_for_image(coord, group)
            for coord in source.coords
            if coord.name not in repeated
        ),
        tuple(
            replace(each, attrs=_without_own_attrs(each.attrs))
            for each in getattr(source, "groups", ())
        ),
        _without_own_attrs(source.attrs),
        source.identity(),
    )


def _without_own_attrs(attrs: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in attrs.items() if key not in OURS}


def _restore_for_image(variable: Variable, group: str) -> Variable:
    """Return a variable without Gangsaw's attributes, with the dimension names of its file.

    Parameters
    ----------
    group : path prefix to remove from the name
    """
    had = _recorded_state(variable) or {}
    attrs = _without_own_attrs(variable.attrs)
    dims = had.get("dims") if not had.get("attrs") else None
    if not isinstance(variable, Described | Coordinate):  # it belongs to a source that is no store
        return variable
    names = _complete_dims(dims, variable.dims)
    name = variable.name.removeprefix(group)
    return cast("Variable", replace(variable, name=name, dims=names, attrs=attrs))


def _restore_all(variables: Iterable[Variable]) -> Iterable[Variable]:
    for variable in variables:
        had = _recorded_state(variable)
        if had is None:
            yield variable
        elif "repeats" not in had:
            yield _restore_variable(variable, had)


def is_repeated(attrs: Mapping[str, object]) -> bool:
    """Return True if a variable with these attributes repeats another part of its file."""
    return "repeats" in (_record(attrs) or {})


def _recorded_state(variable: HasAttributes) -> Mapping[str, object] | None:
    return _record(variable.attrs)


def _record(attrs: Mapping[str, object]) -> Mapping[str, object] | None:
    return _parse(attrs.get(ATTR))


def _parse(text: object) -> Mapping[str, object] | None:
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except ValueError:  # another program wrote it
        return None
    return found if isinstance(found, dict) else None


def _restore_variable(variable: Variable, had: Mapping[str, object]) -> Variable:
    dims, changes = had.get("dims"), had.get("attrs")
    attrs = {key: value for key, value in variable.attrs.items() if key != ATTR}
    for key, value in changes.items() if isinstance(changes, dict) else ():
        attrs[key] = value
    kept = {key: value for key, value in attrs.items() if value is not None}
    assert isinstance(variable, Described | Coordinate)
    names = _complete_dims(dims, variable.dims)
    return cast("Variable", replace(variable, dims=names, attrs=kept))
