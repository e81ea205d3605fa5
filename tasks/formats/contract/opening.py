"""Opening of paths as sources: format detection, options and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams, GangsawError, first_line
from gangsaw.tasks.formats.contract.format import (
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    list_changed_options,
)
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.formats.contract.pipes import copy_pipes_to_files, is_pipe
from gangsaw.tasks.formats.contract.table import (
    get_format,
    list_names,
    rate_confidence,
    readable,
    titles,
)
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.objects.address import check_slashes
from gangsaw.tasks.store.objects.versions import Watch, file_versions
from gangsaw.tasks.store.salvage import MendingOf
from gangsaw.tasks.store.source import ZarrSource, open_zarr

__all__ = [
    "SourceOptions",
    "find_format",
    "open_independent_reader",
    "open_paths",
    "open_source",
    "open_store",
    "open_watched",
    "without_pipes",
]

ZARR = "zarr"
START = 8  # bytes of a file that formats get for detection


class UnknownFormat(BadParams):
    """Error: no format recognises the paths; the user may describe them as raw samples."""


def open_source(path: str | Sequence[str], options: SourceOptions | None = None) -> Source:
    """Return the source at a path; only headers and small coordinates are read.

    Raises BadParams with a one-line message for a missing path, an unknown format or a stream.
    """
    opened = open_paths((path,) if isinstance(path, str) else path, options)
    if isinstance(opened, Stream):
        raise BadParams(f"{opened.name} can only be read once, from its start: compress it first")
    return opened


def open_store(path: str, options: SourceOptions | None, mending: MendingOf) -> ZarrSource:
    """Return the Zarr store at a path; `mending` gives the treatment of damaged blocks.

    Raises BadParams like `open_source`, and for a source that is no Zarr store.
    """
    chosen = options or SourceOptions()
    kind = find_format((path,), chosen)
    if kind.name != ZARR:
        raise BadParams(
            f"{path} is {kind.title}: damaged blocks are recognised in Zarr stores only; leave "
            "--damaged out"
        )
    wanted = kind.for_opening(path, chosen)
    with _opening(path, kind):
        return open_zarr(
            path, wanted.group, wanted.variables, accept_loss=wanted.accept_loss, mending=mending
        )


def open_paths(paths: Sequence[str], options: SourceOptions | None = None) -> Source | Stream:
    """Return the source or stream made of all these paths.

    Raises BadParams with a one-line message for a missing path, an unknown format, a library that
    is not installed, and for a number of paths or options that the format does not take.
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
    """Return paths as texts; raise BadParams for anything else, such as the samples themselves."""
    found = (paths,) if isinstance(paths, str | Path) else paths
    is_list = isinstance(found, Sequence) and len(found) > 0
    if is_list and all(isinstance(path, str | Path) for path in found):
        return tuple(map(str, found))
    raise BadParams(f"name a path, or a list of paths; got {type(paths).__name__} {paths!r:.60}")


def open_watched(
    paths: Sequence[str], options: SourceOptions | None = None
) -> tuple[Source | Stream, Watch]:
    """Return the opened source or stream, and a watch of the versions of its files.

    Raises like `open_paths`, and JobFailed for a path that changed while its headers were read.
    """
    paths_alone = Watch.of_versions(lambda: file_versions(*paths))
    opened = open_paths(paths, options)
    watch = Watch.of_sources(opened)
    paths_alone.check()
    return opened, watch


def open_independent_reader(
    paths: Sequence[str], options: SourceOptions | None = None
) -> IndependentReader | None:
    """Return the independent reader of paths that `open_paths` opened, or None without one."""
    chosen = options or SourceOptions()
    kind = find_format(paths, chosen)
    if kind.independent_reader is None:
        return None
    what = ", ".join(paths)
    with _opening(what, kind):
        return kind.independent_reader(tuple(paths), kind.for_opening(what, chosen))


@contextmanager
def _opening(what: str, kind: Format) -> Iterator[None]:
    try:
        yield
    except BadParams as error:
        if type(error) is BadParams and not _is_named(what, error):
            raise BadParams(f"{what}: {error}") from error
        raise
    except (GangsawError, MemoryError):
        raise
    except Exception as error:  # a field's library raises anything at a damaged file
        raise BadParams(f"{what} cannot be read as {kind.title}: {first_line(error)}") from error


def _is_named(what: str, error: BadParams) -> bool:
    """Return True if an error message has the name of a path in `what`, a list with commas."""
    return any(Path(path).name in str(error) for path in what.split(", "))


def find_format(paths: Sequence[str], options: SourceOptions | None = None) -> Format:
    """Return the requested format, else the format with the highest confidence for all paths.

    A format that recognises the content and takes the options wins over one with a higher
    confidence that does not take them: HDF5 with --group, or any file with --shape.
    """
    chosen = options or SourceOptions()
    looks = [
        replace(inspect_path(path, list_changed_options(chosen)), paths=len(paths))
        for path in paths
    ]
    if chosen.format is not None:
        kind = get_format(chosen.format, readable())
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
        if list_changed_options(chosen) <= kind.opens_with
        and (sure >= Sure.CONTENT or sure == best)
    }
    return _choose_surest(paths, able or found)


@contextmanager
def without_pipes(paths: Sequence[str], options: SourceOptions) -> Iterator[list[str]]:
    """Yield the paths to open; pipes are replaced by file copies if their format needs that."""
    if not any(map(is_pipe, paths)) or not _copies_pipes(options):
        yield list(paths)
        return
    with copy_pipes_to_files(paths) as files:
        yield files


def _copies_pipes(options: SourceOptions) -> bool:
    """Return True if the formats in question need copies of pipes.

    These are the requested format, or all formats that take the options.
    """
    if options.format is not None:
        return any(kind.copies_pipes for kind in readable() if kind.name == options.format)
    asked = list_changed_options(options)
    able = [kind for kind in readable() if asked and asked <= kind.opens_with]
    return bool(able) and all(kind.copies_pipes for kind in able)


def may_have_format(paths: Sequence[str], options: SourceOptions, name: str) -> bool:
    """Return True if paths may be of the format with this name; False for an unknown name."""
    kind = next((kind for kind in readable() if kind.name == name), None)
    if kind is None or len(paths) not in kind.paths:
        return False
    asked = list_changed_options(options) | {name}
    looks = [replace(inspect_path(path, asked), paths=len(paths)) for path in paths]
    return _sure_of_all(kind, looks) > Sure.NO


def inspect_path(path: str, requested: frozenset[str] = frozenset()) -> Look:
    """Return the facts about a path for format detection; raise BadParams if it is missing."""
    if "://" in path:
        return Look(path, is_address=True, requested=requested)
    place = Path(path)
    if is_pipe(path):
        return Look(path, is_stream=True, requested=requested)
    if not place.exists():
        check_slashes(path)
        raise BadParams(f"{path}: no such file or directory: correct the path")
    if place.is_dir():
        return Look(path, is_folder=True, requested=requested)
    with place.open("rb") as file:
        return Look(path, file.read(START), requested=requested)


def _sure_of_all(kind: Format, looks: Sequence[Look]) -> Sure:
    if any(look.is_stream for look in looks) and not kind.streams:
        return Sure.NO
    return min(rate_confidence(kind, look) for look in looks)


def _choose_surest(paths: Sequence[str], found: dict[Format, Sure]) -> Format:
    best = max(found.values())
    kinds = [kind for kind, sure in found.items() if sure == best]
    if len(kinds) > 1:
        what = ", ".join(paths)
        raise BadParams(f"{what} may be {titles(kinds)}: pass --format {list_names(kinds)}")
    return kinds[0]


def _check_streams(looks: Sequence[Look], kind: Format) -> None:
    piped = [look.path for look in looks if look.is_stream]
    if piped and not kind.streams:
        raise BadParams(f"{piped[0]} is a stream: {kind.title} is read from files alone")


def _unknown(paths: Paths, looks: Sequence[Look]) -> str:
    what = ", ".join(paths)
    if any(look.is_stream for look in looks):
        able = [kind for kind in readable() if kind.streams]
        hint = f"pass --format {list_names(able)}" if able else "no format here reads one"
        return f"{what} is a stream of no known format: {hint}"
    if paths[1:]:
        return f"{what} are of no known format that reads several paths"
    return (
        f"{what} is of no known format ({titles(readable())}); "
        "if it holds raw samples, pass --shape and --dtype"
    )
