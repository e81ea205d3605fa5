"""What a field's library reads of a source, in the forms in which a store holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gangsaw.tasks.formats.witness import Witness
from gangsaw.tasks.jobs.finished import FinishedArray
from gangsaw.tasks.source import Coordinate, Source, SourceArray
from gangsaw.tasks.store.carried import DTYPE, TEXTS, as_coordinate, by_bytes
from gangsaw.tasks.store.losses import Refused

OURS = "gangsaw"  # what reads the arrays of a source that no library reads

Variable = SourceArray | Coordinate


def seen_of(
    witness: Witness | None, stored: Mapping[str, FinishedArray], lost: Iterable[Refused]
) -> list[Variable]:
    """Return what a library reads, as the store has it; what is `lost` is told elsewhere.

    Items that are no numbers and that the store has in another form are left to our own reader.
    """
    if witness is None:
        return []
    names = {one.name for one in lost}
    return list(_as_stored((a for a in witness.arrays if a.name not in names), stored))


def _as_stored(
    seen: Iterable[SourceArray], stored: Mapping[str, FinishedArray]
) -> Iterator[Variable]:
    for one in seen:
        array = stored.get(one.name)
        if array is None or _is_alike(one, array):
            yield one
        elif one.dtype.hasobject or one.dtype.subdtype:  # libraries give these in several forms
            continue
        elif array.coder.dtype.kind in TEXTS:
            if one.shape == array.coder.grid.shape:  # not of characters, which are joined there
                yield as_coordinate(one)
        elif array.coder.grid.shape == (*one.shape, one.dtype.itemsize):
            yield by_bytes(one)


def _is_alike(one: SourceArray, array: FinishedArray) -> bool:
    """Whether both are numbers, or of one type; a wrong number of them is told."""
    dtype, stored = one.dtype, array.coder.dtype
    if stored.kind == "T":  # which has no order of bytes
        return dtype.kind == "T"
    if {dtype.kind, stored.kind} <= set("biufc") and DTYPE not in array.coder.array.attrs:
        return True
    return dtype.newbyteorder("=") == stored.newbyteorder("=")


def readers_of(
    against: Source | None, witness: Witness | None, seen: Sequence[Variable]
) -> tuple[str, ...]:
    """Return what read a source: the library, and ourselves for the arrays it does not read."""
    if against is None:
        return ()
    names = {one.name for one in seen}
    library = (witness.reader,) if witness is not None and names else ()
    is_whole = names.issuperset(array.name for array in against.arrays)
    return library if is_whole else (*library, OURS)
