"""Append time steps to a store, a chunk at a time, while others read it.

What a reader sees is what the metadata of the group says, which holds that of all its arrays and is
replaced as one object when a chunk and its times are safe in the store. So a chunk is there as a
whole or not at all, and a writer that is killed leaves a store that is whole and can go on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import zarr
from zarr.abc.store import Store
from zarr.core.buffer import Buffer
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.storage import MemoryStore, StorePath

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.visibility import Params, StepEncoder
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.tasks.chunks import METADATA, ArrayCoder
from gangsaw.tasks.layout import Layout
from gangsaw.tasks.place import PARTIAL, Place, open_place
from gangsaw.tasks.skeleton import build_objects
from gangsaw.tasks.sources.axes import visibility_axes
from gangsaw.tasks.sources.base import Coordinate, Described

TIMES = 4096  # in a chunk of the time coordinate: a reader opens one object for so many steps


@dataclass(frozen=True, kw_only=True)
class Steps:
    """What all steps have in common, and what the store calls it.

    Attributes
    ----------
    dims : names of the axes of the array, the first one that of time: ("time", "frequency", ...)
    shape : of one step, an extent for each of the other axes
    dtype : of the steps, float or complex
    params : of the codec; block[0] is the number of steps in a chunk; axes "auto" go by `dims`
    name : of the array
    attrs : JSON attributes of the array
    time_attrs : JSON attributes of the time coordinate, such as units and calendar
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    params: Params
    name: str = "visibility"
    attrs: Mapping[str, Any] = field(default_factory=dict)
    time_attrs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the names fit the axes, and let them say what the axes are."""
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


class Appender:
    """Appends steps to an array of a Zarr group and their times to its time coordinate.

    Plain zarr and xarray read the store at any time; they see whole chunks of steps, and after
    `close` all of them. A store that exists is continued: the steps of a last chunk that is not
    full are taken back from it, and it is written again. One writer at a time.

    Parameters
    ----------
    target : path, address or Zarr store; created where it is not there
    steps : what every step is
    coords : coordinates of the other axes, and any other small arrays
    durable : whether chunks are synced to the disk before they are seen

    Raises
    ------
    BadParams
        The target holds anything else than such steps, or they and the coordinates do not fit.
    JobFailed
        The store cannot be written to.

    Examples
    --------
    with Appender("night.zarr", steps) as appender:
        for time, step in correlator:
            appender.append(time, step)
    """

    def __init__(
        self,
        target: str | Path | Store | StorePath,
        steps: Steps,
        coords: Iterable[Coordinate] = (),
        *,
        durable: bool = True,
    ) -> None:
        self._steps, self._durable = steps, durable
        self._encoder = StepEncoder(steps.shape, steps.dtype, steps.params)
        self._place = open_place(target, writable=True)
        self._n_written = 0
        self._times: list[float] = []  # of the current chunk of the time coordinate
        self._failure: str | None = None
        objects = _objects(self._place, steps, coords, self._time_chunk)
        stored = _stored_group(self._place, objects)
        if stored is None:
            self._group: Any = json.loads(objects[METADATA].to_bytes())
            self._create(objects)
        else:
            self._group = stored
            self._go_on(objects)

    @property
    def n_written(self) -> int:
        """Steps that readers see."""
        return self._n_written

    @property
    def waiting(self) -> int:
        """Steps that wait for their chunk to become full, those that readers see among them."""
        return self._encoder.waiting

    @property
    def peak_bytes(self) -> int:
        """A bound on the memory held beside the step that is given, in bytes."""
        return self._encoder.peak_bytes + 64 * self._time_chunk

    def append(self, time: float, step: npt.NDArray[Any]) -> None:
        """Take a step; every N-th call encodes and writes a chunk.

        Parameters
        ----------
        time : of the step, in the units of the time coordinate
        step : array of the shape and dtype of the steps

        Raises
        ------
        BadParams : time or step are none; nothing was taken
        JobFailed : a chunk could not be written: what was written before stays readable
        """
        self._must_work()
        if not math.isfinite(time):
            raise BadParams(f"the time of a step must be a finite number, got {time}")
        frame = self._encoder.push(step)
        self._times.append(float(time))
        if frame is not None:
            self._write(frame, self._first + self._n_chunk)

    def close(self) -> None:
        """Write the steps that wait, in a chunk padded with zeros; more can be appended later.

        Raises
        ------
        JobFailed : the chunk could not be written
        """
        self._must_work()
        n_steps = self._first + self._encoder.waiting
        frame = self._encoder.finish() if n_steps > self._n_written else None
        if frame is not None:
            self._write(frame, n_steps)
        self._failure = "it is closed"

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close, also after an error elsewhere: the steps before it are good."""
        if self._failure is None:
            self.close()

    @property
    def _n_chunk(self) -> int:
        return self._encoder.chunk_shape[0]

    @property
    def _time_chunk(self) -> int:
        return self._n_chunk * max(1, TIMES // self._n_chunk)

    @property
    def _first(self) -> int:
        """First step of the chunk that is being filled."""
        return self._n_written // self._n_chunk * self._n_chunk

    @property
    def _metadata(self) -> dict[str, Any]:
        """Metadata of all arrays, as those of the group hold them."""
        metadata: dict[str, Any] = self._group["consolidated_metadata"]["metadata"]
        return metadata

    def _must_work(self) -> None:
        if self._failure is not None:
            raise JobFailed(f"cannot append to {self._place}: {self._failure}")

    def _create(self, objects: Mapping[str, Buffer]) -> None:
        """Write all objects, the group's metadata last: it makes them a store."""
        self._place.clean()
        rest = {key: data.to_bytes() for key, data in objects.items() if key != METADATA}
        self._put(rest)
        self._put({METADATA: objects[METADATA].to_bytes()})

    def _go_on(self, objects: Mapping[str, Buffer]) -> None:
        """Take back times and steps of the chunks that are not full."""
        _refuse_other(self._place, self._metadata, objects, self._steps)
        self._place.clean()
        group = zarr.open_group(StorePath(self._place.store, self._place.path), mode="r")
        array, times = group[self._steps.name], group[self._steps.dims[0]]
        assert isinstance(array, zarr.Array)
        assert isinstance(times, zarr.Array)
        if array.shape[:1] != times.shape:
            raise BadParams(f"{self._place} has {array.shape[0]} steps and {times.size} times")
        self._n_written = array.shape[0]
        first = self._n_written // self._time_chunk * self._time_chunk
        self._times = [float(time) for time in np.asarray(times[first:])]
        for step in np.asarray(array[self._first :]).astype(self._encoder.dtype, copy=False):
            self._encoder.push(step)
        self._put(self._array_metadata())  # a writer killed between the two left the old ones

    def _write(self, frame: memoryview, n_steps: int) -> None:
        """Write a chunk and its times; then let readers see `n_steps` steps."""
        name, time = self._steps.name, self._steps.dims[0]
        number, time_number = self._first // self._n_chunk, self._first // self._time_chunk
        position = (number,) + (0,) * len(self._steps.shape)
        for grown in (name, time):
            self._metadata[grown]["shape"][0] = n_steps
        coder = ArrayCoder(json.dumps(self._metadata[time]).encode())
        key = ArrayV3Metadata.from_dict(self._metadata[name]).encode_chunk_key(position)
        times = coder.encode(time_number, np.array(self._times))
        self._put({f"{name}/{key}": frame, f"{time}/{coder.key(time_number)}": times.to_bytes()})
        self._put({METADATA: _json(self._group)})
        self._put(self._array_metadata())
        self._n_written = n_steps
        if n_steps % self._time_chunk == 0:
            self._times.clear()

    def _array_metadata(self) -> dict[str, bytes]:
        """Return the metadata that grow once more, for who opens an array and not the group."""
        names = self._steps.name, self._steps.dims[0]
        return {f"{name}/{METADATA}": _json(self._metadata[name]) for name in names}

    def _put(self, objects: Mapping[str, bytes | memoryview]) -> None:
        """Write objects, each as a whole; after an error the store is left as it is."""
        try:
            for key, data in objects.items():
                self._place.put(key, bytes(data))
            if self._durable:
                self._place.flush(objects)
        except Exception as error:  # stores raise what their libraries raise
            reason = getattr(error, "strerror", None) or error
            self._failure = f"writing to it failed before ({reason})"
            raise JobFailed(f"cannot write to {self._place}: {reason}") from error


def _objects(
    place: Place, steps: Steps, coords: Iterable[Coordinate], time_chunk: int
) -> Mapping[str, Buffer]:
    """Return all objects of a store that holds no step yet."""
    time, dtype, coords = steps.dims[0], np.dtype(steps.dtype), tuple(coords)
    _check_coords(steps, coords)
    described: dict[str, Any] = {"chunks": None}
    array = Described(
        name=steps.name,
        shape=(0, *steps.shape),
        dtype=dtype,
        dims=steps.dims,
        attrs=steps.attrs,
        **described,
    )
    times = Described(
        name=time,
        shape=(0,),
        dtype=np.dtype("f8"),
        dims=(time,),
        attrs=steps.time_attrs,
        **described,
    )
    chunk = (steps.params.block[0], *steps.shape)
    layouts = {
        steps.name: Layout(chunk, Visibility(**vars(steps.params))),
        time: Layout((time_chunk,), None),
    }
    return build_objects(str(place), (array, times), coords, {}, layouts)


def _check_coords(steps: Steps, coords: Iterable[Coordinate]) -> None:
    """Raise BadParams for coordinates that xarray would not open beside the steps."""
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


def _stored_group(place: Place, objects: Mapping[str, Buffer]) -> Any:
    """Return the group's metadata, None where there is no store yet.

    Raises
    ------
    BadParams : something else stands there than a group, or than what a creation left when killed
    """
    stored = place.get(METADATA)
    if stored is None:
        if place.is_empty:
            return None
        if any(key not in objects and not PARTIAL.search(key) for key in place.walk()):
            raise BadParams(f"{place} exists and is no Zarr group: give another name")
        return None
    try:
        group = json.loads(stored.to_bytes())
        dict(group["consolidated_metadata"]["metadata"])
    except (ValueError, KeyError, TypeError):
        raise BadParams(f"{place} exists and is no store of steps: give another name") from None
    return group


def _refuse_other(
    place: Place, stored: Mapping[str, Any], objects: Mapping[str, Buffer], steps: Steps
) -> None:
    """Raise BadParams where the store's arrays are not those that these steps would make."""
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
        if not _same(there_group[name], here_group[name]):
            raise BadParams(f"{place} holds other steps: values of {name!r} differ")


def _facts(metadata: Mapping[str, Any], grows: bool) -> dict[str, Any]:
    """Return what arrays must agree in, in the words of this version of zarr."""
    facts: dict[str, Any] = ArrayV3Metadata.from_dict(dict(metadata)).to_dict()
    facts["shape"] = tuple(facts["shape"])[1 if grows else 0 :]
    return facts


def _same(there: Any, here: Any) -> bool:
    a, b = np.asarray(there[...]), np.asarray(here[...])
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def _json(document: Any) -> bytes:
    return json.dumps(document, indent=2).encode()
