"""What `verify` says of attributes: those that the store lacks, or has otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from gangsaw.tasks.jobs.verification.finished import FinishedArray
from gangsaw.tasks.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.chunks import METADATA
from gangsaw.tasks.store.dataset.as_read import aside
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.source import metadata_errors

OURS = "gangsaw_"  # attributes of these names tell how a variable is kept, not what its file says
# earlier versions derived or kept none of these; a store without them is no worse for it
LATER = ("coordinates", "grid_mapping", "envi_header", "envi_encoding")
LONGEST = 60  # characters of a value in a line


def unlike_attributes(
    place: Place,
    stored: Mapping[str, FinishedArray],
    against: Source,
    variables: Iterable[SourceArray | Coordinate],
) -> Iterator[str]:
    """Yield a line for each attribute of the source that the store lacks or has otherwise."""
    yield from _unlike("", stored_attributes(place), against.attrs)
    for group in getattr(against, "groups", ()):
        held = stored_attributes(place / group.path)
        if held is None:
            yield f"group {group.path}: in the source, not in the store"
        yield from _unlike(f"group {group.path}: ", held, group.attrs)
    for variable in variables:
        if (array := stored.get(variable.name)) is not None:
            held = _read(array.metadata, str(array.place))
            held = {**aside(held), **held}
            yield from _unlike(f"{variable.name}: ", held, variable.attrs)


def stored_attributes(place: Place) -> Mapping[str, object] | None:
    """Return the attributes of a group or array of Zarr 3; None where there is none."""
    found = place.get(METADATA)
    return None if found is None else _read(found.to_bytes(), str(place))


def _read(metadata: bytes, where: str) -> Mapping[str, object]:
    with metadata_errors(where):
        found = json.loads(metadata).get("attributes", {})
        return {str(name): value for name, value in found.items()}


def _unlike(
    of: str, held: Mapping[str, object] | None, wanted: Mapping[str, object]
) -> Iterator[str]:
    if held is None:  # which is told
        return
    for name, value in wanted.items():
        if name == DTYPE:  # the kind of items is compared as such
            continue
        if name not in held:
            if not name.startswith(OURS) and name not in LATER:
                yield f"{of}attribute {name}: in the source, not in the store"
        elif (has := _text(held[name])) != (should := _text(value)):
            yield f"{of}attribute {name} is {_short(has)}, in the source {_short(should)}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
