"""String variables that are too large to be copied as a whole: stored chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import Described, Description, Region, RemoteArray, SourceArray
from gangsaw.tasks.store.dataset.carried import DTYPE, text_attrs

Octets: TypeAlias = NDArray[np.uint8]
TEXT = cast("Dtype", np.dtypes.StringDType())
LENGTH = np.dtype("<u4")  # before each string, and before all strings their number
LARGE = 1 << 20  # bytes: smaller string variables are copied as a whole
SHORTEST = 32  # assumed size of an item in bytes: chunks of empty strings would have too many items
PROBED = 64  # strings of the middle that are sampled for their size
OBJECT_BYTES = 128  # memory of a string besides its characters, in Python and NumPy
COPIES = 4  # copies of the characters: in the source, in Python, in NumPy, as bytes


@dataclass(frozen=True, kw_only=True)
class TextArray(Described):
    """String variable that is stored chunk by chunk, read as NumPy's StringDType.

    Attributes
    ----------
    of : the variable, of StringDType or of Python's str
    """

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the strings of the region; raise BadParams for missing values and other items."""
        return convert_texts(self.of.read(region), self.name)

    @property
    def is_remote(self) -> bool:
        """True if reads go over a network."""
        return isinstance(self.of, RemoteArray) and self.of.is_remote

    def begin(self, region: Region) -> bool:
        """Begin to read ahead a region; return False if too many bytes are in flight."""
        return isinstance(self.of, RemoteArray) and self.of.begin(region)

    def ready(self, region: Region) -> None:
        """Wait for the read-ahead of `begin`."""
        if isinstance(self.of, RemoteArray):
            self.of.ready(region)

    def forget(self, region: Region) -> None:
        """Cancel the read-ahead of `begin`."""
        if isinstance(self.of, RemoteArray):
            self.of.forget(region)

    @cached_property
    def item_bytes(self) -> int:
        """Approximate mean size of a string and its length field in bytes, from a sample."""
        probed = self.read(_middle(self.shape))
        return max(1, count_bytes(probed) // max(1, probed.size))


def make_text_array(variable: SourceArray) -> TextArray:
    """Return a string variable as a `TextArray`, which is stored chunk by chunk."""
    fill = variable.fill_value
    return TextArray(
        name=variable.name,
        shape=variable.shape,
        dtype=TEXT,
        dims=variable.dims,
        chunks=variable.chunks,
        attrs=text_attrs(variable.attrs),
        fill_value=fill if isinstance(fill, str) else None,
        of=variable,
    )


def make_large_text_array(variable: SourceArray) -> TextArray | None:
    """Return a string variable of more than LARGE bytes as a `TextArray`, None for any other.

    A sample of the strings is read.
    """
    if variable.dtype.kind not in "OT" or DTYPE in variable.attrs or 0 in variable.shape:
        return None
    found = make_text_array(variable)
    try:
        return found if prod(found.shape) * found.item_bytes > LARGE else None
    except BadParams:  # such as bytes of variable length
        return None


def convert_texts(values: NumpyArray, name: str) -> NumpyArray:
    """Return strings as NumPy's StringDType; BadParams names a variable with other items."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        wrong = (item for item in values.ravel().tolist() if not isinstance(item, str))
        if (item := next(wrong, None)) is not None or None in values.ravel().tolist():
            raise BadParams(f"{name} has {item!r:.40} among its texts, which Zarr cannot hold")
    return values.astype(TEXT, copy=False)


def count_bytes(samples: NumpyArray) -> int:
    """Return the size of samples in bytes; for strings that of UTF-8 with lengths, as in Zarr."""
    if samples.dtype.kind != "T":
        return samples.nbytes
    letters = "".join(list_texts(samples))
    return samples.size * LENGTH.itemsize + len(letters if letters.isascii() else letters.encode())


def encode_texts(texts: NumpyArray) -> Octets:
    """Return strings in the format of Zarr's serializer: their number, then lengths and UTF-8."""
    items = [text.encode() for text in list_texts(texts)]
    lengths = np.array([len(item) for item in items], LENGTH)
    parts = (part for n, item in zip(lengths, items, strict=True) for part in (n.tobytes(), item))
    return np.frombuffer(np.array(len(items), LENGTH).tobytes() + b"".join(parts), np.uint8)


def list_texts(texts: NumpyArray) -> list[str]:
    """Return strings of StringDType as Python's, in C order."""
    return cast("list[str]", texts.ravel().tolist())


def type_name(dtype: Dtype) -> str:
    """Return the display name of a dtype: "string" for strings, as in Zarr."""
    return "string" if dtype.kind == "T" else dtype.name


def item_bytes(variable: Description) -> int:
    """Return the bytes of an item; for strings an estimate of their mean, at least SHORTEST."""
    if variable.dtype.kind != "T":
        return variable.dtype.itemsize
    return max(SHORTEST, int(getattr(variable, "item_bytes", 0)))


def working_bytes(variable: Description, n: int) -> int:
    """Return the memory for reading and storing `n` strings, in bytes; 0 for other dtypes."""
    if variable.dtype.kind != "T":
        return 0
    return n * (OBJECT_BYTES + COPIES * item_bytes(variable))


def _middle(shape: tuple[int, ...]) -> Region:
    """Return a region in the middle with at most PROBED strings."""
    room, region = PROBED, []
    for n in reversed(shape):
        extent = min(n, room)
        room = max(1, room // extent)
        start = (n - extent) // 2
        region.append(slice(start, start + extent))
    return tuple(reversed(region))
