"""What a format is: an object that recognises its paths, and opens and exports them.

One format is one file with one `Format`, and its line under `[project.entry-points.
"gangsaw.formats"]`. The file is imported for every `--help`, so what is slow to import is imported
inside the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.extras import missing
from gangsaw.codecs.core.options import Option, flag, listed
from gangsaw.tasks.formats.signatures import hdf5_start

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.progress import OnProgress
    from gangsaw.tasks.formats.witness import Witness
    from gangsaw.tasks.source import Source, Stream

Paths = tuple[str, ...]
ONE = range(1, 2)  # path


class Sure(IntEnum):
    """How sure a format is that a path is its own."""

    NO = 0
    ELSE = 1  # where no other format takes it
    PERHAPS = 2  # by the suffix, or since any such path may be
    CONTENT = 3  # by what the file or folder holds
    EXACTLY = 4  # the same where a more general format matches, too, or where the user says so


@dataclass(frozen=True)
class Look:
    """What is known of a path before it is opened.

    Attributes
    ----------
    path : as the user gave it
    start : first 8 bytes of a file, b"" of all else
    is_folder, is_address, is_stream : a folder; a URL; a pipe, or "-" for standard input
    asked : names of the options that the user gave, and of the format that a store was made of
    paths : how many were named together, this one among them
    """

    path: str
    start: bytes = b""
    is_folder: bool = False
    is_address: bool = False
    is_stream: bool = False
    asked: frozenset[str] = frozenset()
    paths: int = 1

    @property
    def suffix(self) -> str:
        """Of the path, in lower case."""
        return Path(self.path).suffix.lower()

    @cached_property
    def is_hdf5(self) -> bool:
        """Whether it is a file of HDF5, which may begin behind a user block."""
        return bool(self.start) and hdf5_start(self.path) is not None


@dataclass(frozen=True)
class SourceOptions:
    """What a user says of a source that its content does not; each format takes some options.

    Attributes
    ----------
    variables : arrays to take; none is all
    group : group of a Zarr store or HDF5 file; data description of a MeasurementSet
    format : name of the format, instead of that of the content
    accept_loss : leave out what cannot be stored; without it such a source is refused
    own : values of the options that one format brings, by name
    """

    variables: tuple[str, ...] = ()
    group: str = ""
    format: str | None = None
    accept_loss: bool = False
    own: Mapping[str, object] = field(default_factory=dict)

    def keywords(self) -> dict[str, object]:
        """Return them as keywords of the public functions; what is not given is left out."""
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "own"}
        return {**{name: value for name, value in shared.items() if value}, **self.own}


@dataclass(frozen=True)
class ExportOptions:
    """How to write; a format that is None is that of the suffix.

    Attributes
    ----------
    format : name of the format, instead of that of the suffix
    own : values of the options that one format brings, by name
    """

    format: str | None = None
    own: Mapping[str, object] = field(default_factory=dict)


class Store(Protocol):
    """A job that writes a Zarr store."""

    def __call__(
        self,
        source: Source,
        target: str,
        *,
        client: Client | None,
        resume: bool,
        overwrite: bool,
        on_progress: OnProgress | None,
    ) -> object:
        """Write it whole."""


@dataclass(frozen=True)
class Work:
    """How an export is done.

    Attributes
    ----------
    overwrite, resume, accept_loss : what the user allows
    client : Dask client; None works in this process
    on_progress : called as pieces are done
    store : the job that writes a Zarr store, given by a module that may import jobs
    """

    overwrite: bool = False
    resume: bool = False
    client: Client | None = None
    on_progress: OnProgress | None = None
    store: Store | None = None
    accept_loss: bool = False


@dataclass(frozen=True)
class Fit:
    """How a data set would fit into a format.

    Attributes
    ----------
    refusal : why it cannot be held, "" where it can
    lost : each item that would be lost, in words; without the user's consent none may be
    is_own : whether the data set came from such a file
    told : what comes out in another form, with nothing lost, in words
    """

    refusal: str = ""
    lost: tuple[str, ...] = ()
    is_own: bool = False
    told: tuple[str, ...] = ()


def fits(_: Source) -> Fit:
    """Say that the format can hold any data set, with nothing lost."""
    return Fit()


def suitable(_: Source, __: Paths, ___: ExportOptions) -> None:
    """Raise nothing: `fit` says all that speaks against an export."""


def nothing_lost(_: Source, __: ExportOptions) -> tuple[str, ...]:
    """Say that the options of an export lose nothing beside what the format has no place for."""
    return ()


def refused(check: Callable[[], object]) -> str:
    """Return the error of a check on a data set, "" where it raises no BadParams."""
    try:
        check()
    except BadParams as error:
        return str(error)
    return ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Attributes
    ----------
    name : for --format
    title : for messages
    about : the rest of its line in lists, a few words
    sure : returns how sure the format is that a path is its own
    open : returns the source at these paths; None for a format that is only written
    takes : fields of SourceOptions that `open` takes
    options : those of opening that the format brings, as options of `compress` and `verify`
    witness : returns what the field's own library reads at these paths, for `verify`, or None where
        it is not installed or cannot read them; None for a format that no library reads
    export : writes a source to these paths; None for a format that is only read
    export_options : those that `export` takes, as options of `decompress`
    suffixes : of targets, in lower case, the usual one first
    fit : returns how a data set would fit
    check : raises BadParams for targets and options that do not suit a source, before any work
    lost_with : returns what these options lose beside that, in words
    needs : modules that `open` imports and the package does not install
    extra : what to install for them, such as "gangsaw[io]"
    paths : how many paths are one source
    targets : how many paths are one target; None is as many
    streams : whether the paths may be pipes, read once from their start; `open` returns a Stream
    writes_streams : whether "-" as a target is standard output
    resumes : whether an export that stopped can go on
    """

    name: str
    title: str
    about: str
    sure: Callable[[Look], Sure]
    open: Callable[[Paths, SourceOptions], Source | Stream] | None = None
    takes: frozenset[str] = frozenset()
    options: tuple[Option, ...] = ()
    witness: Callable[[Paths, SourceOptions], Witness | None] | None = None
    export: Callable[[Source, Paths, ExportOptions, Work], None] | None = None
    export_options: tuple[Option, ...] = ()
    suffixes: tuple[str, ...] = ()
    fit: Callable[[Source], Fit] = fits
    check: Callable[[Source, Paths, ExportOptions], None] = suitable
    lost_with: Callable[[Source, ExportOptions], tuple[str, ...]] = nothing_lost
    needs: tuple[str, ...] = ()
    extra: str = ""
    paths: range = ONE
    targets: range | None = None
    streams: bool = False
    writes_streams: bool = False
    resumes: bool = False

    @property
    def opens_with(self) -> frozenset[str]:
        """The names of all options that `open` takes."""
        return self.takes | {option.name for option in self.options}

    @property
    def exports_with(self) -> frozenset[str]:
        """The names of all options that `export` takes."""
        return frozenset(option.name for option in self.export_options)

    def for_opening(self, what: str, options: SourceOptions) -> SourceOptions:
        """Return the options with the values of their texts.

        Raises BadParams for an option that `open` does not take, and for a wrong value.
        """
        self._refuse_others(what, given(options), self.opens_with)
        return replace(options, own=_values(self.options, options.own))

    def for_export(self, what: str, options: ExportOptions) -> ExportOptions:
        """Return the options with the values of their texts.

        Raises BadParams for an option that `export` does not take, and for a wrong value.
        """
        self._refuse_others(what, given(options), self.exports_with)
        return replace(options, own=_values(self.export_options, options.own))

    def _refuse_others(self, what: str, asked: frozenset[str], taken: frozenset[str]) -> None:
        """Raise BadParams for options that are given and not taken; it lists those taken."""
        if asked <= taken:
            return
        there = listed(flags(taken)) if taken else "none of these options"
        raise BadParams(
            f"{what} is {self.title}, which takes no {listed(flags(asked - taken))}; "
            f"it takes {there}"
        )

    def check_installed(self, what: str) -> None:
        """Raise BadParams, with what to install, for a module that is not there."""
        for module in self.lacking:
            raise missing(module, f"{what} is {self.title}", self.extra)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Those of `needs` that are not installed."""
        return tuple(module for module in self.needs if find_spec(module) is None)

    def check_number(self, paths: Paths, *, are_targets: bool = False) -> None:
        """Raise BadParams where so many paths are no source or target of the format."""
        takes = self.targets or self.paths if are_targets else self.paths
        if len(paths) not in takes:
            least, most = takes.start, takes.stop - 1
            number = str(least) if least == most else f"{least} to {most}"
            raise BadParams(
                f"{', '.join(paths)}: {self.title} takes {number} path{'s' if most > 1 else ''}, "
                f"not {len(paths)}"
            )


def given(options: SourceOptions | ExportOptions) -> frozenset[str]:
    """Return the names of the options that differ from their defaults, the format's apart.

    A loss may be accepted of any format, also of those that lose nothing.
    """
    shared = [f for f in fields(options) if f.name not in ("format", "accept_loss", "own")]
    return frozenset(options.own) | {
        f.name for f in shared if getattr(options, f.name) != f.default
    }


def flags(names: Iterable[str]) -> list[str]:
    """Return the options of the command line that these are."""
    return sorted(flag("variable" if name == "variables" else name) for name in names)


def _values(options: Iterable[Option], own: Mapping[str, object]) -> dict[str, object]:
    return {o.name: o.value(own[o.name]) for o in options if o.name in own}
