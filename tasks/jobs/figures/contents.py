"""What a domain says of a whole store, beside the figures of its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint

from gangsaw.codecs.core import tables
from gangsaw.codecs.core.errors import GangsawError
from gangsaw.tasks.jobs.figures.report import StoreInfo

# by the name of an attribute that a store's group has, functions that say what it holds
GROUP = "gangsaw.contents"


@dataclass(frozen=True)
class Content:
    """What a store holds.

    Attributes
    ----------
    name : of the content, for its figures in JSON, such as "reads"
    rows : of a table, a name and a value each
    figures : the same as JSON values
    """

    name: str
    rows: tuple[tuple[str, str], ...]
    figures: Mapping[str, object] = field(default_factory=dict)


Say = Callable[[StoreInfo], Content]


def contents_of(info: StoreInfo) -> tuple[Content, ...]:
    """Return what the domains say of a store; BadParams where its attributes are wrong."""
    found = []
    for name, several in sorted(tables.entries(GROUP).items()):
        if name in info.source.attrs:
            entry = tables.settle(several, EntryPoint.load)
            say: Say | None = tables.attempt(entry, entry.load)
            ask = None if say is None else partial(say, info)
            found.append(None if ask is None else tables.ask(entry, ask, (GangsawError,)))
    return tuple(content for content in found if content is not None)
