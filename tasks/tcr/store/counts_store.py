"""Counts stores of `gangsaw tcr count`: opening, comparison, and reading in runs of rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import zarr
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.store.arrays.chunks import METADATA, ZarrArray
from gangsaw.tasks.store.objects.address import explain_missing_store
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.versions import array_versions
from gangsaw.tasks.store.objects.zipped import zarr_argument_of
from gangsaw.tasks.store.source import metadata_errors
from gangsaw.tasks.store.state.missing import must_be_complete, refuse_missing
from gangsaw.tasks.tcr.counting.paths.dataset import N_DIM, P_DIM, TOTAL_DIM

ROW_DIM = "reference"
OLD_DIMS = {"nu": N_DIM, "pi": P_DIM, "total_n": TOTAL_DIM}  # names in stores of earlier versions
LABELS = {*OLD_DIMS, *OLD_DIMS.values()}
NUCLEOTYPE = ("cdr3", "v_index", "j_index", "sample_index", "copies")
GERMLINE = ("v_gene", "j_gene", "d_gene", "v_sequence", "j_sequence", "d_sequence")
NAMED = (*GERMLINE, "d_pair", "sample")
# attributes that must be equal in two stores to compare their rows
MODEL = ("germline_locus", "model", "strands", "max_p", "max_n", "d_segments", "min_d_end")


@dataclass(frozen=True)
class CountsStore:
    """Description of a counts store, pickled with every batch and opened on the worker.

    Attributes
    ----------
    address : path or URL
    version : fingerprint of its metadata and of the job that wrote it, so that a replaced store is
        opened again
    rows : number of references
    names : labels and sequences of genes, pairs of D genes, samples; () for absent ones
    attrs : attributes of the group
    shapes, kinds : dimensions with extents, and dtype, of each variable
    limits : labels of numeric dimensions, ascending
    """

    address: str
    version: str
    rows: int
    names: dict[str, tuple[str, ...]] = field(hash=False)
    attrs: dict[str, object] = field(hash=False)
    shapes: dict[str, dict[str, int]] = field(hash=False)
    kinds: dict[str, Dtype] = field(hash=False)
    limits: dict[str, tuple[int, ...]] = field(hash=False, default_factory=dict)

    def versions(self) -> dict[str, str]:
        """Return the version of the store."""
        return array_versions([open_prefix(self.address)])

    def read(self, name: str, rows: range) -> NumpyArray:
        """Return the rows of a variable.

        Raises
        ------
        CorruptChunk : a chunk of a finished job's store is missing or damaged
        """
        along = slice(rows.start, rows.stop)
        with convert_library_errors(self.address, name):
            array, is_whole = _array(self.address, name, self.version)
            if is_whole:
                others = (slice(0, n) for n in array.shape[1:])
                refuse_missing(array, (along, *others))
            return np.asarray(array[along])

    def index(self, name: str, rows: range) -> NDArray[np.int32]:
        """Return the rows of an index variable, checked against its names; -1 means no D gene."""
        found = self.read(name, rows)
        n_names = len(self.names[_coordinate(name)])
        least = -1 if name == "d_index" else 0
        if len(found) and not least <= int(found.min()) <= int(found.max()) < n_names:
            reason = f"{name} points outside the {n_names} names of {_coordinate(name)}"
            raise CorruptChunk(reason, store=self.address)
        return found.astype(np.int32)

    def place(self, name: str, dim: str, limit: int) -> int:
        """Return the index of a limit along a dimension.

        Raises
        ------
        BadParams : nothing was counted with it; the message has the option `name`
        """
        known = self.limits[dim]
        if limit not in known:
            raise BadParams(
                f"{name} must be in {format_limits(known)} of what was counted, got {limit}"
            )
        return known.index(limit)

    def __str__(self) -> str:
        """Return the address."""
        return self.address


@dataclass(frozen=True)
class RowRun:
    """Consecutive rows of one of several stores: the input of one task.

    Attributes
    ----------
    store : index of the store
    rows : its rows
    place : number of the first row, counted over all stores
    """

    store: int
    rows: range
    place: int

    def __str__(self) -> str:
        """Return the display name used in messages."""
        return self.of(f"store {self.store}")

    def of(self, store: object) -> str:
        """Return the display name as rows of a store."""
        return f"{store}, rows {self.rows.start}..{self.rows.stop - 1}"


def format_limits(limits: Sequence[int]) -> str:
    """Return limits as text, with a range for consecutive ones."""
    last = next((n for n in limits if n + 1 not in limits), 0)
    return ", ".join([f"{limits[0]}..{last}", *(str(n) for n in limits if n > last)])


def open_counts(address: str) -> CountsStore:
    """Open a store of counts, and return its description.

    Raises
    ------
    BadParams : there is no store, it has no counts, or its job is not finished
    CorruptChunk : its metadata are damaged
    """
    group = _open(address)
    with metadata_errors(address):  # Zarr reads the metadata of arrays on first access
        return _described(address, group)


def _described(address: str, group: zarr.Group) -> CountsStore:
    absent = [name for name in NUCLEOTYPE if name not in group]
    if absent:
        raise BadParams(f"{address} was not written by gangsaw tcr count: no {absent[0]}")
    arrays = dict(group.arrays())
    dims = {name: _dims(array) for name, array in arrays.items()}
    lengths = {arrays[name].shape[0] for name in NUCLEOTYPE}
    if any(dims[name] != (ROW_DIM,) for name in NUCLEOTYPE) or len(lengths) != 1:
        raise BadParams(f"{address} was not written by gangsaw tcr count: its rows do not pair")
    whole = Path(address).absolute() if "://" not in address else address
    return CountsStore(
        address=str(whole),
        version=_version(group),
        rows=lengths.pop(),
        names={name: _texts(arrays[name]) if name in arrays else () for name in NAMED},
        attrs=dict(group.attrs),
        shapes={k: dict(zip(dims[k], a.shape, strict=False)) for k, a in arrays.items()},
        kinds={k: a.dtype for k, a in arrays.items()},
        limits={dim: _numbers(arrays, dim, dims) for dim in OLD_DIMS.values()},
    )


def _numbers(
    arrays: Mapping[str, ZarrArray], dim: str, dims: Mapping[str, tuple[str, ...]]
) -> tuple[int, ...]:
    """Return the numeric labels of a dimension, by its present or former name; () if none."""
    name = next((name for name, own in dims.items() if own == (dim,) and name in LABELS), "")
    return tuple(int(n) for n in np.asarray(arrays[name][...])) if name else ()


def _dims(array: ZarrArray) -> tuple[str, ...]:
    """Return the present names of the dimensions; () in Zarr format 2."""
    names: tuple[str, ...] = getattr(array.metadata, "dimension_names", None) or ()
    return tuple(OLD_DIMS.get(name, name) for name in names)


def open_all(addresses: Sequence[str]) -> tuple[CountsStore, ...]:
    """Open stores whose rows are to be compared.

    Raises
    ------
    BadParams : there is no store, one is given twice, has no counts, or has other genes or models
    """
    stores = tuple(open_counts(address) for address in addresses)
    if not stores or len({store.address for store in stores}) < len(stores):
        raise BadParams("name each store of counts once")
    for store in stores[1:]:
        _same_kind(stores[0], store)
    return stores


def runs(stores: Sequence[CountsStore], n: int) -> Iterator[RowRun]:
    """Split the rows of the stores into ranges of n rows, regardless of their chunks."""
    place = 0
    for number, store in enumerate(stores):
        for start in range(0, store.rows, n):
            rows = range(start, min(start + n, store.rows))
            yield RowRun(number, rows, place + start)
        place += store.rows


def _same_kind(one: CountsStore, other: CountsStore) -> None:
    for name in MODEL:
        if (a := one.attrs.get(name)) != (b := other.attrs.get(name)):
            raise BadParams(
                f"{one} has {name} {a}, {other} has {b}: count both with the same value"
            )
    for name in GERMLINE:
        if one.names[name] != other.names[name]:
            raise BadParams(f"{one} and {other} have other {name}s: count both with one germline")


def _open(address: str) -> zarr.Group:
    try:
        with metadata_errors(address):
            return zarr.open_group(zarr_argument_of(address), mode="r")
    except CorruptChunk:
        raise
    except (FileNotFoundError, ValueError):  # zarr raises either, depending on what exists
        raise BadParams(f"{address}: {_why_none(address)}") from None


def _why_none(address: str) -> str:
    """Return why there is no counts store at an address, as a message.

    An unfinished store has no metadata at its root; other stores do not exist.
    """
    if (open_prefix(address) / NUCLEOTYPE[0]).has(METADATA):
        return "its counting is not finished: run gangsaw tcr count with --resume first"
    return f"no Zarr group there{explain_missing_store(address)}"


def _version(group: zarr.Group) -> str:
    metadata = {name: array.metadata.to_dict() for name, array in group.arrays()}
    text = json.dumps([metadata, must_be_complete(_first(group))], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _first(group: zarr.Group) -> ZarrArray:
    array = group[NUCLEOTYPE[0]]
    assert isinstance(array, zarr.Array)
    return array


def _texts(array: ZarrArray) -> tuple[str, ...]:
    return tuple(str(text) for text in np.asarray(array[...]))


def _coordinate(index: str) -> str:
    places = {"v_index": "v_gene", "d_index": "d_gene", "j_index": "j_gene"}
    return places.get(index, "sample")


@lru_cache(maxsize=64)
def _array(address: str, name: str, version: str) -> tuple[ZarrArray, bool]:
    """Return an array of a store, and True if a finished job wrote it.

    The records of the job are below the first array.
    """
    array, first = (
        zarr.open_array(zarr_argument_of(address), path=key, mode="r")
        for key in (name, NUCLEOTYPE[0])
    )
    return array, must_be_complete(first)
