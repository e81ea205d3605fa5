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
BESIDE = "gangsaw.beside"  # functions that say what belongs to any store and lies beside it


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


Say = Callable[[StoreInfo], Content | None]


def contents_of(info: StoreInfo) -> tuple[Content, ...]:
    """Return what the domains say of a store; BadParams where its attributes are wrong."""
    own = {name: it for name, it in tables.entries(GROUP).items() if name in info.source.attrs}
    groups = (own, tables.entries(BESIDE))
    found = [_said(info, group[name]) for group in groups for name in sorted(group)]
    return tuple(content for content in found if content is not None)


def _said(info: StoreInfo, several: tables.Candidates) -> Content | None:
    entry = tables.settle(several, EntryPoint.load)
    say: Say | None = tables.attempt(entry, entry.load)
    return None if say is None else tables.ask(entry, partial(say, info), (GangsawError,))
