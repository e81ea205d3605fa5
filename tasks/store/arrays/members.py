"""Members of a Zarr group, including arrays of data types that zarr cannot read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import zarr
from zarr.errors import ContainsArrayError

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.store.arrays.grids import allow_irregular_chunks
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.objects.zipped import zarr_argument_of

if TYPE_CHECKING:
    from zarr.types import AnyArray

UNKNOWN_TYPE = "No Zarr data type found"  # begins the ValueError that zarr raises
METADATA = {"zarr.json": "data_type", ".zarray": "dtype"}  # their fields with the data type


Members = list[tuple[str, "AnyArray | zarr.Group"]]


def open_node(address: str, path: str) -> AnyArray | zarr.Group:
    """Open an array or group for reading; raise BadParams for a data type unknown to zarr.

    A group with such an array is opened without consolidated metadata, on which zarr would fail.
    """
    try:
        with allow_irregular_chunks():
            return zarr.open(zarr_argument_of(address), path=path or None, mode="r")
    except ValueError as error:
        if not str(error).startswith(UNKNOWN_TYPE):
            raise
    try:
        return zarr.open_group(
            zarr_argument_of(address), path=path or None, mode="r", use_consolidated=False
        )
    except (ValueError, ContainsArrayError, FileNotFoundError) as error:
        raise BadParams(f"{address}/{path}".rstrip("/") + f" cannot be read: {error}") from None


def list_members(group: zarr.Group) -> tuple[Members, list[Refused]]:
    """Return all members below a group by path, and the arrays of data types unknown to zarr.

    Zarr itself raises if one array has such a type. Then members are opened one by one.
    """
    try:
        with allow_irregular_chunks():
            return sorted(group.members(max_depth=None), key=lambda member: member[0]), []
    except ValueError as error:
        if not str(error).startswith(UNKNOWN_TYPE):
            raise
    found, refused = _one_by_one(group, "")
    return sorted(found, key=lambda member: member[0]), refused


def _one_by_one(group: zarr.Group, above: str) -> tuple[Members, list[Refused]]:
    found: Members = []
    refused: list[Refused] = []
    place = Prefix(group.store, group.path)
    for name in place.names():
        path = f"{above}/{name}".lstrip("/")
        try:
            member = group[name]
        except KeyError:
            continue  # a chunk, or a folder that is no member
        except ValueError as error:
            refused.append(Refused(path, f"holds {_type_of(place / name, error)}"))
            continue
        found.append((path, member))
        if isinstance(member, zarr.Group):
            inner, more = _one_by_one(member, path)
            found += inner
            refused += more
    return found, refused


def _type_of(place: Prefix, error: ValueError) -> str:
    """Describe the data type of an array that zarr refused to open with this error.

    Raises CorruptChunk if the data type is not the cause.
    """
    if not str(error).startswith(UNKNOWN_TYPE):
        raise CorruptChunk(f"the metadata is damaged: {error}", store=str(place))
    for key, field in METADATA.items():
        if (data := place.get(key)) is not None:
            metadata = json.loads(data.to_bytes())
            filters = [one["id"] for one in metadata.get("filters") or () if "id" in one]
            of = f" ({', '.join(filters)})" if filters else ""
            return f"{metadata.get(field)}{of}, which zarr cannot read"
    return "what zarr cannot read"
