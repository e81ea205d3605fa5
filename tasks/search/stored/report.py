"""`gangsaw info` output for a store of indexes, and for the indexes next to a store."""

from __future__ import annotations

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.console.output import size
from gangsaw.tasks.jobs.figures.contents import Content
from gangsaw.tasks.jobs.figures.report import StoreInfo, describe
from gangsaw.tasks.search.stored.data import open_texts
from gangsaw.tasks.search.stored.info import (
    SUFFIX,
    IndexedArray,
    default_location,
    parse_index_attribute,
)
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.objects.prefix import open_prefix


def read_index_content(info: StoreInfo) -> Content:
    """Return the description of a store of indexes for `gangsaw info`.

    Raises BadParams if its attribute is invalid.
    """
    stored = {array.name: array.stored_bytes for array in info.arrays}
    arrays = parse_index_attribute(info.source.attrs)
    rows = tuple((f"of {name}", _words(how, stored.get(name, 0))) for name, how in arrays.items())
    figures = {
        name: {
            "kind": how.kind,
            "letters": how.size,
            "indexes": len(how.starts),
            "chunk": how.chunk,
            "rate": how.rate,
            "stored_bytes": stored.get(name, 0),
        }
        for name, how in arrays.items()
    }
    return Content("indexes", rows, figures)


def describe_indexes(info: StoreInfo) -> Content | None:
    """Return the description of the indexes next to a store; None if there are none."""
    where = default_location(info.store)
    if info.store.endswith(SUFFIX) or not open_prefix(where).has(METADATA):
        return None
    try:
        found = describe(where)
        own, arrays = read_index_content(found), parse_index_attribute(found.source.attrs)
    except (GangsawError, OSError) as error:
        return Content("index", (("at", where), ("state", str(error))), {"store": where})
    is_current = all(_is_current(info.store, name, how) for name, how in arrays.items())
    state = "of this content" if is_current else "of another content: gangsaw index --overwrite"
    rows = (("at", where), ("state", state), *own.rows)
    return Content("index", rows, {"store": where, "is_current": is_current, **own.figures})


def _is_current(store: str, name: str, how: IndexedArray) -> bool:
    try:
        return open_texts(store, [name])[1][name].identity == how.identity
    except BadParams:
        return False


def _words(how: IndexedArray, stored: int) -> str:
    a_letter = f", {stored / how.size:.2f} bytes per {how.kind[:-1]}" if how.size else ""
    each = f"{len(how.starts)} of {how.chunk:,} {how.kind}, every {how.rate}th position stored"
    return f"{how.size:,} {how.kind} in {size(stored)}{a_letter}: {each}"
