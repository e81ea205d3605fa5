"""Axis names, stored dtype and attributes of a Zarr array, by its v2 or v3 metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.arrays import Dtype

if TYPE_CHECKING:
    from zarr.types import AnyArray


def stored_dtype(array: AnyArray) -> Dtype:
    """Return the dtype of the stored samples; in Zarr v3, a codec defines their byte order."""
    if array.metadata.zarr_format == 2:
        return array.dtype
    orders = (getattr(codec, "endian", None) for codec in array.metadata.codecs)
    is_big = "big" in {str(getattr(order, "value", order)) for order in orders}
    return array.dtype.newbyteorder(">") if is_big else array.dtype


def named_axes(array: AnyArray) -> tuple[str, ...]:
    """Return a name for each axis of an array; "dim_0" and so on for axes without one."""
    names = axis_names(array) or (None,) * array.ndim
    return tuple(name or f"dim_{i}" for i, name in enumerate(names))


def axis_names(array: AnyArray) -> tuple[str | None, ...] | None:
    """Return the name of each axis, or None for an axis without one; None if no axis has names."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get("_ARRAY_DIMENSIONS")
    if not isinstance(names, list | tuple) or len(names) != array.ndim:
        return None
    return tuple(None if name is None else str(name) for name in names)


def stored_attrs(array: AnyArray) -> dict[str, object]:
    """Return the attributes of an array; those of a numeric Zarr v2 array include `_FillValue`."""
    attrs: dict[str, object] = dict(array.attrs)
    attrs.pop("_ARRAY_DIMENSIONS", None)
    is_number = array.dtype.kind in "biuf"  # xarray decodes _FillValue only for these
    if array.metadata.zarr_format == 2 and array.fill_value is not None and is_number:
        # xarray reads the fill value of a Zarr v2 array as _FillValue
        attrs.setdefault("_FillValue", array.fill_value)
    return attrs
