"""What a job reads: a source is a frozen, picklable description, opened on the worker.

A source file format is one class for `Source` and one for `SourceArray`. Both are frozen
dataclasses. A `SourceArray` travels with every batch, so it holds what is needed to open and read
(path, offset, shape, dtype), never data; files are opened at the first `read` in a process and kept
in a cache of that module, keyed by the description.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.reading import reading

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.progress import OnProgress

# one slice per axis, 0 <= start < stop <= extent, step 1
Region: TypeAlias = "tuple[slice[int, int, int | None], ...]"
# of a file: stored bytes, and those of the source -> a line for each thing that differs
Unlike: TypeAlias = "Callable[[NumpyArray, NumpyArray], list[str]]"
# of a coordinate that is a file without its arrays: its format, their layout, their names
FILE_ATTRS = {"format", "rows", "items"}


@runtime_checkable
class Description(Protocol):
    """What an array is called, how large it is and what it holds: all that its metadata need."""

    @property
    def name(self) -> str:
        """Name of the variable, and of the array in the target; "/" leads into groups."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis in samples."""

    @property
    def dtype(self) -> Dtype:
        """Of the samples as stored (CF scale and offset are not applied), byte order included."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Name of each axis, such as ("band", "y", "x")."""

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Extent of the pieces that the source must read whole; None where any region is cheap.

        The memory promise counts every such piece that a region touches.
        """

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target array (units, scale_factor, add_offset, ...)."""

    @property
    def fill_value(self) -> object:
        """Fill value of the target array in units of `dtype`; None is zero."""


@runtime_checkable
class SourceArray(Description, Protocol):
    """One array of a source, read region by region.

    Where the file may be longer than the samples, `unread_bytes` is how many bytes are left over.
    """

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region, of `dtype` and the region's shape.

        Safe to call from several threads at once. Bytes that are not there (a truncated file)
        raise CorruptChunk, what cannot be opened raises OSError. Arrays that are `Described` raise
        no errors of libraries.
        """


@runtime_checkable
class FarArray(SourceArray, Protocol):
    """An array that may be behind a network: what will be read can be asked for before."""

    @property
    def is_far(self) -> bool:
        """Whether it is."""

    def begin(self, region: Region) -> bool:
        """Begin to read a region; False where too much is on its way, or nothing is gained."""

    def ready(self, region: Region) -> None:
        """Wait for what `begin` began; errors are raised by `read`."""

    def forget(self, region: Region) -> None:
        """Let go of what `begin` began."""


class Bordered:
    """An array whose `read` raises errors of ours, whatever a library raises in it.

    Here and not in each format, so that none can forget it.
    """

    def __init_subclass__(cls, **options: object) -> None:
        """Put the border around the `read` of a class."""
        super().__init_subclass__(**options)
        if "read" in vars(cls):
            cls.read = _bordered(cls.read)  # type: ignore[attr-defined]


def _bordered(read: Callable[[SourceArray, Region], NumpyArray]) -> object:
    @wraps(read)
    def read_or_refuse(array: SourceArray, region: Region) -> NumpyArray:
        with reading(_file_of(array), array.name):
            return read(array, region)

    return read_or_refuse


def _file_of(array: object) -> str:
    """Return the file or store of an array; that of the one that it is made of."""
    for name in ("address", "path"):
        if isinstance(found := getattr(array, name, None), str):
            return found
    inner = getattr(array, "of", None)
    return "the source" if inner is None else _file_of(inner)


@dataclass(frozen=True, kw_only=True)
class Described(Bordered):
    """What an array says of itself, as in its file or store."""

    name: str
    shape: tuple[int, ...]
    dtype: Dtype
    dims: tuple[str, ...]
    chunks: tuple[int, ...] | None
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    fill_value: object = field(default=None, compare=False)
    is_optional: bool = field(
        default=False, compare=False
    )  # left out where a stream has none of it


def optional_names(arrays: Iterable[Description]) -> frozenset[str]:
    """Return the names of the arrays of a stream that are left out where they stay empty."""
    return frozenset(array.name for array in arrays if getattr(array, "is_optional", False))


@dataclass(frozen=True)
class Coordinate:
    """A small array that is copied whole into the target, such as wavelengths.

    Attributes
    ----------
    name : its name in the target; "/" leads into groups
    dims : one name per axis of `values`
    values : numbers as stored (CF-encoded times stay numbers), or text as NumPy's StringDType
    attrs : JSON attributes
    unlike : of a file: says in what stored bytes differ from these
    fill_value : of an array of numbers, which stands for no sample; None is zero
    """

    name: str
    dims: tuple[str, ...]
    values: NumpyArray = field(compare=False)
    attrs: Mapping[str, object] = field(default_factory=dict)
    unlike: Unlike | None = field(default=None, compare=False)
    fill_value: object = field(default=None, compare=False)

    @property
    def is_file(self) -> bool:
        """Whether it is the file around the arrays; different bytes can be the same file."""
        return set(self.attrs) >= FILE_ATTRS

    @property
    def is_mapping(self) -> bool:
        """Whether its attributes alone say something: where on Earth the arrays' samples are."""
        return self.dims == () and is_mapping(self.attrs)


def is_mapping(attrs: Mapping[str, object]) -> bool:
    """Whether these are the attributes of a grid mapping, which says where on Earth samples are."""
    return bool(attrs.keys() & {"crs_wkt", "GeoTransform"})


@dataclass(frozen=True)
class GroupAttrs:
    """A group below that of the source, such as "sensor_band_parameters".

    Attributes
    ----------
    path : in the source, names apart by "/"
    attrs : JSON attributes
    """

    path: str
    attrs: Mapping[str, object] = field(default_factory=dict)


@runtime_checkable
class Source(Protocol):
    """A file or store that a job reads: its arrays, coordinates and attributes.

    In groups below, names of arrays and coordinates are paths; the attributes of these groups are
    `groups`, a tuple of `GroupAttrs`. A source that goes through stages before it is encoded has
    them as `stages`, a tuple of `Stage` or `JobStage`, and perhaps the folder for what they keep as
    `scratch`, a path or ""; so has a `Stream`. What shows that a file changes
    while a job reads it, it returns by `stamps()`, a text for each file by name; so does a
    `Stream`. Without that a source is told by its identity. One that has to tell a
    user something has it as `notes`, sentences.
    """

    @property
    def name(self) -> str:
        """What messages call it: the path or address that the user gave."""

    @property
    def arrays(self) -> tuple[SourceArray, ...]:
        """The arrays that are chunked; at least one."""

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates; their names differ from those of the arrays."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""

    def identity(self) -> str:
        """What identifies this content: resume refuses a source whose identity changed.

        For a file its absolute path, bytes and modification time; for a store its content by the
        manifests of the job that wrote it, else its address, and bytes and times of all objects.
        """


@runtime_checkable
class Stream(Protocol):
    """A source of unknown length, read once and in order: records from a pipe.

    One that knows some attributes of the target group only when all was read has them then as
    `outcome`; those of their values that tell of a file and not of its records, such as what it has
    beyond them, are named in `not_compared`; one that can be read again, as its paths are files,
    has `is_repeatable`, True; one that knows how much of its files it has read has that as
    `share_read`, 0 to 1 or None; one that has to tell a user something when all was read has it as
    `notes`, sentences. One of which a store may keep less, or another order, has `as_stored`: given
    the store as a source, it returns the stream that the store must equal.

    Its arrays are described with an extent of 0 along their first axis, which grows. Their names,
    other extents, types and attributes are known before the first record is read.
    """

    @property
    def name(self) -> str:
        """What messages call it: the paths that the user gave."""

    @property
    def arrays(self) -> tuple[Description, ...]:
        """The arrays that grow; at least one."""

    @property
    def coords(self) -> tuple[Coordinate, ...]:
        """Coordinates of the other axes; their names differ from those of the arrays."""

    @property
    def attrs(self) -> Mapping[str, object]:
        """JSON attributes of the target group."""

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Yield what comes next of each array, by name: any number of samples on the first axis.

        It can be called once. BadParams for what is not of the format, OSError for what cannot be
        read.
        """


@dataclass(frozen=True)
class Stage:
    """Work on a whole source before it is encoded, such as signing or sorting records.

    The result of a stage is stored next to the target until that is complete, by a separate job
    with a journal. The next stage, and last the encoder, read it there.

    Attributes
    ----------
    name : of the stage, of lower-case letters
    run : returns the result for a source, as another source; equal sources give equal bytes, since
        `verify` runs it again
    """

    name: str
    run: Callable[[Source | Stream], Source | Stream]


@dataclass(frozen=True)
class Room:
    """Where a stage works that is a job of its own.

    Attributes
    ----------
    folder : for what it keeps; it need not exist, and is removed when the target is complete
    client : Dask client, whose workers see the folder; None works in this process
    resume : go on with what an earlier run left in the folder, which is empty otherwise
    on_progress : called after each batch of a step of the stage, which it names
    """

    folder: Path
    client: Client | None = None
    resume: bool = False
    on_progress: OnProgress | None = None


@dataclass(frozen=True)
class JobStage:
    """A stage that keeps its own objects and journal, where those of an array would not fit.

    Attributes
    ----------
    name : of the stage, of lower-case letters
    run : returns the result for a source, which reads it in the folder; equal sources give equal
        samples, since `verify` runs it again
    """

    name: str
    run: Callable[[Source | Stream, Room], Source | Stream]
