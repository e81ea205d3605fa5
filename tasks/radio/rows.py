"""Mapping between rows of a visibility file, one per time and baseline, and axes of an array.

If every time has the same baselines, in either sorted order, the rows become a grid (time,
baseline_id). Then neighbours in time, from which a codec predicts, are neighbours in the array.
Ragged rows stay one axis. No row is added, dropped or reordered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.source import Region

TIME, BASELINE, ROW = "time", "baseline_id", "row"

Run: TypeAlias = "slice[int, int, int | None]"
Fetch: TypeAlias = "Callable[[Run], NumpyArray]"  # a run of rows -> (rows, ...)
Put: TypeAlias = "Callable[[Run, NumpyArray], None]"


class RowsRecord(TypedDict):
    """JSON form of `Rows`."""

    dims: list[str]
    shape: list[int]
    order: list[str]


@dataclass(frozen=True)
class Rows:
    """Mapping of the rows of a visibility file to the axes time and baseline of arrays.

    Attributes
    ----------
    dims : axes of the array: ("time", "baseline_id"), ("row",) or, if each row is a time, ("time",)
    shape : extents, in the order of `dims`
    order : the same names in the order of the file, slowest first
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    order: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return math.prod(self.shape)

    @property
    def _is_swapped(self) -> bool:
        return self.order != self.dims

    @property
    def _n_inner(self) -> int:
        return self.shape[self.dims.index(self.order[-1])]

    def read(self, fetch: Fetch, region: Region) -> NumpyArray:
        """Return the samples of a region of these axes; `fetch` reads consecutive rows."""
        if len(self.shape) == 1:
            return fetch(region[0])
        outer, inner = region[::-1] if self._is_swapped else region
        parts = [fetch(run) for run in _runs(outer, inner, self._n_inner)]
        samples = parts[0] if len(parts) == 1 else np.concatenate(parts)
        samples = samples.reshape(_length(outer), _length(inner), *samples.shape[1:])
        return samples.swapaxes(0, 1) if self._is_swapped else samples

    def write(self, put: Put, region: Region, samples: NumpyArray) -> None:
        """Write the samples of a region of these axes by `put`, which writes consecutive rows."""
        if len(self.shape) == 1:
            put(region[0], samples)
            return
        outer, inner = region[::-1] if self._is_swapped else region
        ordered = samples.swapaxes(0, 1) if self._is_swapped else samples
        runs = _runs(outer, inner, self._n_inner)
        parts = [ordered.reshape(-1, *samples.shape[2:])] if len(runs) == 1 else ordered
        for run, part in zip(runs, parts, strict=True):
            put(run, part)

    def repeat_for_rows(self, values: NumpyArray, dims: tuple[str, ...]) -> NumpyArray:
        """Repeat values along the axes `dims` for every row, in the order of the file."""
        own = tuple(dim for dim in self.dims if dim in dims)
        missing = tuple(i for i, dim in enumerate(self.dims) if dim not in own)
        rest = values.shape[len(own) :]
        full = np.broadcast_to(np.expand_dims(values, missing), (*self.shape, *rest))
        ordered = full.swapaxes(0, 1) if self._is_swapped else full
        return ordered.reshape(self.n_rows, *rest)

    def reduce_to_axis(self, values: NumpyArray, dim: str) -> NumpyArray:
        """Reduce values of every row, which vary only along `dim`, to values along that axis."""
        if len(self.shape) == 1:
            return values
        grid = values.reshape([self.shape[self.dims.index(name)] for name in self.order])
        return grid[:, 0] if self.order[0] == dim else grid[0]

    def to_dict(self) -> dict[str, list[str] | list[int]]:
        """Return the mapping as JSON values."""
        return {name: list(value) for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: RowsRecord) -> Rows:
        """Return the mapping from the values of `to_dict`."""
        return cls(tuple(data["dims"]), tuple(data["shape"]), tuple(data["order"]))


def map_rows_to_axes(time: NumpyArray, antenna1: NumpyArray, antenna2: NumpyArray) -> Rows:
    """Return the mapping of rows to axes, given time and antennas of each row: (rows,) arrays."""
    baseline = np.stack([antenna1, antenna2], axis=1)
    n = len(time)
    if n_baselines := _cycle(time[:, None], baseline):
        return Rows((TIME, BASELINE), (n // n_baselines, n_baselines), (TIME, BASELINE))
    if n_times := _cycle(baseline, time[:, None]):
        return Rows((TIME, BASELINE), (n_times, n // n_times), (BASELINE, TIME))
    return Rows((ROW,), (n,), (ROW,))


def _cycle(slow: NumpyArray, fast: NumpyArray) -> int:
    """Return the number of rows after which `fast` repeats and `slow` steps; 0 if there is none.

    slow, fast : (rows, n)
    """
    steps = np.flatnonzero((slow[1:] != slow[:1]).any(axis=1))
    length = int(steps[0]) + 1 if len(steps) else len(slow)
    if not length or len(slow) % length:
        return 0
    slow = slow.reshape(-1, length, slow.shape[1])
    fast = fast.reshape(-1, length, fast.shape[1])
    regular = (slow == slow[:, :1]).all() and (fast == fast[:1]).all()
    return length if regular else 0


def _runs(outer: Run, inner: Run, n_inner: int) -> list[Run]:
    if _length(inner) == n_inner:
        return [slice(outer.start * n_inner, outer.stop * n_inner)]
    steps = range(outer.start * n_inner, outer.stop * n_inner, n_inner)
    return [slice(at + inner.start, at + inner.stop) for at in steps]


def _length(part: Run) -> int:
    return int(part.stop - part.start)
