"""Raw samples whose layout the user names: --shape, --dtype, --interleave, --byte-order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat import FlatArray, FlatSource, check_size
from gangsaw.tasks.formats.layouts import BYTE_ORDERS, INTERLEAVES


class RawSource(FlatSource):
    """One raw file: a single array without coordinates."""


def open_raw(
    path: str,
    shape: Sequence[int] | None,
    dtype: str | None,
    interleave: str = "bsq",
    byte_order: str | None = None,
    offset: int = 0,
) -> RawSource:
    """Describe a raw file of samples.

    Parameters
    ----------
    shape : (bands, rows, columns) for every interleave; other ranks are in the file's order
    dtype : NumPy type, such as "uint16" or ">i4"
    interleave : "bsq", "bil" or "bip"; only for three axes
    byte_order : "little" or "big"; None takes it from `dtype`
    offset : bytes before the first sample

    Raises BadParams for what is missing, malformed or larger than the file.
    """
    if shape is None or dtype is None:
        raise BadParams(f"{path} is raw: describe it with --shape and --dtype")
    kind = _dtype(dtype, byte_order)
    dims, ordered = _layout(tuple(shape), interleave)
    if offset < 0:
        raise BadParams(f"offset must not be negative, got {offset}")
    attrs = _layout_attrs(kind, interleave)
    array = FlatArray(
        str(Path(path).absolute()), ordered, kind.str, dims, offset=offset, attrs=attrs
    )
    check_size(array)
    return RawSource(path, (array,))


def _dtype(name: str, byte_order: str | None) -> Dtype:
    try:
        kind = np.dtype(name)
    except TypeError:
        raise BadParams(f"unknown dtype {name!r}; say for instance uint16 or int32") from None
    if kind.kind not in "iufc":
        raise BadParams(f"dtype must be a number such as uint16, got {name!r}")
    if byte_order is None:
        return kind
    if byte_order not in BYTE_ORDERS:
        raise BadParams(f"byte order must be little or big, got {byte_order!r}")
    return kind.newbyteorder(BYTE_ORDERS[byte_order])


def _layout(shape: tuple[int, ...], interleave: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if not shape or min(shape) < 1:
        raise BadParams(f"shape must be positive extents, got {shape}")
    if interleave not in INTERLEAVES:
        raise BadParams(f"interleave must be bsq, bil or bip, got {interleave!r}")
    if len(shape) == 3:
        dims = INTERLEAVES[interleave]
        extents = dict(zip(("band", "y", "x"), shape, strict=True))
        return dims, tuple(extents[d] for d in dims)
    if interleave != "bsq":
        raise BadParams(f"interleave {interleave} needs --shape bands,rows,columns, got {shape}")
    names = ("y", "x")[-len(shape) :] if len(shape) < 3 else ()
    return names or (*_numbered(len(shape) - 3), "band", "y", "x"), shape


def _layout_attrs(kind: Dtype, interleave: str) -> dict[str, str]:
    """Return what an export needs and the samples do not show, as an ENVI source has it."""
    fields = {} if interleave == "bsq" else {"interleave": interleave}
    if kind.str.startswith(">"):
        fields["byte order"] = "1"
    return {"envi": json.dumps(fields)} if fields else {}


def is_layout(attrs: Mapping[str, object]) -> bool:
    """Whether the attribute "envi" of an array says no more than how a raw file was laid out."""
    fields = json.loads(str(attrs.get("envi", "{}")))
    return set(fields) <= {"interleave", "byte order", "file type"}


def usual_dims(n_axes: int) -> list[tuple[str, ...]]:
    """Return the names that axes of a raw file may get."""
    if n_axes == 3:
        return list(INTERLEAVES.values())
    return [_layout((1,) * n_axes, "bsq")[0]] if n_axes else [()]


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(f"dim_{i}" for i in range(n))
