"""Arrays of a collection with added genomes, each concatenated over all parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.genomics.genomes.info import GenomeInfo
from gangsaw.tasks.genomics.genomes.related.joined import join_residues
from gangsaw.tasks.genomics.genomes.related.windows import KnownWindows
from gangsaw.tasks.sources.source import Described, Region, SourceArray

ADDED = "added"  # group of added genomes, with one numbered group per addition
# offsets (n + 1) into another array
BORDERS = ("record_offset", "name_offset")
OF_RECORDS = ("odd_head", "line_record")  # arrays of record numbers
OWN_LAYER = ("known", "piece", "edit", "bundle", "other", "lower")

Arrays = Mapping[str, SourceArray]


@dataclass(frozen=True, kw_only=True)
class Chained(Described):
    """Concatenation of arrays along their first axis, read lazily.

    `of` is the first array. `links` are all of them; to the items of each, its shift is added.
    """

    of: SourceArray
    links: tuple[SourceArray, ...]
    shifts: tuple[int, ...]

    def read(self, region: Region) -> NumpyArray:
        """Return the items of a region."""
        begin, end = region[0].start, region[0].stop
        found = [np.empty(0, self.dtype), *self._parts(begin, end)]
        return np.concatenate(found) if len(found) != 2 else found[1]

    def _parts(self, begin: int, end: int) -> Iterator[NumpyArray]:
        """Yield the items begin..end - 1, one block per array."""
        at = 0
        for link, shift in zip(self.links, self.shifts, strict=True):
            low, high = max(begin, at) - at, min(end - at, link.shape[0])
            if low < high:
                items = link.read((slice(low, high),))
                yield np.add(items, shift, dtype=items.dtype) if shift else items
            at += link.shape[0]


def chained(links: Sequence[SourceArray], shifts: Sequence[int] = ()) -> SourceArray:
    """Return the concatenation of arrays; a single array without shift is returned unchanged."""
    first = links[0]
    if len(links) == 1 and not any(shifts):
        return first
    return Chained(
        name=first.name,
        shape=(sum(link.shape[0] for link in links),),
        dtype=first.dtype,
        dims=first.dims,
        chunks=first.chunks,
        attrs=first.attrs,
        of=first,
        links=tuple(links),
        shifts=tuple(shifts) or (0,) * len(links),
    )


def group_of(part: int) -> str:
    """Return the Zarr group of added genomes number `part`, with a slash; "" for part 0."""
    return f"{ADDED}/{part}/" if part else ""


def group_arrays(arrays: Sequence[SourceArray], n_parts: int) -> list[dict[str, SourceArray]]:
    """Return the arrays of the first genomes and of each addition, by name.

    Raises CorruptChunk if one of these parts has no array.
    """
    found: dict[str, dict[str, SourceArray]] = {group_of(part): {} for part in range(n_parts)}
    for array in arrays:
        at = array.name.rfind("/") + 1
        if array.name[:at] in found:
            found[array.name[:at]][array.name[at:]] = array
    if lacking := [group for group, own in found.items() if not own]:
        raise CorruptChunk(f"it holds a collection, but no arrays in {lacking[0]}")
    return list(found.values())


def as_one(arrays: Sequence[SourceArray], info: GenomeInfo) -> dict[str, SourceArray]:
    """Return the arrays of a collection, concatenated over all additions, by name.

    Its decoded residues are the array `sequence`. Raises CorruptChunk if a part lacks an array that
    decoding needs.
    """
    parts = group_arrays(arrays, len(info.parts))
    samples = info.samples_of_parts()
    residues = [sum(one.residues for one in own) for own in samples]
    records = [sum(one.records for one in own) for own in samples]
    names = dict.fromkeys(name for own in parts for name in own if name not in OWN_LAYER)
    found = {name: _chain(name, parts, residues, records) for name in names}
    return {**found, "sequence": chain_residues(parts, residues)}


def known_of(parts: Sequence[Arrays]) -> SourceArray:
    """Return the concatenated reference bases of parts, to which pieces of the last one refer."""
    if any("known" not in own for own in parts):
        raise CorruptChunk("it holds a collection, but no array known")
    return chained([own["known"] for own in parts])


def chain_residues(parts: Sequence[Arrays], residues: Sequence[int]) -> SourceArray:
    """Return the decoded residues of all parts, with one cache of reference bases."""
    windows = KnownWindows(known_of(parts))
    links = [
        join_residues({**own, "known": known_of(parts[: number + 1])}, residues[number], windows)
        for number, own in enumerate(parts)
    ]
    return chained(links)


def _chain(
    name: str, parts: Sequence[Arrays], residues: Sequence[int], records: Sequence[int]
) -> SourceArray:
    """Concatenate an array of the records, such as `name`, over all parts; some may lack it."""
    last = len(parts) - 1
    links, shifts = list[SourceArray](), list[int]()
    for number, own in enumerate(parts):
        if name not in own:
            continue
        is_border = name in BORDERS
        links.append(_without_last(own[name]) if is_border and number < last else own[name])
        shifts.append(_shift(name, parts[:number], residues[:number], records[:number]))
    return chained(links, shifts)


def _shift(
    name: str, before: Sequence[Arrays], residues: Sequence[int], records: Sequence[int]
) -> int:
    """Return the size of earlier parts, to be added to an array's offsets or record numbers."""
    if name == "record_offset":
        return sum(residues)
    if name == "name_offset":
        return sum(own["name"].shape[0] for own in before if "name" in own)
    return sum(records) if name in OF_RECORDS else 0


@dataclass(frozen=True, kw_only=True)
class _Shorter(Described):
    """Array of offsets without its last item, which is the first offset of the next part."""

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the items of a region."""
        return self.of.read(region)


def _without_last(array: SourceArray) -> SourceArray:
    return _Shorter(
        name=array.name,
        shape=(max(0, array.shape[0] - 1),),
        dtype=array.dtype,
        dims=array.dims,
        chunks=array.chunks,
        of=array,
    )
