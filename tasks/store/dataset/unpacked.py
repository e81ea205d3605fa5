"""Comparison of packed integers (CF conventions, Packed Data) with the floats of a source."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

# attributes that make values differ from stored integers (CF conventions, Packed Data)
PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")


def is_packed(attrs: Mapping[str, object], stored: Dtype, wanted: Dtype) -> bool:
    """Return True if the source has floats and a reader unpacks the stored integers to floats.

    Parameters
    ----------
    attrs : attributes of the stored array
    stored, wanted : dtypes of the stored array and of the source
    """
    is_other_kind = stored.kind in "iu" and wanted.kind == "f"
    return is_other_kind and any(name in attrs for name in PACKING)


def is_equal_unpacked(stored: NumpyArray, wanted: NumpyArray, attrs: Mapping[str, object]) -> bool:
    """Return True if stored integers, unpacked by xarray, equal floats; NaN equals NaN.

    Parameters
    ----------
    stored : packed integers
    wanted : floats of the source, of the same shape
    attrs : attributes of the stored array
    """
    import xarray as xr
    from xarray import conventions

    own = {name: attrs[name] for name in PACKING if name in attrs}
    dims = tuple(f"dim_{axis}" for axis in range(stored.ndim))
    found = conventions.decode_cf_variable("unpacked", xr.Variable(dims, stored, own))
    values = np.asarray(found.data, np.float64 if found.dtype.kind != "f" else found.dtype)
    return values.shape == wanted.shape and np.array_equal(values, wanted, equal_nan=True)
