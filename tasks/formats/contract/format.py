"""Interface of file formats: an object that recognises paths, opens them and exports to them.

Each format is one file with one `Format`, and a line under `[project.entry-points.
"gangsaw.formats"]`. The file is imported for every `--help`, so slow imports go inside the
functions.
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
from gangsaw.codecs.core.plugins.extras import missing_module
from gangsaw.codecs.core.plugins.options import Option, flag, join_words
from gangsaw.tasks.formats.contract.signatures import hdf5_start
from gangsaw.tasks.store.damage import Damage

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.report.progress import OnProgress
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source, Stream

Paths = tuple[str, ...]
ONE = range(1, 2)  # exactly one path


class Sure(IntEnum):
    """Confidence of a format that a path has this format."""

    NO = 0
    ELSE = 1  # only if no other format takes the path
    PERHAPS = 2  # by the suffix, or because the format takes any such path
    CONTENT = 3  # by the content of the file or folder
    EXACTLY = 4  # by the content although a more general format matches too, or by user options


@dataclass(frozen=True)
class Look:
    """Facts about a path for format detection, known before it is opened.

    Attributes
    ----------
    path : as the user gave it
    start : first 8 bytes of a file, b"" for anything else
    is_folder, is_address, is_stream : a folder; a URL; a pipe, or "-" for standard input
    requested : names of the options that the user gave, and of the source format of a store
    paths : number of paths that were given together, this one included
    """

    path: str
    start: bytes = b""
    is_folder: bool = False
    is_address: bool = False
    is_stream: bool = False
    requested: frozenset[str] = frozenset()
    paths: int = 1

    @property
    def suffix(self) -> str:
        """Suffix of the path, in lower case."""
        return Path(self.path).suffix.lower()

    @cached_property
    def is_hdf5(self) -> bool:
        """True if the path is an HDF5 file, possibly with a user block before HDF5."""
        return bool(self.start) and hdf5_start(self.path) is not None


@dataclass(frozen=True)
class SourceOptions:
    """Options for opening a source; each format takes some of them.

    Attributes
    ----------
    variables : arrays to select; empty for all
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
        """Return the options as keyword arguments of the public functions, without defaults."""
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "own"}
        return {**{name: value for name, value in shared.items() if value}, **self.own}


@dataclass(frozen=True)
class ExportOptions:
    """Options for writing a target.

    Attributes
    ----------
    format : name of the format; None chooses it by the suffix
    own : values of the options that one format brings, by name
    """

    format: str | None = None
    own: Mapping[str, object] = field(default_factory=dict)


class Store(Protocol):
    """Job that writes a Zarr store."""

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
        """Write the whole source to the store `target`."""


@dataclass(frozen=True)
class Work:
    """Execution settings of an export.

    Attributes
    ----------
    overwrite, resume, accept_loss : permissions that the user gives
    client : Dask client; None works in this process
    on_progress : callback after completed pieces
    store : job that writes a Zarr store, passed in by a module that may import jobs
    damage : damaged blocks of the source, and their treatment
    """

    overwrite: bool = False
    resume: bool = False
    client: Client | None = None
    on_progress: OnProgress | None = None
    store: Store | None = None
    accept_loss: bool = False
    damage: Damage = field(default_factory=Damage)


@dataclass(frozen=True)
class Fit:
    """Verdict of a format on a data set that would be exported to it.

    Attributes
    ----------
    refusal : reason why the format cannot hold the data set, "" if it can
    lost : description of each item that would be lost; the user must accept each loss
    is_own : whether the data set was read from a file of this format
    told : messages: description of each item that changes its form without loss
    """

    refusal: str = ""
    lost: tuple[str, ...] = ()
    is_own: bool = False
    told: tuple[str, ...] = ()


def fit_without_loss(_: Source) -> Fit:
    """Return the verdict of a format that holds any data set without loss."""
    return Fit()


def suitable(_: Source, __: Paths, ___: ExportOptions) -> None:
    """Accept any targets and options: `fit` reports all obstacles to an export."""


def nothing_lost(_: Source, __: ExportOptions) -> tuple[str, ...]:
    """Return (): the export options lose nothing beyond what the format itself cannot hold."""
    return ()


def catch_refusal(check: Callable[[], object]) -> str:
    """Return the message of the BadParams that a check raises, "" if it raises none."""
    try:
        check()
    except BadParams as error:
        return str(error)
    return ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """File format with its functions and properties.

    Attributes
    ----------
    name : value of --format
    title : display name in messages
    about : a few words that follow the title in lists
    sure : function that returns the confidence that a path is of this format
    open : function that opens the source at these paths; None for a write-only format
    takes : fields of `SourceOptions` that `open` takes
    options : the format's own options for opening, as options of `compress` and `verify`
    independent_reader : function that returns the independent reader of these paths for `verify`,
        or None if its library is not installed or cannot read them; None if no library reads the
        format
    export : function that writes a source to these paths; None for a read-only format
    export_options : options that `export` takes, as options of `decompress`
    suffixes : suffixes of targets, in lower case, the usual one first
    fit : function that returns the verdict on a data set
    check : function that raises BadParams, before any work, for targets and options that do not
        match a source
    lost_with : function that describes the losses due to the export options alone
    needs : modules that `open` imports and the package does not install
    extra : requirement that installs them, such as "gangsaw[io]"
    paths : allowed numbers of paths of one source
    targets : allowed numbers of paths of one target; None for the numbers in `paths`
    streams : whether the paths may be pipes, read once from their start; `open` returns a `Stream`
    copies_pipes : whether pipes are copied to temporary files first, for reads out of order
    writes_streams : whether "-" as a target means standard output
    resumes : whether an interrupted export can be resumed
    damaged : supported treatments of damaged blocks of a store: "fill" samples, "skip" records
    """

    name: str
    title: str
    about: str
    sure: Callable[[Look], Sure]
    open: Callable[[Paths, SourceOptions], Source | Stream] | None = None
    takes: frozenset[str] = frozenset()
    options: tuple[Option, ...] = ()
    independent_reader: Callable[[Paths, SourceOptions], IndependentReader | None] | None = None
    export: Callable[[Source, Paths, ExportOptions, Work], None] | None = None
    export_options: tuple[Option, ...] = ()
    suffixes: tuple[str, ...] = ()
    fit: Callable[[Source], Fit] = fit_without_loss
    check: Callable[[Source, Paths, ExportOptions], None] = suitable
    lost_with: Callable[[Source, ExportOptions], tuple[str, ...]] = nothing_lost
    needs: tuple[str, ...] = ()
    extra: str = ""
    paths: range = ONE
    targets: range | None = None
    streams: bool = False
    copies_pipes: bool = False
    writes_streams: bool = False
    resumes: bool = False
    damaged: tuple[str, ...] = ()

    @property
    def opens_with(self) -> frozenset[str]:
        """Names of all options that `open` takes."""
        return self.takes | {option.name for option in self.options}

    @property
    def exports_with(self) -> frozenset[str]:
        """Names of all options that `export` takes."""
        return frozenset(option.name for option in self.export_options)

    def for_opening(self, what: str, options: SourceOptions) -> SourceOptions:
        """Return the source options with their texts parsed into values.

        Raises BadParams for an option that `open` does not take, and for an invalid value.
        """
        self._refuse_others(what, list_changed_options(options), self.opens_with)
        return replace(options, own=_values(self.options, options.own))

    def for_export(self, what: str, options: ExportOptions) -> ExportOptions:
        """Return the export options with their texts parsed into values.

        Raises BadParams for an option that `export` does not take, and for an invalid value.
        """
        self._refuse_others(what, list_changed_options(options), self.exports_with)
        return replace(options, own=_values(self.export_options, options.own))

    def _refuse_others(
        self, what: str, requested: frozenset[str], accepted: frozenset[str]
    ) -> None:
        """Raise BadParams for a requested option that is not accepted; the message lists these."""
        if requested <= accepted:
            return
        wrong = join_words(flags(requested - accepted))
        there = f"it has {join_words(flags(accepted))}" if accepted else f"leave {wrong} out"
        raise BadParams(f"{what} is {self.title}, which has no {wrong}; {there}")

    def check_installed(self, what: str) -> None:
        """Raise BadParams for a missing module; the message names the package to install."""
        for module in self.lacking:
            raise missing_module(module, f"{what} is {self.title}", self.extra)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Modules in `needs` that are not installed."""
        return tuple(module for module in self.needs if find_spec(module) is None)

    def check_number(self, paths: Paths, *, are_targets: bool = False) -> None:
        """Raise BadParams if the format does not take this number of paths."""
        takes = self.targets or self.paths if are_targets else self.paths
        if len(paths) not in takes:
            least, most = takes.start, takes.stop - 1
            number = str(least) if least == most else f"{least} to {most}"
            raise BadParams(
                f"{', '.join(paths)}: {self.title} takes {number} path{'s' if most > 1 else ''}, "
                f"not {len(paths)}"
            )


def list_changed_options(options: SourceOptions | ExportOptions) -> frozenset[str]:
    """Return the names of the options that differ from their defaults.

    `format` and `accept_loss` are not listed: every format takes them.
    """
    shared = [f for f in fields(options) if f.name not in ("format", "accept_loss", "own")]
    return frozenset(options.own) | {
        f.name for f in shared if getattr(options, f.name) != f.default
    }


def flags(names: Iterable[str]) -> list[str]:
    """Return the command-line flags of options, sorted."""
    return sorted(flag("variable" if name == "variables" else name) for name in names)


def _values(options: Iterable[Option], own: Mapping[str, object]) -> dict[str, object]:
    return {o.name: o.value(own[o.name]) for o in options if o.name in own}
