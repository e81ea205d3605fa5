"""Raw files whose layout the user describes: --shape, --dtype, --interleave, --byte-order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words, nearest, none_of
from gangsaw.tasks.formats.contract.layouts import BYTE_ORDERS, INTERLEAVES
from gangsaw.tasks.formats.flat.flat_array import (
    FlatArray,
    FlatSource,
    check_size,
    describe_samples,
)
from gangsaw.tasks.store.dataset.losses import Refused, notes_of

# dtype names among which a message suggests the nearest to an unknown one
NUMBERS = tuple(np.dtype(code).name for code in "bBhHiIqQefdFD")


@dataclass(frozen=True)
class RawSource(FlatSource):
    """Source made of one raw file: a single array without coordinates.

    Attributes
    ----------
    left_out : bytes after the last sample, whose loss the user accepted
    """

    left_out: tuple[Refused, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Descriptions of the bytes of the file that are left out."""
        n = self.arrays[0].offset
        before = (f"left out: {n} bytes of the file before the first sample",) if n else ()
        return (*before, *notes_of(self.left_out))


def open_raw(
    path: str,
    shape: Sequence[int] | None,
    dtype: str | None,
    interleave: str = "bsq",
    byte_order: str | None = None,
    offset: int = 0,
    *,
    accept_loss: bool = False,
) -> RawSource:
    """Open a raw file of samples as a source.

    Parameters
    ----------
    shape : (bands, rows, columns) for every interleave; extents in file order for other ranks
    dtype : NumPy type, such as "uint16" or ">i4"
    interleave : "bsq", "bil" or "bip"; only for three axes
    byte_order : "little" or "big"; None takes it from `dtype`
    offset : bytes before the first sample
    accept_loss : leave out bytes after the last sample, instead of refusing the file

    Raises BadParams for a missing or malformed argument, and if the described samples are more or
    fewer than the file contains.
    """
    if shape is None or dtype is None:
        given = {"--shape": shape, "--dtype": dtype}
        lacking = [name for name, value in given.items() if value is None]
        raise BadParams(f"{path} is raw: describe it with {join_words(lacking)}")
    kind = _dtype(dtype, byte_order)
    dims, ordered = _layout(tuple(shape), interleave)
    if offset < 0:
        raise BadParams(f"offset must not be negative, got {offset}")
    attrs = _layout_attrs(kind, interleave)
    array = FlatArray(
        str(Path(path).absolute()), ordered, kind.str, dims, offset=offset, attrs=attrs
    )
    check_size(array, "correct --shape, --dtype or --offset")
    lost = _rest(array)
    if lost and not accept_loss:
        raise BadParams(
            f"{path} has {array.nbytes + array.unread_bytes} bytes, but {describe_samples(array)} "
            f"are {array.nbytes}: correct --shape, --dtype or --offset, or leave the other "
            f"{array.unread_bytes} bytes out by --accept-loss"
        )
    return RawSource(path, (array,), left_out=lost)


def _rest(array: FlatArray) -> tuple[Refused, ...]:
    n = array.unread_bytes
    return (Refused(f"{n} bytes", "of the file after the last sample"),) if n else ()


def _dtype(name: str, byte_order: str | None) -> Dtype:
    try:
        kind = np.dtype(name)
    except TypeError:
        near = nearest(name, NUMBERS) or "; use for instance uint16 or int32"
        raise BadParams(f"unknown dtype {name!r}{near}") from None
    if kind.kind not in "iufc":
        raise BadParams(f"dtype must be a number such as uint16, got {name!r}")
    if byte_order is None:
        return kind
    if byte_order not in BYTE_ORDERS:
        raise none_of("byte order", BYTE_ORDERS, byte_order)
    return kind.newbyteorder(BYTE_ORDERS[byte_order])


def _layout(shape: tuple[int, ...], interleave: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if not shape or min(shape) < 1:
        raise BadParams(f"shape must be positive extents, got {shape}")
    if interleave not in INTERLEAVES:
        raise none_of("interleave", INTERLEAVES, interleave)
    if len(shape) == 3:
        dims = INTERLEAVES[interleave]
        extents = dict(zip(("band", "y", "x"), shape, strict=True))
        return dims, tuple(extents[d] for d in dims)
    if interleave != "bsq":
        raise BadParams(f"interleave {interleave} needs --shape bands,rows,columns, got {shape}")
    names = ("y", "x")[-len(shape) :] if len(shape) < 3 else ()
    return names or (*_numbered(len(shape) - 3), "band", "y", "x"), shape


def _layout_attrs(kind: Dtype, interleave: str) -> dict[str, str]:
    """Return the attribute "envi" with the interleave and byte order, for a later export."""
    fields = {} if interleave == "bsq" else {"interleave": interleave}
    if kind.str.startswith(">"):
        fields["byte order"] = "1"
    return {"envi": json.dumps(fields)} if fields else {}


def is_layout(attrs: Mapping[str, object]) -> bool:
    """Return True if the attribute "envi" of an array only describes the layout of a raw file."""
    fields = json.loads(str(attrs.get("envi", "{}")))
    return set(fields) <= {"interleave", "byte order", "file type"}


def usual_dims(n_axes: int) -> list[tuple[str, ...]]:
    """Return the tuples of axis names that raw files of this rank can get."""
    if n_axes == 3:
        return list(INTERLEAVES.values())
    return [_layout((1,) * n_axes, "bsq")[0]] if n_axes else [()]


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(f"dim_{i}" for i in range(n))
