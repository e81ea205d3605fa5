"""Comparison of the attributes of a store with those of its source, for `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from gangsaw.tasks.jobs.verification.finished import FinishedArray
from gangsaw.tasks.sources.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.original_form import recorded_attrs_of
from gangsaw.tasks.store.dataset.unpacked import PACKING, is_packed
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.source import metadata_errors

OURS = "gangsaw_"  # prefix of attributes on the storage of a variable, which are not in its file
# earlier versions did not store these; a store without them is no problem
LATER = ("coordinates", "grid_mapping", "envi_header", "envi_encoding")
LONGEST = 60  # characters of a value in a line


def attribute_differences(
    place: Prefix,
    stored: Mapping[str, FinishedArray],
    against: Source,
    variables: Iterable[SourceArray | Coordinate],
) -> Iterator[str]:
    """Yield a line for each attribute of the source that is missing or different in the store."""
    yield from _differences("", stored_attributes(place), against.attrs)
    for group in getattr(against, "groups", ()):
        has = stored_attributes(place / group.path)
        if has is None:
            yield f"group {group.path}: in the source, not in the store"
        yield from _differences(f"group {group.path}: ", has, group.attrs)
    for variable in variables:
        if (array := stored.get(variable.name)) is not None:
            has = _read(array.metadata, str(array.place))
            has, wanted = {**recorded_attrs_of(has), **has}, variable.attrs
            of = variable.values if isinstance(variable, Coordinate) else variable
            if is_packed(has, array.coder.dtype, of.dtype):  # used to unpack the values instead
                wanted = {name: one for name, one in wanted.items() if name not in PACKING}
            yield from _differences(f"{variable.name}: ", has, wanted)


def stored_attributes(place: Prefix) -> Mapping[str, object] | None:
    """Return the attributes of a Zarr v3 group or array; None if it does not exist."""
    found = place.get(METADATA)
    return None if found is None else _read(found.to_bytes(), str(place))


def _read(metadata: bytes, where: str) -> Mapping[str, object]:
    with metadata_errors(where):
        found = json.loads(metadata).get("attributes", {})
        return {str(name): value for name, value in found.items()}


def _differences(
    of: str, stored: Mapping[str, object] | None, wanted: Mapping[str, object]
) -> Iterator[str]:
    if stored is None:  # reported by the caller
        return
    for name, value in wanted.items():
        if name == DTYPE:  # dtypes are compared elsewhere
            continue
        if name not in stored:
            if not name.startswith(OURS) and name not in LATER:
                yield f"{of}attribute {name}: in the source, not in the store"
        elif (has := _text(stored[name])) != (should := _text(value)):
            yield f"{of}attribute {name} is {_short(has)}, in the source {_short(should)}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
