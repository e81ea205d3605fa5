"""Comparison of a store with a stream, which is read once and in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import zarr
from zarr.errors import NodeNotFoundError

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.jobs.chunks.check import same_bits
from gangsaw.tasks.jobs.streams.regroup import Backlog, regroup
from gangsaw.tasks.jobs.verification.library_variables import OURS
from gangsaw.tasks.jobs.verification.verify import Report
from gangsaw.tasks.sources.library_errors import convert_errors_of_pieces, convert_library_errors
from gangsaw.tasks.sources.source import Coordinate, Stream, optional_names
from gangsaw.tasks.store.objects.zipped import zarr_argument_of
from gangsaw.tasks.store.source import metadata_errors

if TYPE_CHECKING:
    from zarr.types import AnyArray


def compare_with_stream(
    report: Report, store: str, stream: Stream, independent_reader: IndependentReader | None = None
) -> Report:
    """Return the report of a store, extended by its differences from a stream, which is read whole.

    An `independent_reader` with a method for the stream's records compares them, too. A
    stream whose arrays are not unique for its files has a method `differences` of its own.
    """
    own: Callable[[str], Iterator[str]] | None = getattr(stream, "differences", None)
    records = independent_reader.records if independent_reader else None
    try:
        with metadata_errors(store):
            group = zarr.open_group(zarr_argument_of(store), mode="r")
        records = None if _lacking(group, stream) else records  # a store of another kind
        problems = list(own(store) if own else _of_arrays(group, stream))
    except CorruptChunk as error:  # if a job wrote the store, the report has this line already
        problems = [str(error.at(store=store))]
    seen = records(store) if records else None
    if seen is not None and independent_reader:
        problems += convert_errors_of_pieces(
            f"{store}, or its source by {independent_reader.reader},", seen
        )
    new = (line for line in problems if line not in report.problems)
    readers = (independent_reader.reader,) if independent_reader and seen is not None else (OURS,)
    return replace(report, compared=True, problems=(*report.problems, *new), readers=readers)


def _of_arrays(group: zarr.Group, stream: Stream) -> Iterator[str]:
    yield from _arrays(group, stream)
    yield from _coords(group, stream.coords)


def _arrays(group: zarr.Group, stream: Stream) -> Iterator[str]:
    stored = {array.name: _array(group, array.name) for array in stream.arrays}
    lacking = _lacking(group, stream)
    yield from (f"{name}: in the source, not in the store" for name in lacking)
    if not lacking:
        there = {name: found for name, found in stored.items() if found is not None}
        yield from _differences(there, stream)
        yield from _outcome(group, stream)


def _lacking(group: zarr.Group, stream: Stream) -> list[str]:
    """Return the sorted names of the required arrays of a stream that a store lacks."""
    names = {array.name for array in stream.arrays if _array(group, array.name) is None}
    return sorted(names - optional_names(stream.arrays))


def _outcome(group: zarr.Group, stream: Stream) -> Iterator[str]:
    """Yield a line for each attribute known at the end of a stream that differs in the store."""
    others: tuple[str, ...] = getattr(stream, "not_compared", ())
    for name, value in getattr(stream, "outcome", {}).items():
        stored = _without(others, group.attrs.get(name))
        wanted = _without(others, json.loads(json.dumps(value)))
        if stored != wanted:
            yield f"attribute {name}: it differs from the source's{_differing_keys(stored, wanted)}"


def _without(names: tuple[str, ...], value: object) -> object:
    """Return an attribute without the given keys, if it is a mapping."""
    if not isinstance(value, Mapping):
        return value
    return {name: one for name, one in value.items() if name not in names}


def _differing_keys(stored: object, wanted: object) -> str:
    """Return a phrase with the keys in which two mappings differ; "" for other attributes."""
    if not isinstance(stored, Mapping) or not isinstance(wanted, Mapping):
        return ""
    names = sorted(stored.keys() | wanted.keys())
    return " in " + join_words([name for name in names if stored.get(name) != wanted.get(name)])


def _differences(stored: dict[str, AnyArray], stream: Stream) -> Iterator[str]:
    """Yield a line on the first differing sample of each array, and on differing lengths."""
    rows = {array.name: Backlog(array) for array in stream.arrays}
    ends, differing = dict.fromkeys(rows, 0), set()
    lengths = {name: stored[name].chunks[0] if name in stored else 1 for name in rows}
    pieces = convert_errors_of_pieces(stream.name, stream.pieces())
    for name, at, samples in regroup(rows, pieces, lengths):
        ends[name] = at + len(samples)
        if name not in stored:
            continue
        if name in differing or ends[name] > stored[name].shape[0]:
            continue
        with convert_library_errors(str(stored[name].store), name):
            found = np.asarray(stored[name][at : ends[name]])
        if not same_bits(found, samples):
            differing.add(name)
            yield f"{name}: samples {at} to {ends[name] - 1} differ from the source"
    for name, end in ends.items():
        if end != (had := stored[name].shape[0] if name in stored else 0):
            yield f"{name}: the store has {had} samples, the source {end}"


def _coords(group: zarr.Group, coords: tuple[Coordinate, ...]) -> Iterator[str]:
    for coord in coords:
        found = _array(group, coord.name)
        with convert_library_errors(str(group.store), coord.name):
            values = None if found is None else np.asarray(found[...])
        is_same = values is not None and same_bits(values, np.asarray(coord.values))
        if not is_same and not coord.is_file:
            yield f"{coord.name}: the coordinate differs from the source's"


def _array(group: zarr.Group, name: str) -> AnyArray | None:
    with metadata_errors(f"{group.store}: {name}"):
        try:
            found = group[name]
        except (KeyError, NodeNotFoundError):
            return None
    if not isinstance(found, zarr.Array):
        raise BadParams(f"{group.store}: {name} is a group")
    return found
