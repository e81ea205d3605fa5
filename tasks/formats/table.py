"""The table of formats: all that are installed, found by their entry points."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from importlib.metadata import EntryPoint

from gangsaw.codecs.core import tables
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.formats.format import Format, Look, Sure

GROUP = "gangsaw.formats"


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Return every format by its name; a warning names what cannot be imported."""
    entries = tables.entries(GROUP)
    found = {name: tables.load(several, partial(_named, name)) for name, several in entries.items()}
    return {name: kind for name, kind in sorted(found.items()) if kind is not None}


def how_sure(kind: Format, look: Look) -> Sure:
    """Return how sure a format is of a path: not at all, with a warning, where a plugin fails."""
    return tables.ask(_entries().get(kind.name), lambda: _looked(kind, look)) or Sure.NO


def _looked(kind: Format, look: Look) -> Sure:
    try:
        return Sure(kind.sure(look))
    except ModuleNotFoundError:
        if not kind.lacking:
            raise
        return Sure.NO  # it cannot even look


def readable() -> list[Format]:
    """Return the formats that can be opened, sorted by title."""
    return _sorted(kind for kind in formats().values() if kind.open is not None)


def writable() -> list[Format]:
    """Return the formats that can be written, sorted by title."""
    return _sorted(kind for kind in formats().values() if kind.export is not None)


def named(name: str, among: list[Format]) -> Format:
    """Return the format of this name; BadParams names those there are."""
    for kind in among:
        if kind.name == name:
            return kind
    raise BadParams(f"format must be {names(among)}, got {name!r}")


def titles(among: list[Format]) -> str:
    """Return the formats' titles for a message."""
    return ", ".join(kind.title for kind in among)


def names(among: list[Format]) -> str:
    """Return the formats' names for a message."""
    return listed(sorted(kind.name for kind in among), "or")


def suffixes(among: list[Format]) -> str:
    """Return, for a message, the usual suffix of each format that has one."""
    usual = dict.fromkeys(kind.suffixes[0] for kind in among if kind.suffixes)
    return listed(list(usual), "or")


def markdown(among: Iterable[Format]) -> str:
    """Return a table of formats as the README has it."""
    head = ["| format | `--format` | read | written as |", "|---|---|---|---|"]
    return "\n".join(head + [_row(kind) for kind in _sorted(among)])


@lru_cache(maxsize=1)
def _entries() -> dict[str, EntryPoint]:
    """Return the entries that `formats` took."""
    found = tables.entries(GROUP)
    return {
        name: tables.settle(several, partial(_of_entry, name)) for name, several in found.items()
    }


def _of_entry(name: str, entry: EntryPoint) -> Format:
    return _named(name, entry.load())


def _named(name: str, value: object) -> Format:
    """Return the format of an entry; ValueError where it calls itself something else."""
    kind = tables.checked(Format, value)
    if kind.name != name:
        raise ValueError(f"its format has the name {kind.name!r}")
    return kind


def _row(kind: Format) -> str:
    read = "" if kind.open is None else "yes"
    if kind.needs:
        read = f"with `{kind.extra}`"
    written = " ".join(f"`{suffix}`" for suffix in kind.suffixes) if kind.export else ""
    return f"| {kind.title}: {kind.about} | `{kind.name}` | {read} | {written} |"


def _sorted(kinds: Iterable[Format]) -> list[Format]:
    return sorted(kinds, key=lambda kind: kind.title.lower())
