"""Time steps of a store: their description, the initial objects, checks of an existing store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt
import zarr
from zarr.core.buffer import Buffer
from zarr.core.common import JSON
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.storage import MemoryStore, StorePath

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.visibility import Params
from gangsaw.codecs.visibility.axes import visibility_axes
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.objects.files import PARTIAL
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.skeleton import build_objects
from gangsaw.tasks.store.state.lease import is_lease

ArraysMetadata: TypeAlias = "dict[str, dict[str, JSON]]"  # by name of the array


class ConsolidatedMetadata(TypedDict):
    """Metadata of all arrays of a group, by name."""

    metadata: ArraysMetadata


class GroupMetadata(TypedDict):
    """The part of a group's metadata that an appender reads and changes."""

    consolidated_metadata: ConsolidatedMetadata


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Description that all time steps share, and their names in the store.

    Parameters
    ----------
    dims : tuple of str
        Names of the array's axes, time first: ("time", "frequency", ...).
    shape : tuple of int
        Extents of one step, for all axes except time.
    dtype : dtype
        Float or complex dtype of the steps.
    params : Params
        Parameters of the codec `gangsaw.visibility`. Its `block[0]` is the number of steps per
        chunk; axes "auto" are derived from `dims`.
    name : str, default "visibility"
        Name of the array.
    attrs : dict, optional
        JSON attributes of the array.
    time_attrs : dict, optional
        JSON attributes of the time coordinate, such as units and calendar.

    Raises
    ------
    BadParams
        Dimensions, shape, dtype and parameters do not fit each other.

    Examples
    --------
    >>> from gangsaw.codecs.visibility import Params
    >>> from gangsaw.tasks.append import Steps
    >>> steps = Steps(
    ...     dims=("time", "frequency"),
    ...     shape=(8,),
    ...     dtype="complex64",
    ...     params=Params(block=(16, 0, 0)),
    ...     time_attrs={"units": "s"},
    ... )
    >>> steps.name
    'visibility'
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    params: Params
    name: str = "visibility"
    attrs: Mapping[str, object] = field(default_factory=dict)
    time_attrs: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the names fit the axes, and derive the codec's axes from them."""
        if len(self.dims) != len(self.shape) + 1 or len(set(self.dims)) != len(self.dims):
            raise BadParams(
                f"dims must name time and then the {len(self.shape)} axes of a step, each once, "
                f"got {self.dims}"
            )
        if self.name in self.dims:
            raise BadParams(f"the array and one of its axes are both named {self.name!r}")
        if self.params.axes == "auto":
            axes = visibility_axes(("time", *self.dims[1:]))
            object.__setattr__(self, "params", replace(self.params, axes=axes))


def build_store(
    place: Prefix, steps: Steps, coords: Iterable[Coordinate], time_chunk: int
) -> Mapping[str, Buffer]:
    """Return all objects, by key, of a new store without steps.

    `time_chunk` is the chunk extent of the time coordinate.
    """
    time, dtype, coords = steps.dims[0], np.dtype(steps.dtype), tuple(coords)
    _check_coords(steps, coords)
    array = Described(
        name=steps.name,
        shape=(0, *steps.shape),
        dtype=dtype,
        dims=steps.dims,
        attrs=steps.attrs,
        chunks=None,
    )
    times = Described(
        name=time,
        shape=(0,),
        dtype=np.dtype("f8"),
        dims=(time,),
        attrs=steps.time_attrs,
        chunks=None,
    )
    chunk = (steps.params.block[0], *steps.shape)
    layouts = {
        steps.name: ArrayLayout(chunk, Visibility(**vars(steps.params))),
        time: ArrayLayout((time_chunk,), None),
    }
    return build_objects(str(place), (array, times), coords, {}, layouts)


def _check_coords(steps: Steps, coords: Iterable[Coordinate]) -> None:
    """Raise BadParams for coordinates that xarray would not open together with the steps."""
    extents = dict(zip(steps.dims[1:], steps.shape, strict=True))
    for coordinate in coords:
        if {steps.name, steps.dims[0]} & {coordinate.name, *coordinate.dims}:
            raise BadParams(
                f"{coordinate.name!r} grows with the steps: give coordinates of the other axes"
            )
        shape = np.shape(coordinate.values)
        pairs = zip(coordinate.dims, shape, strict=False)
        wanted = tuple(extents.get(name, extent) for name, extent in pairs)
        if shape != wanted or len(shape) != len(coordinate.dims):
            raise BadParams(f"{coordinate.name!r} has shape {shape}, its axes {wanted}")


def read_group(place: Prefix, objects: Mapping[str, Buffer]) -> GroupMetadata | None:
    """Return the group's metadata; None if there is no store yet.

    Raises
    ------
    BadParams : the target contains objects that are neither such a group nor the rest of an
        interrupted creation
    """
    stored = place.get(METADATA)
    if stored is None:
        if place.is_empty:
            return None
        if any(_is_foreign(key, objects) for key in place.walk()):
            raise BadParams(f"{place} exists and is no Zarr group: give another name")
        return None
    try:
        group: GroupMetadata = json.loads(stored.to_bytes())
        dict(group["consolidated_metadata"]["metadata"])
    except (ValueError, KeyError, TypeError):
        raise BadParams(f"{place} exists and is no store of steps: give another name") from None
    return group


def _is_foreign(key: str, objects: Mapping[str, Buffer]) -> bool:
    return key not in objects and not PARTIAL.search(key) and not is_lease(key)


def refuse_other(
    place: Prefix, stored: ArraysMetadata, objects: Mapping[str, Buffer], steps: Steps
) -> None:
    """Raise BadParams if the stored arrays differ from those that these steps would create."""
    wanted = json.loads(objects[METADATA].to_bytes())["consolidated_metadata"]["metadata"]
    if different := sorted(set(wanted) ^ set(stored)):
        raise BadParams(f"{place} differs from the steps: {different[0]!r} is only in one of them")
    grown = (steps.name, steps.dims[0])
    for name in wanted:
        for what, value in _facts(wanted[name], name in grown).items():
            if (there := _facts(stored[name], name in grown)[what]) != value:
                raise BadParams(
                    f"{place} holds other steps: {what} of {name!r} is {there}, not {value}; "
                    "give another name"
                )
    there_group = zarr.open_group(StorePath(place.store, place.path), mode="r")
    here_group = zarr.open_group(MemoryStore(dict(objects)), mode="r")
    for name in set(wanted) - set(grown):
        if not _is_same(_values(there_group, name), _values(here_group, name)):
            raise BadParams(f"{place} holds other steps: values of {name!r} differ")


def _facts(metadata: Mapping[str, JSON], grows: bool) -> dict[str, object]:
    """Return the fields of an array's metadata that must agree to continue a store.

    They are in the form that this version of zarr writes. If the array `grows`, the extent of time
    is left out.
    """
    found = ArrayV3Metadata.from_dict(dict(metadata))
    return {**found.to_dict(), "shape": found.shape[1 if grows else 0 :]}


def _values(group: zarr.Group, name: str) -> NumpyArray:
    array = group[name]
    assert isinstance(array, zarr.Array)
    return np.asarray(array[...])


def _is_same(there: NumpyArray, here: NumpyArray) -> bool:
    return np.array_equal(there, here, equal_nan=there.dtype.kind in "fc")
