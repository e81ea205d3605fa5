"""Arguments of the public functions: options of codecs, and of the source that they open."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.formats.contract.format import SourceOptions, flags, list_changed_options
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.formats.contract.opening import (
    may_have_format,
    open_independent_reader,
    open_source,
    open_watched,
    paths_of,
    without_pipes,
)
from gangsaw.tasks.formats.contract.table import readable
from gangsaw.tasks.formats.python_objects.conversion import (
    build_source_error,
    get_type_name,
    source_of,
)
from gangsaw.tasks.jobs.verification.attributes import stored_attributes
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.versions import Watch

if TYPE_CHECKING:
    import dask.array as da
    import xarray as xr
    import zarr
    from distributed import Client
    from zarr.types import AnyArray

    from gangsaw.codecs.core.arrays import NumpyArray

    Objects: TypeAlias = (
        NumpyArray | da.Array | AnyArray | zarr.Group | xr.DataArray | xr.Dataset | xr.DataTree
    )

# source given by its name, opened, or as an object of Python
Named: TypeAlias = "str | Path | Sequence[str | Path] | Source | Stream | Objects"

SHARED = {"variables", "group", "format", "accept_loss"}  # fields of SourceOptions, for all formats


def open_field_reader(
    against: object,
    options: SourceOptions,
    source: Source | Stream,
) -> IndependentReader | None:
    """Open the paths with the field's own library; return None if the caller opened it."""
    if not is_named(against):
        return None
    if options.variables and isinstance(source, Source):  # names may be last components
        full = [*(array.name for array in source.arrays), *(coord.name for coord in source.coords)]
        options = replace(options, variables=tuple(full))
    return open_independent_reader(paths_of(cast("str", against)), options)


def choose_recorded_format(options: SourceOptions, against: object, store: str) -> SourceOptions:
    """Return the options with the format that the store's attributes record, if the source fits it.

    That applies only if no format is named: a short genome alone looks like reads.
    """
    if options.format is not None or not is_named(against):
        return options
    try:
        attrs = (
            stored_attributes(open_prefix(store)) or {}
        )  # readers of the store report its errors
    except GangsawError:  # readers of the store report its errors
        return options
    said = (value.get("format") for value in attrs.values() if isinstance(value, Mapping))
    paths = paths_of(cast("str", against))
    fits = (str(one) for one in said if one and may_have_format(paths, options, str(one)))
    return replace(options, format=next(fits, None))


def restore_stored_form(source: Source | Stream, store: str | Path) -> Source | Stream:
    """Return a source in the form that the store was written from, such as another record order.

    Sources that do not support that are returned unchanged.
    """
    again = getattr(source, "as_stored", None)
    return source if again is None else again(open_source(str(store)))


def split_options(options: Mapping[str, object]) -> tuple[dict[str, object], SourceOptions]:
    """Split keyword options into those of codecs and those of the source."""
    of_formats = {option.name for kind in readable() for option in kind.options}
    of_source = {*of_formats, *SHARED, "variable"}
    of_codecs = {k: v for k, v in options.items() if k not in of_source and v is not None}
    return of_codecs, source_options(options, of_source)


def source_options(options: Mapping[str, object], names: Collection[str]) -> SourceOptions:
    """Return the options for opening a source; those of one format are its `own`.

    Parameters
    ----------
    options : values by name
    names : names of all options that formats have
    """
    said = {k: v for k, v in options.items() if k in names and v is not None}
    if "variable" in said:
        raise BadParams("'variable' is set by variables=[...]")
    shared = {name: said.pop(name) for name in SHARED & said.keys()}
    variables = shared.pop("variables", ())
    if isinstance(variables, str) or not isinstance(variables, Iterable):
        raise BadParams(f"variables must be names, got {variables!r}")
    accept_loss = bool(shared.pop("accept_loss", False))
    texts = {name: str(value) for name, value in shared.items()}
    return SourceOptions(tuple(map(str, variables)), **texts, accept_loss=accept_loss, own=said)


def check_client(client: object) -> None:
    """Raise TypeError unless the argument is None or a Dask client."""
    if client is not None and not hasattr(client, "scheduler_info"):
        raise TypeError(
            "client must be a client of Dask, as gangsaw.workers() gives, "
            f"got {get_type_name(client)}"
        )


def check_stream(stream: Stream, options: Mapping[str, object], resume: bool) -> None:
    """Raise BadParams for options that need a second read of a stream."""
    if resume and not getattr(stream, "is_repeatable", False):
        raise BadParams(f"{stream.name} is a stream: it cannot be resumed, use --overwrite")
    of_codecs = (option for of in codec_table.capabilities().values() for option in of.options)
    for option in of_codecs:
        if option.name in options and options[option.name] in option.scans:
            raise BadParams(
                f"{stream.name} is a stream, which is encoded as it comes: no scan for "
                f"{option.flag} {options[option.name]} can go before"
            )


def open_given_source(
    source: Named, options: SourceOptions, client: Client | None = None
) -> tuple[Source | Stream, Watch]:
    """Open a source; return it with a watch of its files, which began before the opening of paths.

    Raises
    ------
    TypeError : the argument is no source
    """
    if is_named(source):
        return open_watched(paths_of(cast("str", source)), options)
    found = source if isinstance(source, Source | Stream) else _of_object(source, options, client)
    if found is not source:
        options = replace(options, variables=(), accept_loss=False)
    source = found
    if asked := list_changed_flags(options):
        raise BadParams(f"{source.name} is open: {join_words(asked)} comes too late")
    return source, Watch.of_sources(source)


@contextmanager
def readable_source(source: Named | None, options: SourceOptions) -> Iterator[Named | None]:
    """Yield a source; pipes are copied to files if their format cannot be read in order."""
    if source is None or not is_named(source):
        yield source
        return
    paths = paths_of(cast("str", source))
    with without_pipes(paths, options) as files:
        yield source if files == list(paths) else files


def is_named(source: object) -> bool:
    """Return True if a source is a path or address, or several."""
    several = source if isinstance(source, list | tuple) and source else (source,)
    return all(isinstance(one, str | Path) for one in several)


def _of_object(source: object, options: SourceOptions, client: Client | None) -> Source:
    found = source_of(source, client, options.variables, accept_loss=options.accept_loss)
    if found is None:
        raise build_source_error(source)
    return found


def list_changed_flags(options: SourceOptions) -> list[str]:
    """Return the flags of all options that differ from their defaults, the format included."""
    return flags(
        list_changed_options(options) | ({"format"} if options.format is not None else set())
    )
