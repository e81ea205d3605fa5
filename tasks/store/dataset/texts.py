"""Variables of texts of any length that are too large to be copied whole: stored chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.source import Described, Description, FarArray, Region, SourceArray
from gangsaw.tasks.store.dataset.carried import DTYPE, text_attrs

Octets: TypeAlias = NDArray[np.uint8]
TEXT = cast("Dtype", np.dtypes.StringDType())
LENGTH = np.dtype("<u4")  # before each text, and before all of them their number
LARGE = 1 << 20  # bytes: texts that are fewer are copied whole
SHORTEST = 32  # bytes that chunks are cut by: those of empty texts would hold too many
PROBED = 64  # texts of the middle that tell how long texts are
OBJECT_BYTES = 128  # that a text takes in memory besides its letters, as Python's and NumPy's
COPIES = 4  # of the letters: in the source, as Python's, as NumPy's, as bytes


@dataclass(frozen=True, kw_only=True)
class TextArray(Described):
    """Texts as NumPy's StringDType, read region by region.

    Attributes
    ----------
    of : the variable, of StringDType or of Python's str
    """

    of: SourceArray

    def read(self, region: Region) -> NumpyArray:
        """Return the texts of the region; BadParams for what is none, such as a missing value."""
        return as_texts(self.of.read(region), self.name)

    @property
    def is_far(self) -> bool:
        """Whether reads go over a network."""
        return isinstance(self.of, FarArray) and self.of.is_far

    def begin(self, region: Region) -> bool:
        """Begin to read a region; False where too much is on its way already."""
        return isinstance(self.of, FarArray) and self.of.begin(region)

    def ready(self, region: Region) -> None:
        """Wait for what `begin` began."""
        if isinstance(self.of, FarArray):
            self.of.ready(region)

    def forget(self, region: Region) -> None:
        """Let go of what `begin` began."""
        if isinstance(self.of, FarArray):
            self.of.forget(region)

    @cached_property
    def item_bytes(self) -> int:
        """Bytes of a text about, its length included, as those of the middle have them."""
        probed = self.read(_middle(self.shape))
        return max(1, bytes_of(probed) // max(1, probed.size))


def texts_of(variable: SourceArray) -> TextArray:
    """Return a variable of texts as one that is stored chunk by chunk."""
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


def large_texts(variable: SourceArray) -> TextArray | None:
    """Return texts that take more than LARGE bytes; None of others, and of what is no text.

    Some of them are read.
    """
    if variable.dtype.kind not in "OT" or DTYPE in variable.attrs or 0 in variable.shape:
        return None
    found = texts_of(variable)
    try:
        return found if prod(found.shape) * found.item_bytes > LARGE else None
    except BadParams:  # bytes of any length, among others
        return None


def as_texts(values: NumpyArray, name: str) -> NumpyArray:
    """Return texts as NumPy's StringDType; BadParams names the variable where one is no text."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        wrong = (item for item in values.ravel().tolist() if not isinstance(item, str))
        if (item := next(wrong, None)) is not None or None in values.ravel().tolist():
            raise BadParams(f"{name} has {item!r:.40} among its texts, which Zarr has no place for")
    return values.astype(TEXT, copy=False)


def bytes_of(samples: NumpyArray) -> int:
    """Return the bytes of samples; of texts those of UTF-8 with their lengths, as Zarr has them."""
    if samples.dtype.kind != "T":
        return samples.nbytes
    letters = "".join(as_list(samples))
    return samples.size * LENGTH.itemsize + len(letters if letters.isascii() else letters.encode())


def as_zarr_bytes(texts: NumpyArray) -> Octets:
    """Return texts as Zarr's serializer writes those of a chunk: number, and lengths with them."""
    items = [text.encode() for text in as_list(texts)]
    lengths = np.array([len(item) for item in items], LENGTH)
    parts = (part for n, item in zip(lengths, items, strict=True) for part in (n.tobytes(), item))
    return np.frombuffer(np.array(len(items), LENGTH).tobytes() + b"".join(parts), np.uint8)


def as_list(texts: NumpyArray) -> list[str]:
    """Return texts of StringDType as Python's, in C order."""
    return cast("list[str]", texts.ravel().tolist())


def type_name(dtype: Dtype) -> str:
    """Return what messages call a dtype: texts as Zarr does, without what they take in memory."""
    return "string" if dtype.kind == "T" else dtype.name


def item_bytes(variable: Description) -> int:
    """Return the bytes of an item; of texts about, and SHORTEST at least."""
    if variable.dtype.kind != "T":
        return variable.dtype.itemsize
    return max(SHORTEST, int(getattr(variable, "item_bytes", 0)))


def working_bytes(variable: Description, n: int) -> int:
    """Return what so many items take in memory while they are read and stored, where they are
    texts; 0 for others, which take what their dtype says.
    """
    if variable.dtype.kind != "T":
        return 0
    return n * (OBJECT_BYTES + COPIES * item_bytes(variable))


def _middle(shape: tuple[int, ...]) -> Region:
    """Return the place of some texts of the middle."""
    room, region = PROBED, []
    for n in reversed(shape):
        extent = min(n, room)
        room = max(1, room // extent)
        start = (n - extent) // 2
        region.append(slice(start, start + extent))
    return tuple(reversed(region))
