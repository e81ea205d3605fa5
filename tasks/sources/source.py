"""`Source`: frozen, picklable description of the input, opened on each worker.

A source file format has one class for `Source` and one for `SourceArray`. Both are frozen
dataclasses. A `SourceArray` is sent with every batch, so it contains what is needed to open and
read (path, offset, shape, dtype), never data. Files are opened at the first `read` in a process and
kept in a cache of that module, keyed by the description.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.sources.library_errors import convert_library_errors

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.report.progress import OnProgress

# one slice per axis, 0 <= start < stop <= extent, step 1
Region: TypeAlias = "tuple[slice[int, int, int | None], ...]"
# of a file: function of stored bytes and those of the source -> a line for each difference
Unlike: TypeAlias = "Callable[[NumpyArray, NumpyArray], list[str]]"
# attributes of a coordinate with a file without its arrays: its format, their layout, names
FILE_ATTRS = {"format", "rows", "items"}


@runtime_checkable
class Description(Protocol):
    """Description of an array: name, shape, dtype and all other metadata."""

    @property
    def name(self) -> str:
        """Name of the variable, and of the array in the target; "/" separates groups."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis, in samples."""

    @property
    def dtype(self) -> Dtype:
        """Dtype of the samples as stored (CF scale and offset are not applied), with byte order."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Name of each axis, such as ("band", "y", "x")."""

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Extents of the pieces that the source can only read whole; None if any region is cheap.

        The memory bound counts every such piece that a region touches.
        """

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target array (units, scale_factor, add_offset, ...)."""

    @property
    def fill_value(self) -> object:
        """Fill value of the target array in units of `dtype`; None is zero."""


@runtime_checkable
class SourceArray(Description, Protocol):
    """Array of a source, read region by region.

    If the file may be longer than the samples, `unread_bytes` is the number of bytes left over.
    """

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region, of `dtype` and the region's shape.

        It may be called from several threads at once. Subclasses of `Described` raise no errors of
        libraries.

        Raises
        ------
        CorruptChunk : bytes are missing, as in a truncated file
        OSError : the file cannot be opened
        """


@runtime_checkable
class RemoteArray(SourceArray, Protocol):
    """Array that may be behind a network, with read-ahead."""

    @property
    def is_remote(self) -> bool:
        """True if reads go over a network."""

    def begin(self, region: Region) -> bool:
        """Begin to read ahead a region; return False if nothing was begun."""

    def ready(self, region: Region) -> None:
        """Wait for the read-ahead of `begin`; errors are raised by `read`."""

    def forget(self, region: Region) -> None:
        """Cancel the read-ahead of `begin`."""


class GuardedArray:
    """Base class of arrays whose `read` raises Gangsaw's errors instead of a library's.

    The conversion is here and not in each format, so that none can miss it.
    """

    def __init_subclass__(cls, **options: object) -> None:
        """Wrap the `read` of a subclass, so that a library's exceptions are converted."""
        super().__init_subclass__(**options)
        if "read" in vars(cls):
            cls.read = _guard_read(cls.read)  # type: ignore[attr-defined]


def _guard_read(read: Callable[[SourceArray, Region], NumpyArray]) -> object:
    @wraps(read)
    def read_or_refuse(array: SourceArray, region: Region) -> NumpyArray:
        with convert_library_errors(_file_of(array), array.name):
            return read(array, region)

    return read_or_refuse


def _file_of(array: object) -> str:
    """Return the path of the file or store of an array, or of the array that it wraps."""
    for name in ("address", "path"):
        if isinstance(found := getattr(array, name, None), str):
            return found
    inner = getattr(array, "of", None)
    return "the source" if inner is None else _file_of(inner)


@dataclass(frozen=True, kw_only=True)
class Described(GuardedArray):
    """Base class of arrays with their metadata as fields, as in the file or store."""

    name: str
    shape: tuple[int, ...]
    dtype: Dtype
    dims: tuple[str, ...]
    chunks: tuple[int, ...] | None
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    fill_value: object = field(default=None, compare=False)
    is_optional: bool = field(
        default=False, compare=False
    )  # left out if a stream has no samples of it


def optional_names(arrays: Iterable[Description]) -> frozenset[str]:
    """Return the names of a stream's arrays that are not stored if they stay empty."""
    return frozenset(array.name for array in arrays if getattr(array, "is_optional", False))


@dataclass(frozen=True)
class Coordinate:
    """Small array that is copied as a whole into the target, such as wavelengths.

    Attributes
    ----------
    name : its name in the target; "/" separates groups
    dims : one name per axis of `values`
    values : numbers as stored (CF-encoded times stay numbers), or strings as NumPy's StringDType
    attrs : JSON attributes
    unlike : function that lists the differences of stored bytes from these, if this is the rest
        of a file; else None
    fill_value : value for missing numbers; None is zero
    """

    name: str
    dims: tuple[str, ...]
    values: NumpyArray = field(compare=False)
    attrs: Mapping[str, object] = field(default_factory=dict)
    unlike: Unlike | None = field(default=None, compare=False)
    fill_value: object = field(default=None, compare=False)

    @property
    def is_file(self) -> bool:
        """True if it has the bytes of a file except its arrays; other bytes may be equivalent."""
        return set(self.attrs) >= FILE_ATTRS

    @property
    def is_mapping(self) -> bool:
        """True for a grid mapping, which georeferences arrays by its attributes alone."""
        return self.dims == () and is_mapping(self.attrs)


def is_mapping(attrs: Mapping[str, object]) -> bool:
    """Return True for the attributes of a CF grid mapping, which georeferences arrays."""
    return bool(attrs.keys() & {"crs_wkt", "GeoTransform"})


@dataclass(frozen=True)
class GroupAttrs:
    """Attributes of a group below the root of a source, such as "sensor_band_parameters".

    Attributes
    ----------
    path : path in the source, names separated by "/"
    attrs : JSON attributes
    """

    path: str
    attrs: Mapping[str, object] = field(default_factory=dict)


@runtime_checkable
class Source(Protocol):
    """File or store that a job reads: its arrays, coordinates and attributes.

    Names of arrays and coordinates in subgroups are paths. The optional attributes below, except
    `groups`, are also those of a `Stream`.

    Attributes
    ----------
    groups : tuple of `GroupAttrs`, attributes of the subgroups
    stages : tuple of `Stage` or `JobStage`, which the source passes before it is encoded
    scratch : folder for files of the stages, a path or ""
    versions : method that returns versions by file name; without it the identity is the version
    notes : sentences for the user
    """

    @property
    def name(self) -> str:
        """Display name used in messages: the path or address that the user gave."""

    @property
    def arrays(self) -> tuple[SourceArray, ...]:
        """Arrays that are chunked; at least one."""

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates; their names differ from those of the arrays."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""

    def identity(self) -> str:
        """Return the identity of the content: resume refuses a source whose identity changed.

        For a file it is its absolute path, size and modification time. For a store that a job
        wrote, it is the content by the manifests. For other stores it is the address, and sizes
        and times of all objects.
        """


@runtime_checkable
class Stream(Protocol):
    """Source of unknown length, read once and in order: records from a pipe.

    Its arrays are described with an extent of 0 along their first axis, which grows. Their names,
    other extents, dtypes and attributes are known before the first record is read. The attributes
    below are optional.

    Attributes
    ----------
    outcome : attributes of the target group that are known only after the last record
    not_compared : names of values in `outcome` that describe a file and not its records
    is_repeatable : True if the stream can be read again, because its paths are files
    share_read : share of its files that was read, 0 to 1 or None
    notes : sentences for the user after the last record
    as_stored : function of the store as a source that returns the stream that the store must equal;
        for streams of which a store may have fewer records or another order
    """

    @property
    def name(self) -> str:
        """Display name used in messages: the paths that the user gave."""

    @property
    def arrays(self) -> tuple[Description, ...]:
        """Arrays that grow; at least one."""

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates of the other axes; their names differ from those of the arrays."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Yield the next samples of each array, by name: any number along the first axis.

        It can be called once.

        Raises
        ------
        BadParams : a record is not of the format
        OSError : the stream cannot be read
        """


@dataclass(frozen=True)
class Stage:
    """Work on a whole source before it is encoded, such as signing or sorting records.

    The result of a stage is stored next to the target until that is complete, by a separate job
    with a journal. The next stage, and last the encoder, read it there.

    Attributes
    ----------
    name : name of the stage, in lower-case letters
    run : returns the result for a source, as another source; equal sources must give equal bytes,
        since `verify` runs it again
    """

    name: str
    run: Callable[[Source | Stream], Source | Stream]


@dataclass(frozen=True)
class StageResources:
    """Resources of a stage that is a job of its own.

    Attributes
    ----------
    folder : folder for its files; it need not exist, and is removed when the target is complete
    client : Dask client, whose workers see the folder; None works in this process
    resume : continue with the files that an earlier run left in the folder, which is empty
        otherwise
    on_progress : called after each batch of a step of the stage, which it names
    """

    folder: Path
    client: Client | None = None
    resume: bool = False
    on_progress: OnProgress | None = None


@dataclass(frozen=True)
class JobStage:
    """Stage that stores its own objects and journal, in place of arrays.

    Attributes
    ----------
    name : name of the stage, in lower-case letters
    run : returns the result for a source, which reads it in the folder; equal sources must give
        equal samples, since `verify` runs it again
    """

    name: str
    run: Callable[[Source | Stream, StageResources], Source | Stream]
