"""Check of the packings in xarray encodings: a packing is kept only if it restores every value.

xarray packs a variable by its `encoding` when it stores it. If values were edited, or files with
different packings were concatenated, the packing may be lossy: integers wrap around, NaN becomes a
number, and a value that equals the fill value becomes NaN. Such a variable is stored unpacked.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from functools import reduce
from typing import TYPE_CHECKING, cast

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

if TYPE_CHECKING:
    import xarray as xr

# encoding keys by which stored samples differ from those in memory
PACKING = ("dtype", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
OF_TIMES = ("units", "calendar")  # additional keys that pack dates and durations
PACKED_KINDS = "iufcmM"  # dtype kinds that xarray packs
SLAB_BYTES = 64 << 20  # bytes of an array in memory that are packed at once


def drop_lossy_packing(
    data: xr.Dataset, prefix: str = "", wanted: Collection[str] = ()
) -> tuple[xr.Dataset, tuple[str, ...]]:
    """Return a data set without lossy packings, and a note for each dropped one.

    Dask arrays are computed for the check, all variables in one pass.

    Parameters
    ----------
    data : data set whose variables may have packings in `.encoding`
    prefix : path of the group for notes, ending with /
    wanted : paths of the data variables that are stored; empty for all

    Examples
    --------
    >>> import xarray as xr
    >>> packing = {"dtype": "u1", "scale_factor": 0.5}
    >>> data = xr.Dataset({"u": ("x", [0.5, 200.0], {}, packing)})
    >>> drop_lossy_packing(data)[1]
    ('u: its encoding as uint8 does not give every value back: it is stored without it',)
    """
    import xarray as xr

    left = {name for name in data.data_vars if wanted and f"{prefix}{name}" not in wanted}
    packed = {
        name: one for name, one in data.variables.items() if name not in left and _is_packed(one)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cast warnings: losses are detected below
        found = xr.Dataset({name: ((), _restores_values(one)) for name, one in packed.items()})
        found = found.compute()  # computes all Dask arrays in one pass
    lossy = {name: one for name, one in packed.items() if not found[name].item()}
    if not lossy:
        return data, ()
    bare = data.copy()
    for name in lossy:
        encoding = bare.variables[name].encoding
        lost = _keys(bare.variables[name])
        bare[name].encoding = {k: v for k, v in encoding.items() if k not in lost}
    return bare, tuple(_note(f"{prefix}{name}", one) for name, one in lossy.items())


def _is_packed(variable: xr.Variable) -> bool:
    """Return True if the encoding may change the stored items."""
    encoding = variable.encoding
    if variable.dtype.kind not in PACKED_KINDS:
        return False
    others = [key for key in _keys(variable)[1:] if encoding.get(key) is not None]
    return bool(others) or _dtype_of(encoding, variable) != variable.dtype


def _keys(variable: xr.Variable) -> tuple[str, ...]:
    return (*PACKING, *OF_TIMES) if variable.dtype.kind in "mM" else PACKING


def _restores_values(variable: xr.Variable) -> object:
    """Return True, lazily for Dask arrays, if packing and unpacking restores all values."""
    if variable.chunks is not None or variable.nbytes <= SLAB_BYTES or not variable.ndim:
        return _slab_restores_values(variable)
    dim, n = variable.dims[0], variable.shape[0]
    rows = max(1, SLAB_BYTES * n // variable.nbytes)
    slabs = (variable.isel({dim: slice(at, at + rows)}) for at in range(0, n, rows))
    return all(bool(_slab_restores_values(slab)) for slab in slabs)


def _slab_restores_values(variable: xr.Variable) -> object:
    from xarray import conventions

    try:
        packed = conventions.encode_cf_variable(variable, name="packed")
        packed.attrs = {name: _as_stored(value) for name, value in packed.attrs.items()}
        is_span = variable.dtype.kind == "m"
        found = conventions.decode_cf_variable("packed", packed, decode_timedelta=is_span)
        absent = np.isnat if {found.dtype.kind, variable.dtype.kind} & {*"mM"} else np.isnan
        both = absent(found.data) & absent(variable.data)
        return (_equal(found.data, variable.data) | both).all()
    except Exception:  # a variable that cannot be packed is stored unpacked
        return False


def _equal(found: NumpyArray, value: NumpyArray) -> NumpyArray:
    """Return where two arrays, of NumPy or Dask, are equal, also in the sign of zero.

    NumPy rounds an integer above 2**53 if it is compared with a float; here it equals none.
    """
    tests: list[NumpyArray] = [found == value]
    kinds = found.dtype.kind, value.dtype.kind
    if kinds == ("f", "f"):
        tests.append(np.signbit(found) == np.signbit(value))
    elif "f" in kinds and {*kinds} & {*"iu"}:
        floats, integers = (found, value) if kinds[0] == "f" else (value, found)
        bound = float(np.iinfo(integers.dtype.str).max) + 1
        tests += [np.less(floats, bound), floats.astype(integers.dtype) == integers]
    return reduce(np.logical_and, tests)


def _as_stored(value: object) -> object:
    """Return an attribute as JSON restores it: a NumPy float becomes a Python float."""
    return value.item() if isinstance(value, np.floating) else value


def _note(name: str, variable: xr.Variable) -> str:
    packed = _dtype_of(variable.encoding, variable)
    how = f" as {packed}" if packed != variable.dtype else ""
    return f"{name}: its encoding{how} does not give every value back: it is stored without it"


def _dtype_of(encoding: Mapping[str, object], variable: xr.Variable) -> Dtype:
    return np.dtype(cast("Dtype", encoding.get("dtype") or variable.dtype))
