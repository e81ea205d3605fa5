"""Variables and groups of a store that its source lacks, for `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from gangsaw.tasks.jobs.verification.finished import FinishedArray
from gangsaw.tasks.sources.source import FILE_ATTRS, Source, is_mapping
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.dataset.carried import list_variables
from gangsaw.tasks.store.dataset.original_form import is_repeated
from gangsaw.tasks.store.dataset.paths import parent_groups
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.source import ROOT_NAME, metadata_errors


def surplus_of(place: Prefix, arrays: Iterable[FinishedArray], against: Source) -> list[str]:
    """Return a line for each variable and group of a store that its complete source lacks."""
    variables = {variable.name for variable in list_variables(against)}
    groups = {group.path for group in getattr(against, "groups", ())}
    stored = {array.name or ROOT_NAME: array.coder.array.attrs for array in arrays}
    more = (name for name, attrs in stored.items() if name not in variables)
    found = [_line(name) for name in more if not _is_added(stored[name])]
    known = {*parent_groups(stored), *parent_groups([*variables, *groups]), *groups}
    return [*found, *(_line(f"group {path}") for path in _groups(place) if path not in known)]


def _line(name: str) -> str:
    return f"{name}: in the store, not in the source"


def _is_added(attrs: Mapping[str, object]) -> bool:
    """Return True for a variable that Gangsaw adds to stores, by its attributes.

    It repeats another variable, is a grid mapping, or has the remaining content of a file.
    """
    return is_repeated(attrs) or is_mapping(attrs) or set(attrs) >= FILE_ATTRS


def _groups(place: Prefix) -> Iterator[str]:
    """Yield the paths of the groups in the consolidated metadata of a store."""
    root = place.get(METADATA)
    assert root is not None, "the store was opened"
    with metadata_errors(str(place)):
        inline = json.loads(root.to_bytes()).get("consolidated_metadata") or {}
        nodes = inline.get("metadata", {}).items()
        yield from (path for path, node in nodes if node["node_type"] == "group")
