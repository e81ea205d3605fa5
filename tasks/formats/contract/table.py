"""Table of the installed formats, found by their entry points."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from importlib.metadata import EntryPoint

from gangsaw.codecs.core.plugins import entry_points
from gangsaw.codecs.core.plugins.options import join_words, none_of
from gangsaw.tasks.formats.contract.format import Format, Look, Sure

GROUP = "gangsaw.formats"


@lru_cache(maxsize=1)
def formats() -> dict[str, Format]:
    """Return all installed formats by name; a warning names each one that cannot be imported."""
    entries = entry_points.find_entries(GROUP)
    found = {
        name: entry_points.load_first(several, partial(_named, name))
        for name, several in entries.items()
    }
    return {name: kind for name, kind in sorted(found.items()) if kind is not None}


def rate_confidence(kind: Format, look: Look) -> Sure:
    """Return a format's confidence for a path; a failing plugin gives `Sure.NO` and a warning."""
    return (
        entry_points.query_plugin(_entries().get(kind.name), lambda: _looked(kind, look)) or Sure.NO
    )


def _looked(kind: Format, look: Look) -> Sure:
    try:
        return Sure(kind.sure(look))
    except ModuleNotFoundError:
        if not kind.lacking:
            raise
        return Sure.NO  # a module that detection needs is not installed


def readable() -> list[Format]:
    """Return the formats that can be opened, sorted by title."""
    return _sorted(kind for kind in formats().values() if kind.open is not None)


def writable() -> list[Format]:
    """Return the formats that can be written, sorted by title."""
    return _sorted(kind for kind in formats().values() if kind.export is not None)


def get_format(name: str, among: list[Format]) -> Format:
    """Return the format with a name; raise BadParams with the known names if there is none."""
    for kind in among:
        if kind.name == name:
            return kind
    raise none_of("format", sorted(kind.name for kind in among), name)


def titles(among: list[Format]) -> str:
    """Return the titles of formats for a message."""
    return ", ".join(kind.title for kind in among)


def list_names(among: list[Format]) -> str:
    """Return the names of formats for a message."""
    return join_words(sorted(kind.name for kind in among), "or")


def suffixes(among: list[Format]) -> str:
    """Return, for a message, the usual suffix of each format that has one."""
    usual = dict.fromkeys(kind.suffixes[0] for kind in among if kind.suffixes)
    return join_words(list(usual), "or")


def tabulate_formats(among: Iterable[Format]) -> str:
    """Return the table of formats of the README, as Markdown."""
    head = ["| format | `--format` | read | written as |", "|---|---|---|---|"]
    return "\n".join(head + [_row(kind) for kind in _sorted(among)])


@lru_cache(maxsize=1)
def _entries() -> dict[str, EntryPoint]:
    """Return the entry points that `formats` selected, by name."""
    found = entry_points.find_entries(GROUP)
    return {
        name: entry_points.settle(several, partial(_of_entry, name))
        for name, several in found.items()
    }


def _of_entry(name: str, entry: EntryPoint) -> Format:
    return _named(name, entry.load())


def _named(name: str, value: object) -> Format:
    """Return the format of an entry point; raise ValueError if its own name differs."""
    kind = entry_points.checked(Format, value)
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
