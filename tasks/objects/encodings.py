"""Codecs and chunks for xarray's own `to_zarr`: those that `compress` would choose."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gangsaw.tasks.objects.blocks import BlockArray
from gangsaw.tasks.objects.held import HeldArray
from gangsaw.tasks.source import SourceArray
from gangsaw.tasks.store.layout import ArrayLayout

if TYPE_CHECKING:
    import xarray as xr

# what an encoding says of samples; the rest is of the store that a variable was read from
OF_SAMPLES = (
    *("dtype", "scale_factor", "add_offset", "_FillValue", "missing_value"),
    *("units", "calendar", "_Unsigned"),
)


def fitting(array: SourceArray, wanted: Sequence[int]) -> tuple[int, ...]:
    """Return chunks near those that are wanted, each of which lies in one block of a Dask array.

    So no two tasks of `to_zarr` write one chunk.
    """
    if not isinstance(array, BlockArray):
        return tuple(wanted)
    return tuple(map(_fitting, array.sizes, wanted))


def _fitting(blocks: Sequence[int], wanted: int) -> int:
    """Return an extent that divides all blocks but the last one, of the wanted size or near it."""
    inner = math.gcd(*blocks[:-1]) if len(blocks) > 1 else 0
    if not inner or wanted >= inner:
        return inner or wanted
    divisors = [n for n in range(1, inner + 1) if not inner % n]
    below = max(n for n in divisors if n <= wanted)
    return below if 2 * below >= wanted else min(n for n in divisors if n >= wanted)


def is_stored_alike(array: SourceArray) -> bool:
    """Whether xarray stores an array in the form that we do: not one that is carried as bytes."""
    return isinstance(array, BlockArray | HeldArray)


def encoding_of(layout: ArrayLayout, variable: xr.Variable) -> dict[str, object]:
    """Return the encoding of a variable with the codec and the chunks of a layout."""
    creation = layout.creation()
    return {**of_samples(variable), "filters": None, **creation}


def of_samples(variable: xr.Variable) -> dict[str, object]:
    """Return what the encoding of a variable says of its samples."""
    return {k: variable.encoding[k] for k in OF_SAMPLES if k in variable.encoding}


def variables_by_path(
    given: xr.Dataset | xr.DataTree,
) -> Iterator[tuple[str, Mapping[object, xr.Variable]]]:
    """Yield the variables of each group, by its path in the tree."""
    import xarray as xr

    if isinstance(given, xr.Dataset):
        yield "", given.variables
        return
    for node in given.subtree:
        path = node.path.removeprefix(given.path).strip("/")
        yield path, node.to_dataset(inherit=node is given).variables
