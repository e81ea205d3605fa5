"""From what a user names to a source: each format of the table is asked about the paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams, GangsawError, first_line
from gangsaw.tasks.formats.format import Format, Look, Paths, SourceOptions, Sure, given
from gangsaw.tasks.formats.table import how_sure, named, names, readable, titles
from gangsaw.tasks.formats.witness import Witness
from gangsaw.tasks.source import Source, Stream
from gangsaw.tasks.store.stamps import Watch, file_stamps

__all__ = [
    "SourceOptions",
    "find_format",
    "open_paths",
    "open_source",
    "open_watched",
    "open_witness",
]

START = 8  # bytes of a file that a format may look at
STDIN = "-"


class UnknownFormat(BadParams):
    """Nothing here reads these paths, unless as raw samples."""


def open_source(path: str | Sequence[str], options: SourceOptions | None = None) -> Source:
    """Return the source at a path; only headers and small coordinates are read.

    Raises BadParams, in one line, for a path that is missing, of no known format, or a stream.
    """
    opened = open_paths((path,) if isinstance(path, str) else path, options)
    if isinstance(opened, Stream):
        raise BadParams(f"{opened.name} can only be read once, from its start: compress it first")
    return opened


def open_paths(paths: Sequence[str], options: SourceOptions | None = None) -> Source | Stream:
    """Return the source at these paths together, or the stream from them.

    Raises BadParams, in one line, for what is missing, of no known format, or not installed, for a
    number of paths that the format does not take, and for options that it does not take.
    """
    chosen = options or SourceOptions()
    kind, what = find_format(paths, chosen), ", ".join(paths)
    kind.check_number(tuple(paths))
    wanted = kind.for_opening(what, chosen)
    kind.check_installed(what)
    assert kind.open is not None
    with _opening(what, kind):
        return kind.open(tuple(paths), wanted)


def paths_of(paths: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """Return paths as text; raise BadParams for what is none, such as the samples themselves."""
    found = (paths,) if isinstance(paths, str | Path) else paths
    is_list = isinstance(found, Sequence) and len(found) > 0
    if is_list and all(isinstance(path, str | Path) for path in found):
        return tuple(map(str, found))
    raise BadParams(f"name a path, or a list of paths; got {type(paths).__name__} {paths!r:.60}")


def open_watched(
    paths: Sequence[str], options: SourceOptions | None = None
) -> tuple[Source | Stream, Watch]:
    """Return what `open_paths` does, and a watch of it that began before: headers are read here.

    Raises as `open_paths`; JobFailed for a path that changed while it was opened.
    """
    paths_alone = Watch.by(lambda: file_stamps(*paths))
    opened = open_paths(paths, options)
    watch = Watch.of(opened)
    paths_alone.check()
    return opened, watch


def open_witness(paths: Sequence[str], options: SourceOptions | None = None) -> Witness | None:
    """Return what the field's own library reads at paths that `open_paths` opened; or None."""
    chosen = options or SourceOptions()
    kind = find_format(paths, chosen)
    if kind.witness is None:
        return None
    what = ", ".join(paths)
    with _opening(what, kind):
        return kind.witness(tuple(paths), kind.for_opening(what, chosen))


@contextmanager
def _opening(what: str, kind: Format) -> Iterator[None]:
    try:
        yield
    except (GangsawError, MemoryError):
        raise
    except Exception as error:  # a field's library raises anything at a damaged file
        raise BadParams(f"{what} cannot be read as {kind.title}: {first_line(error)}") from error


def find_format(paths: Sequence[str], options: SourceOptions | None = None) -> Format:
    """Return the format that the user names, else the one that is surest of all the paths.

    A format that is sure by the content and takes the options wins over a surer one that does not
    take them: HDF5 with --group, or any file with --shape.
    """
    chosen = options or SourceOptions()
    looks = [replace(look_at(path, given(chosen)), paths=len(paths)) for path in paths]
    if chosen.format is not None:
        kind = named(chosen.format, readable())
        _check_streams(looks, kind)
        return kind
    found = {kind: sure for kind in readable() if (sure := _sure_of_all(kind, looks))}
    if not found:
        raise UnknownFormat(_unknown(tuple(paths), looks))
    found = {kind: sure for kind, sure in found.items() if len(paths) in kind.paths} or found
    best = max(found.values())
    able = {
        kind: sure
        for kind, sure in found.items()
        if given(chosen) <= kind.opens_with and (sure >= Sure.CONTENT or sure == best)
    }
    return _surest(paths, able or found)


def may_be(paths: Sequence[str], options: SourceOptions, name: str) -> bool:
    """Whether paths may be of a format that is likely, by its name; False for an unknown one."""
    kind = next((kind for kind in readable() if kind.name == name), None)
    if kind is None or len(paths) not in kind.paths:
        return False
    asked = given(options) | {name}
    looks = [replace(look_at(path, asked), paths=len(paths)) for path in paths]
    return _sure_of_all(kind, looks) > Sure.NO


def look_at(path: str, asked: frozenset[str] = frozenset()) -> Look:
    """Return what is known of a path; BadParams where nothing is there."""
    if "://" in path:
        return Look(path, is_address=True, asked=asked)
    place = Path(path)
    if path == STDIN or (place.exists() and not place.is_dir() and not place.is_file()):
        return Look(path, is_stream=True, asked=asked)
    if not place.exists():
        raise BadParams(f"{path}: no such file or directory")
    if place.is_dir():
        return Look(path, is_folder=True, asked=asked)
    with place.open("rb") as file:
        return Look(path, file.read(START), asked=asked)


def _sure_of_all(kind: Format, looks: Sequence[Look]) -> Sure:
    if any(look.is_stream for look in looks) and not kind.streams:
        return Sure.NO
    return min(how_sure(kind, look) for look in looks)


def _surest(paths: Sequence[str], found: dict[Format, Sure]) -> Format:
    best = max(found.values())
    kinds = [kind for kind, sure in found.items() if sure == best]
    if len(kinds) > 1:
        what = ", ".join(paths)
        raise BadParams(f"{what} may be {titles(kinds)}: say --format {names(kinds)}")
    return kinds[0]


def _check_streams(looks: Sequence[Look], kind: Format) -> None:
    piped = [look.path for look in looks if look.is_stream]
    if piped and not kind.streams:
        raise BadParams(f"{piped[0]} is a stream: {kind.title} is read from files alone")


def _unknown(paths: Paths, looks: Sequence[Look]) -> str:
    what = ", ".join(paths)
    if any(look.is_stream for look in looks):
        able = [kind for kind in readable() if kind.streams]
        hint = f"say --format {names(able)}" if able else "no format here reads one"
        return f"{what} is a stream of no known format: {hint}"
    if paths[1:]:
        return f"{what} are of no known format that takes several paths"
    return (
        f"{what} is of no known format ({titles(readable())}); "
        "if it holds raw samples, say --shape and --dtype"
    )
