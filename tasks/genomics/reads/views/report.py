"""Report of `gangsaw info` for a store of reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.index.build import INDEXES
from gangsaw.tasks.genomics.reads.sets.file_sets import FileSet, describe_sets
from gangsaw.tasks.genomics.reads.stored.figures import GOOD, ReadFigures
from gangsaw.tasks.genomics.reads.stored.info import ReadsInfo, describe_tried_orders
from gangsaw.tasks.jobs.figures.contents import Content
from gangsaw.tasks.jobs.figures.report import StoreInfo

# unit of each array: its bits are reported per base, quality and name
PER = {"sequence": "base", "quality": "quality", "name": "name"}
MOST_SHOWN = 6  # residues in a message


@dataclass(frozen=True)
class Costs:
    """Encoded sizes of sequences, qualities and names of a store.

    Attributes
    ----------
    stored : bytes of each array; all offsets arrays together as "starts"
    bits : bits per base, quality, name and record, as far as these are stored
    """

    stored: dict[str, int]
    bits: dict[str, float]


def read_reads_content(info: StoreInfo) -> Content:
    """Return the description of a reads store for `gangsaw info`.

    Raises BadParams if its attribute is wrong.
    """
    reads = reads_of(info)
    costs, indexes = measure_costs(info, reads), info.source.attrs.get(INDEXES, {})
    figures = {"figures": {}, **reads.to_dict(), "stored": costs.stored, "bits": costs.bits}
    if reads.figures is not None:
        figures["figures"] = {**vars(reads.figures), **_derived(reads.figures)}
    rows = (*_records(reads), *_describe_bases(reads.figures), *_costs(costs))
    return Content("reads", (*rows, *_indexes(indexes)), figures | {"indexes": indexes})


def reads_of(info: StoreInfo) -> ReadsInfo:
    """Return the description of a store's reads; raise BadParams if it has none."""
    found = ReadsInfo.from_attrs(info.source.attrs)
    if found is None:
        raise BadParams(f"{info.store} holds no reads")
    return found


def measure_costs(info: StoreInfo, reads: ReadsInfo) -> Costs:
    """Return the encoded sizes of a store's sequences, qualities and names."""
    stored = {"starts": 0} | dict.fromkeys(PER, 0)
    for array in info.arrays:
        name = "starts" if array.name.endswith("_offset") else array.name
        stored[name] = stored.get(name, 0) + array.stored_bytes
    n_bases = 0 if reads.figures is None else reads.figures.n_bases
    units = {"base": n_bases, "quality": n_bases, "name": reads.records}
    bits = {unit: 8 * stored[name] / units[unit] for name, unit in PER.items() if units[unit]}
    there = {array.name for array in info.arrays}
    bits = {unit: bits[unit] for name, unit in PER.items() if name in there and unit in bits}
    if reads.records:
        bits["record"] = 8 * sum(stored.values()) / reads.records
    return Costs({name: n for name, n in stored.items() if n}, bits)


def _derived(figures: ReadFigures) -> dict[str, object]:
    return {
        "bases": figures.n_bases,
        "other_letters": figures.others,
        "mean_length": figures.mean_length,
        "n50": figures.n50,
        "mean_quality": figures.mean_quality,
        "share_q30": figures.good_share,
    }


def _records(reads: ReadsInfo) -> Iterator[tuple[str, str]]:
    files = "1 file" if reads.n_files == 1 else f"{reads.n_files} files"
    whole = "" if reads.sets else _groups(reads.parts[0])
    yield "records", f"{reads.records:,}{whole}, {reads.format} of {files}"
    for part, names in zip(reads.sets, describe_sets(reads.sets, reads.files), strict=True):
        yield "of them", f"{part.records:,}{_groups(part)}, {names}"
    own = reads.settings
    tags = f", tags {own.tags}" if own.tags else ""
    yield "stored", f"order {own.order}, qualities {own.qualities}, names {own.names}{tags}"
    if reads.tried:
        yield "tried", describe_tried_orders(reads.tried)


def _groups(own: FileSet) -> str:
    n = own.records // own.together
    words = {1: "", 2: f" in {n:,} pair{'s' if n != 1 else ''}"}
    return words.get(own.together, f" in {n:,} groups of {own.together}")


def _describe_bases(figures: ReadFigures | None) -> Iterator[tuple[str, str]]:
    if figures is None:
        yield "bases", "not counted: an older version wrote the store"
        return
    several = list(figures.others.items())
    listed = ", ".join(f"{count:,} {letter}" for letter, count in several[:MOST_SHOWN])
    more = ", ..." if several[MOST_SHOWN:] else ""
    yield "bases", f"{figures.n_bases:,}" + (f"; not ACGT: {listed}{more}" if listed else "")
    lengths = f"{figures.shortest:,} to {figures.longest:,}, mean {figures.mean_length:,.1f}"
    yield "lengths", f"{lengths}, N50 {figures.n50:,}"
    mean, good = figures.mean_quality, figures.good_share
    if mean is not None and good is not None:
        yield "qualities", f"mean {mean:.1f}, {100 * good:.1f} % at least {GOOD}"


def _costs(costs: Costs) -> Iterator[tuple[str, str]]:
    total = max(1, sum(costs.stored.values()))
    for name, unit in PER.items():
        if unit in costs.bits:
            share = 100 * costs.stored.get(name, 0) / total
            yield f"bits/{unit}", f"{costs.bits[unit]:.3f}, {share:.1f} % of the bytes"
    if "record" in costs.bits:
        yield "bytes/record", f"{costs.bits['record'] / 8:.1f}"


def _indexes(indexes: object) -> Iterator[tuple[str, str]]:
    if isinstance(indexes, Mapping) and indexes:
        listed = ", ".join(f"{n} {name}" for name, n in sorted(indexes.items()))
        yield "indexes", listed
