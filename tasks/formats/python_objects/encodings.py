"""Encodings for xarray's `to_zarr` with the codecs and chunks that `compress` would choose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gangsaw.tasks.formats.python_objects.arrays_in_memory import ArrayInMemory
from gangsaw.tasks.formats.python_objects.blocks import BlockArray
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.arrays.layout import ArrayLayout

if TYPE_CHECKING:
    import xarray as xr

# encoding keys that describe samples; others describe the store that a variable was read from
OF_SAMPLES = (
    *("dtype", "scale_factor", "add_offset", "_FillValue", "missing_value"),
    *("units", "calendar", "_Unsigned"),
)


def fit_chunks(array: SourceArray, wanted: Sequence[int]) -> tuple[int, ...]:
    """Return chunk extents near the wanted ones, so that each chunk is inside one Dask block.

    Then no two tasks of `to_zarr` write the same chunk.
    """
    if not isinstance(array, BlockArray):
        return tuple(wanted)
    return tuple(map(_fit_extent, array.sizes, wanted))


def _fit_extent(blocks: Sequence[int], wanted: int) -> int:
    """Return the chunk extent nearest to the wanted one that divides all blocks but the last."""
    inner = math.gcd(*blocks[:-1]) if len(blocks) > 1 else 0
    if not inner or wanted >= inner:
        return inner or wanted
    divisors = [n for n in range(1, inner + 1) if not inner % n]
    below = max(n for n in divisors if n <= wanted)
    return below if 2 * below >= wanted else min(n for n in divisors if n >= wanted)


def has_same_form(array: SourceArray) -> bool:
    """Return True if `compress` stores an array's items unconverted, as xarray does."""
    return isinstance(array, BlockArray | ArrayInMemory)


def make_encoding(layout: ArrayLayout, variable: xr.Variable) -> dict[str, object]:
    """Return the encoding of a variable with the codec and the chunks of a layout."""
    creation = layout.creation()
    return {**sample_encoding(variable), "filters": None, **creation}


def sample_encoding(variable: xr.Variable) -> dict[str, object]:
    """Return the entries of a variable's encoding that describe its samples."""
    return {k: variable.encoding[k] for k in OF_SAMPLES if k in variable.encoding}


def variables_by_path(
    value: xr.Dataset | xr.DataTree,
) -> Iterator[tuple[str, Mapping[object, xr.Variable]]]:
    """Yield the path of each group in the tree with its variables."""
    import xarray as xr

    if isinstance(value, xr.Dataset):
        yield "", value.variables
        return
    for node in value.subtree:
        path = node.path.removeprefix(value.path).strip("/")
        yield path, node.to_dataset(inherit=node is value).variables
