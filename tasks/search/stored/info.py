"""Attribute of a store of indexes: identity of the indexed content, and store location."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.search.fm_index.kinds import RATES, Kind
from gangsaw.tasks.store.objects.address import add_options, options_of

ATTRIBUTE = "gangsaw_index"
VERSION = 1
SUFFIX = ".index.zarr"
OF_STORES = (".zarr.zip", ".zarr", ".zip")  # suffixes removed before SUFFIX is added


@dataclass(frozen=True)
class IndexedArray:
    """Parameters of the indexes of an array, one index per chunk.

    Attributes
    ----------
    kind : kind of its indexes, "bases" or "bytes"
    size : letters of the array
    chunk : letters per index; the last index may have fewer
    rate : every `rate`-th position of the text is stored in an index
    identity : fingerprint of the array's content
    """

    kind: Kind
    size: int
    chunk: int
    rate: int
    identity: str

    @property
    def starts(self) -> range:
        """Position of the first letter of each index."""
        return range(0, self.size, self.chunk)

    def window(self, number: int) -> tuple[int, int]:
        """Return the range of letters, begin and end, of index `number`."""
        begin = self.starts[number]
        return begin, min(begin + self.chunk, self.size)


def make_index_attribute(arrays: Mapping[str, IndexedArray]) -> dict[str, object]:
    """Return the Zarr attribute of a store of indexes."""
    own = {name: asdict(array) for name, array in arrays.items()}
    return {ATTRIBUTE: {"version": VERSION, "arrays": own}}


def parse_index_attribute(attrs: Mapping[str, object]) -> dict[str, IndexedArray]:
    """Parse the Zarr attribute of a store of indexes; raise BadParams if missing or invalid."""
    data = attrs.get(ATTRIBUTE)
    if not isinstance(data, Mapping) or data.get("version") != VERSION:
        raise BadParams("it holds no supported index")
    try:
        return {str(name): _array(own) for name, own in dict(data["arrays"]).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadParams(f"attribute {ATTRIBUTE} is damaged: {error}") from error


def _array(own: Mapping[str, object]) -> IndexedArray:
    size, chunk, rate = (int(cast(int, own[name])) for name in ("size", "chunk", "rate"))
    if own["kind"] not in RATES or size < 0 or not 1 <= chunk <= max(1, size) or rate < 1:
        raise ValueError(f"{size} bytes in indexes of {chunk}")
    return IndexedArray(own["kind"], size, chunk, rate, str(own["identity"]))


def default_location(store: str) -> str:
    """Return the default path of the indexes of a store, such as logs.index.zarr of logs.zarr."""
    stem, options = store.rstrip("/"), options_of(store)
    suffix = next((suffix for suffix in OF_STORES if stem.endswith(suffix)), "")
    return add_options(f"{stem.removesuffix(suffix)}{SUFFIX}", options)
