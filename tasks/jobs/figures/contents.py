"""Domain-specific description of a store, shown with the figures of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint

from gangsaw.codecs.core.errors import GangsawError
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.tasks.jobs.figures.report import StoreInfo

# functions that describe a store, by the name of an attribute of its group
GROUP = "gangsaw.contents"
SIDECARS = "gangsaw.beside"  # functions that describe sidecar files, of any store


@dataclass(frozen=True)
class Content:
    """Domain-specific figures of a store, such as the number of reads or genomes.

    Attributes
    ----------
    name : key of the figures in JSON, such as "reads"
    rows : rows of a table, each with a name and a value
    figures : the same values for JSON
    """

    name: str
    rows: tuple[tuple[str, str], ...]
    figures: Mapping[str, object] = field(default_factory=dict)


Describe = Callable[[StoreInfo], Content | None]


def contents_of(info: StoreInfo) -> tuple[Content, ...]:
    """Return the domain-specific figures of a store; raise BadParams for wrong attributes."""
    own = {
        name: it
        for name, it in entry_points.find_entries(GROUP).items()
        if name in info.source.attrs
    }
    groups = (own, entry_points.find_entries(SIDECARS))
    found = [_describe(info, group[name]) for group in groups for name in sorted(group)]
    return tuple(content for content in found if content is not None)


def _describe(info: StoreInfo, several: entry_points.Candidates) -> Content | None:
    entry = entry_points.settle(several, EntryPoint.load)
    describe: Describe | None = entry_points.attempt(entry, entry.load)
    if describe is None:
        return None
    return entry_points.query_plugin(entry, partial(describe, info), (GangsawError,))
