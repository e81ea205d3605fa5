"""Arrays and groups of a Zarr group, and those that zarr cannot read, one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import zarr
from zarr.errors import ContainsArrayError

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.grids import any_grid
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.zipped import zarr_at

if TYPE_CHECKING:
    from zarr.types import AnyArray

UNKNOWN_TYPE = "No Zarr data type found"  # how zarr's ValueError begins
METADATA = {"zarr.json": "data_type", ".zarray": "dtype"}  # and what names the type


Members = list[tuple[str, "AnyArray | zarr.Group"]]


def open_node(address: str, path: str) -> AnyArray | zarr.Group:
    """Open an array or group to read; BadParams for an array of a type that zarr does not know.

    A copy of the metadata in a group above would hide the other arrays of it.
    """
    try:
        with any_grid():
            return zarr.open(zarr_at(address), path=path or None, mode="r")
    except ValueError as error:
        if not str(error).startswith(UNKNOWN_TYPE):
            raise
    try:
        return zarr.open_group(
            zarr_at(address), path=path or None, mode="r", use_consolidated=False
        )
    except (ValueError, ContainsArrayError, FileNotFoundError) as error:
        raise BadParams(f"{address}/{path}".rstrip("/") + f" cannot be read: {error}") from None


def members(group: zarr.Group) -> tuple[Members, list[Refused]]:
    """Return all that is below a group, by path, and the arrays of types that zarr does not know.

    zarr itself gives nothing at all where one array has such a type.
    """
    try:
        with any_grid():
            return sorted(group.members(max_depth=None), key=lambda member: member[0]), []
    except ValueError as error:
        if not str(error).startswith(UNKNOWN_TYPE):
            raise
    found, refused = _one_by_one(group, "")
    return sorted(found, key=lambda member: member[0]), refused


def _one_by_one(group: zarr.Group, above: str) -> tuple[Members, list[Refused]]:
    found: Members = []
    refused: list[Refused] = []
    place = Place(group.store, group.path)
    for name in place.names():
        path = f"{above}/{name}".lstrip("/")
        try:
            member = group[name]
        except KeyError:
            continue  # a chunk, or a folder of something else
        except ValueError as error:
            refused.append(Refused(path, f"holds {_type_of(place / name, error)}"))
            continue
        found.append((path, member))
        if isinstance(member, zarr.Group):
            inner, more = _one_by_one(member, path)
            found += inner
            refused += more
    return found, refused


def _type_of(place: Place, error: ValueError) -> str:
    """Return what the metadata say of the type; CorruptChunk where the type is not the fault."""
    if not str(error).startswith(UNKNOWN_TYPE):
        raise CorruptChunk(f"the metadata is damaged: {error}", store=str(place))
    for key, field in METADATA.items():
        if (data := place.get(key)) is not None:
            metadata = json.loads(data.to_bytes())
            filters = [one["id"] for one in metadata.get("filters") or () if "id" in one]
            of = f" ({', '.join(filters)})" if filters else ""
            return f"{metadata.get(field)}{of}, which zarr cannot read"
    return "what zarr cannot read"
