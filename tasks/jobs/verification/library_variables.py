"""Arrays that a field's own library reads from a source, converted to the form of the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.jobs.verification.finished import FinishedArray
from gangsaw.tasks.sources.source import Coordinate, Described, Region, Source, SourceArray
from gangsaw.tasks.store.dataset.carried import (
    DTYPE,
    TEXTS,
    is_plain_dtype,
    to_coordinate,
    view_as_bytes,
)
from gangsaw.tasks.store.dataset.kinds import is_ragged
from gangsaw.tasks.store.dataset.losses import Refused
from gangsaw.tasks.store.dataset.texts import make_large_text_array

OURS = "gangsaw"  # reader of the arrays that no library reads

Variable = SourceArray | Coordinate


def library_variables(
    independent_reader: IndependentReader | None,
    stored: Mapping[str, FinishedArray],
    lost: Iterable[Refused],
) -> list[Variable]:
    """Return the variables as the field's own library reads them, in the form that the store has.

    Variables that are `lost` are left out, as they are reported elsewhere. Items that the store has
    neither as bytes nor as text are left to Gangsaw's own reader, since h5py describes arrays and
    characters differently.
    """
    if independent_reader is None:
        return []
    names = {one.name for one in lost}
    return list(
        _to_stored_form((a for a in independent_reader.arrays if a.name not in names), stored)
    )


def _to_stored_form(
    seen: Iterable[SourceArray], stored: Mapping[str, FinishedArray]
) -> Iterator[Variable]:
    for one in seen:
        array = stored.get(one.name)
        # a store may have times as opaque bytes
        is_number = is_plain_dtype(one.dtype) and one.dtype.kind not in "mM"
        if array is None or is_number or _has_same_dtype(one.dtype, array):
            yield one
        elif (texts := make_large_text_array(one)) is not None:
            yield replace(texts, attrs={})
        elif array.coder.dtype.kind in TEXTS:
            yield replace(to_coordinate(_carry(one, array)), attrs={})
        elif not one.dtype.hasobject and one.dtype.kind not in TEXTS:
            yield replace(view_as_bytes(one), attrs={})


def _has_same_dtype(dtype: Dtype, array: FinishedArray) -> bool:
    stored = array.coder.dtype
    if "T" in (dtype.kind, stored.kind):  # text of any length has no byte order
        return False
    return dtype.newbyteorder("=") == stored.newbyteorder("=")


@dataclass(frozen=True, kw_only=True)
class JoinedStrings(Described):
    """Variable of strings, read from an array of characters by joining those along its last axis.

    Attributes
    ----------
    of : array of characters, dtype S1
    """

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the texts of the region."""
        letters = self.of.read((*region, slice(0, self.dtype.itemsize)))
        return np.ascontiguousarray(letters).view(self.dtype)[..., 0]


def _carry(one: SourceArray, array: FinishedArray) -> SourceArray:
    """Return a library's variable with the items that the texts in the store encode."""
    kind = json.loads(array.metadata)["attributes"].get(DTYPE)
    if is_ragged(kind):
        assert isinstance(one, Described)
        return replace(one, attrs={DTYPE: kind})
    if not isinstance(kind, Mapping) or "char" not in kind:
        return one
    return JoinedStrings(
        name=one.name,
        shape=one.shape[:-1],
        dtype=np.dtype(f"S{one.shape[-1]}"),
        dims=one.dims[:-1],
        chunks=None,
        of=one,
    )


def readers_of(
    against: Source | None, independent_reader: IndependentReader | None, seen: Sequence[Variable]
) -> tuple[str, ...]:
    """Return the names of a source's readers: the field's library, and Gangsaw for other arrays."""
    if against is None:
        return ()
    names = {one.name for one in seen}
    library = (independent_reader.reader,) if independent_reader is not None and names else ()
    is_whole = names.issuperset(array.name for array in against.arrays)
    return library if is_whole else (*library, OURS)
