"""Writer that appends time steps to a store, one chunk at a time, while others read it.

Readers see the steps that the group's metadata declares. The group's metadata includes the metadata
of all arrays. It is replaced as one object after a chunk and its times are safe in the store. So a
chunk is visible completely or not at all, and a killed writer leaves a valid store that can be
continued.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import zarr
from zarr.abc.store import Store
from zarr.core.buffer import Buffer
from zarr.core.metadata.v3 import ArrayV3Metadata
from zarr.storage import StorePath

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.visibility import StepEncoder
from gangsaw.tasks.radio.append.steps import (
    ArraysMetadata,
    GroupMetadata,
    Steps,
    build_store,
    read_group,
    refuse_other,
)
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.arrays.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.lease import hold_lease

TIMES = 4096  # per chunk of the time coordinate: readers open one object for so many steps


class Appender:
    """Writer of time steps to an array of a Zarr group, and of their times to its time coordinate.

    Plain zarr and xarray read the store at any time. They see whole chunks of steps, and all steps
    after `close`. An existing store is continued: the steps of an incomplete last chunk are read
    back, and the chunk is replaced when it is full. Reading that chunk during its replacement may
    raise CorruptChunk; the next read succeeds. One writer at a time is allowed: another one gets
    BadParams until `close` or a failed write.

    Parameters
    ----------
    target : path, address or Zarr store
        Store to write; it is created if it does not exist.
    steps : Steps
        Description of every step.
    coords : iterable of Coordinate, default ()
        Coordinates of the other axes, and any other small arrays.
    durable : bool, default True
        True syncs chunks to disk before they become visible.

    Raises
    ------
    BadParams
        The target contains anything other than such steps, or the coordinates do not fit the steps.
        Another writer or job is writing there.
    JobFailed
        The store cannot be written.

    See Also
    --------
    gangsaw.codecs.visibility.StepEncoder : Encode steps without a store.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> from gangsaw.codecs.visibility import Params
    >>> from gangsaw.tasks.append import Appender, Steps
    >>> steps = Steps(
    ...     dims=("time", "frequency"),
    ...     shape=(8,),
    ...     dtype="complex64",
    ...     params=Params(effort="fast", block=(2, 0, 0)),
    ... )
    >>> with Appender("night.zarr", steps) as night:
    ...     for i in range(3):
    ...         night.append(8.0 * i, np.full(8, i, "complex64"))
    >>> zarr.open_group("night.zarr", mode="r")["visibility"].shape
    (3, 8)
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
        self._place = open_prefix(target, writable=True)
        self._n_written = 0
        self._times: list[float] = []  # times of the current chunk of the time coordinate
        self._failure: str | None = None
        objects = build_store(self._place, steps, coords, self._time_chunk)
        with ExitStack() as stack:
            self._lease = stack.enter_context(hold_lease(self._place))
            self._held = stack
            self._begin(objects)
            self._held = stack.pop_all()

    @property
    def n_written(self) -> int:
        """Number of steps that readers see."""
        return self._n_written

    @property
    def waiting(self) -> int:
        """Number of steps in the incomplete chunk, including those that readers see."""
        return self._encoder.waiting

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory used in addition to the given step, in bytes."""
        return self._encoder.peak_bytes + 64 * self._time_chunk

    def append(self, time: float, step: NumpyArray) -> None:
        """Append one step; every N-th call encodes and writes a chunk of N steps.

        Parameters
        ----------
        time : float
            Time of the step, in the units of the time coordinate.
        step : ndarray
            Array with the shape and dtype of `Steps`.

        Raises
        ------
        BadParams
            Time or step are invalid; the store is unchanged.
        JobFailed
            A chunk could not be written; earlier chunks stay readable.
        """
        self._check_usable()
        if not math.isfinite(time):
            raise BadParams(f"the time of a step must be a finite number, got {time}")
        frame = self._encoder.push(step)
        self._times.append(float(time))
        if frame is not None:
            self._write(frame, self._first + self._n_chunk)

    def close(self) -> None:
        """Write the remaining steps as a chunk padded with zeros; a later writer can continue it.

        Raises
        ------
        JobFailed
            The chunk could not be written.
        """
        self._check_usable()
        n_steps = self._first + self._encoder.waiting
        frame = self._encoder.finish() if n_steps > self._n_written else None
        if frame is not None:
            self._write(frame, n_steps)
        self._failure = "it is closed"
        self._held.close()

    def __enter__(self) -> Self:
        """Return the appender itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the appender, also after an error of the caller: the steps before it are valid."""
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
        """Index of the first step of the incomplete chunk."""
        return self._n_written // self._n_chunk * self._n_chunk

    @property
    def _metadata(self) -> ArraysMetadata:
        """Metadata of all arrays, as consolidated in the group's metadata."""
        return self._group["consolidated_metadata"]["metadata"]

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise JobFailed(f"cannot append to {self._place}: {self._failure}")

    def _begin(self, objects: Mapping[str, Buffer]) -> None:
        """Create the store or continue it; the caller holds the lease."""
        stored = read_group(self._place, objects)
        self._group: GroupMetadata = stored or json.loads(objects[METADATA].to_bytes())
        if stored is None:
            self._create(objects)
        else:
            self._continue_store(objects)

    def _create(self, objects: Mapping[str, Buffer]) -> None:
        """Write all objects, the group's metadata last: only then is it a Zarr store."""
        self._place.clean()
        rest = {key: data.to_bytes() for key, data in objects.items() if key != METADATA}
        self._put(rest)
        self._put({METADATA: objects[METADATA].to_bytes()})

    def _continue_store(self, objects: Mapping[str, Buffer]) -> None:
        """Read back the times and steps of the incomplete chunks."""
        refuse_other(self._place, self._metadata, objects, self._steps)
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
        self._put(self._array_metadata())  # they are old if a writer was killed before

    def _write(self, frame: memoryview, n_steps: int) -> None:
        """Encode and write a chunk of steps and its times; then make `n_steps` steps visible."""
        self._lease.confirm()
        name, time = self._steps.name, self._steps.dims[0]
        number, time_number = self._first // self._n_chunk, self._first // self._time_chunk
        position = (number,) + (0,) * len(self._steps.shape)
        for grown in (name, time):
            shape = self._metadata[grown]["shape"]
            assert isinstance(shape, list)
            shape[0] = n_steps
        coder = ArrayCoder(json.dumps(self._metadata[time]).encode())
        key = ArrayV3Metadata.from_dict(self._metadata[name]).encode_chunk_key(position)
        times = coder.encode(time_number, np.array(self._times))
        self._put({f"{name}/{key}": frame, f"{time}/{coder.key(time_number)}": times.to_bytes()})
        self._put({METADATA: _parse_json(self._group), **self._array_metadata()})  # in this order
        self._n_written = n_steps
        if n_steps % self._time_chunk == 0:
            self._times.clear()

    def _array_metadata(self) -> dict[str, bytes]:
        """Return the metadata of both growing arrays, for readers that do not open the group."""
        names = self._steps.name, self._steps.dims[0]
        return {f"{name}/{METADATA}": _parse_json(self._metadata[name]) for name in names}

    def _put(self, objects: Mapping[str, bytes | memoryview]) -> None:
        """Write objects, each atomically. After an error the appender refuses further writes."""
        try:
            for key, data in objects.items():
                self._place.put(key, bytes(data))
            if self._durable:
                self._place.flush(objects)
        except Exception as error:  # stores raise any error of their libraries
            reason = getattr(error, "strerror", None) or error
            self._failure = f"writing to it failed before ({reason})"
            self._held.close()
            raise JobFailed(f"cannot write to {self._place}: {reason}") from error


def _parse_json(document: object) -> bytes:
    return json.dumps(document, indent=2).encode()
