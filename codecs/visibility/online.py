"""Encoder of time steps as they arrive from a correlator, one chunk at a time."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Dtype, NumpyArray
from gangsaw.codecs.core.cuda.device import backend_name, empty_in_memory_of
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.params import Params


class _StepArray(Array, Protocol):
    """Array to which time steps can be copied."""

    def __setitem__(self, where: int | slice[int, None, None], steps: object, /) -> None: ...


class StepEncoder:
    """Encoder that takes time steps one by one and returns a chunk's frame after every N steps.

    A chunk is one block in time of N = `params.block[0]` steps. No step waits for more than N - 1
    others, and none is predicted from an earlier chunk, so that each chunk is decoded alone. A
    frame has the bytes that Zarr stores for such a chunk in an array with only the codec
    `gangsaw.visibility` with the same parameters.

    Both efforts have the previous step among their predictors, and use it where it is the best:
    `Params(block=(N, 0, 0))`, or with effort="fast". To use it everywhere, name the construction:
    `Params(block=(N, 0, 0), predictor="time", residual="xor", packing="bits")`.

    The length of a chunk affects latency more than size: ratios grow little with N.

    Only one thread may push. The same call encodes: most calls copy a step, and each N-th call
    takes as long as encoding one chunk with `memory.threads.thread_limit()` threads. The caller
    must queue the steps that arrive meanwhile. Steps are all in host memory or all on a GPU, where
    they are gathered and encoded.

    Parameters
    ----------
    shape : tuple of int
        Shape of one step, such as (frequency, baseline, polarisation).
    dtype : dtype
        Dtype of the steps: float or complex, in any byte order.
    params : Params
        Parameters of the codec: `block[0]` is N, at least 1; axes, if given, begin with "t".
    fill_value : complex, default 0
        Fill value of the array; it pads the last chunk if steps are missing.

    Attributes
    ----------
    chunk_shape : tuple of int
        N, then the shape of a step.
    dtype : dtype
        Dtype of the steps.
    waiting : int
        Steps not yet in any frame, 0..N-1.

    Raises
    ------
    BadParams
        A parameter does not meet these conditions.

    See Also
    --------
    gangsaw.tasks.append.Appender : Write steps to a store.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.codecs.visibility import Params, StepEncoder
    >>> encoder = StepEncoder((8, 4), "complex64", Params(effort="fast", block=(2, 0, 0)))
    >>> step = np.ones((8, 4), "complex64")
    >>> encoder.push(step) is None, encoder.waiting
    (True, 1)
    >>> encoder.push(step) is None, encoder.waiting
    (False, 0)
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: npt.DTypeLike,
        params: Params,
        fill_value: complex = 0,
    ) -> None:
        self.chunk_shape = _chunk_shape(shape, params)
        self.dtype = np.dtype(dtype)
        self.waiting = 0
        self._codec = Visibility(**vars(params))
        self._coder = self._codec.coder(self.chunk_shape, self.dtype)
        self._fill = _filling(fill_value, self.dtype)
        self._chunk: _StepArray | None = None  # set by the first step, in its memory

    @property
    def peak_bytes(self) -> int:
        """Upper bound of the memory in use, in bytes: a chunk of steps, and its encoding."""
        chunk = math.prod(self.chunk_shape) * self.dtype.itemsize
        return chunk + self._codec.peak_bytes(self.chunk_shape, self.dtype)

    def warm_up(self) -> None:
        """Compile the host kernels for such chunks, which takes seconds once on a machine.

        Call it before the first step; otherwise the first chunk waits for the compilation.
        """
        for chunk in _varied_chunks(self.chunk_shape, self.dtype):
            self._coder.encode(chunk)

    def push(self, step: Array) -> memoryview | None:
        """Copy a step; return the frame of its chunk if the step completes it, else None.

        Parameters
        ----------
        step : ndarray
            Array of the encoder's step shape and dtype, with any strides.

        Returns
        -------
        memoryview or None
            Frame of a chunk, or None before the chunk is complete.

        Raises
        ------
        BadParams
            The step has another shape, dtype or memory; the encoder's state is unchanged.
        """
        chunk = self._chunk_for(step)
        chunk[self.waiting] = step
        self.waiting += 1
        return self._frame(chunk) if self.waiting == self.chunk_shape[0] else None

    def finish(self) -> memoryview | None:
        """Return the frame of the waiting steps, and reset the encoder.

        Chunks of Zarr have one shape: the last one is padded with the fill value, as Zarr does, and
        the array's extent in time defines how many of its steps are valid.

        Returns
        -------
        memoryview or None
            Frame of the last chunk; None if no steps wait.
        """
        if self._chunk is None or not self.waiting:
            return None
        self._chunk[self.waiting :] = self._fill
        return self._frame(self._chunk)

    def _frame(self, chunk: Array) -> memoryview:
        self.waiting = 0
        return self._coder.encode(chunk)

    def _chunk_for(self, step: Array) -> _StepArray:
        """Return the chunk to copy the step to; raise BadParams if the step differs from others."""
        place = backend_name(step)
        if step.shape != self.chunk_shape[1:] or step.dtype != self.dtype:
            raise BadParams(
                f"a step must be {self.dtype.str} of shape {self.chunk_shape[1:]}, "
                f"got {step.dtype.str} of shape {step.shape}"
            )
        if self._chunk is None:
            empty = empty_in_memory_of(step, self.chunk_shape, self.dtype, "C")
            self._chunk = cast(_StepArray, empty)
        elif place != (held := backend_name(self._chunk)):
            raise BadParams(f"a step is on the {place}, those before on the {held}: keep to one")
        return self._chunk


def _chunk_shape(shape: tuple[int, ...], params: Params) -> tuple[int, ...]:
    n_steps = params.block[0]
    if n_steps < 1:
        raise BadParams(
            "block time is 0, so nothing says how many steps are a chunk: give it, "
            "such as Params(block=(16, 0, 0)) for 16 steps"
        )
    try:
        shape = tuple(map(operator.index, shape))
    except TypeError:
        raise BadParams(f"the shape of a step is a tuple of integers, got {shape!r}") from None
    if any(extent < 1 for extent in shape):
        raise BadParams(f"a step must have extents of at least 1, got shape {shape}")
    chunk_shape = (n_steps, *shape)
    if not (axes := params.axis_names(len(chunk_shape))).startswith("t"):
        raise BadParams(f"axes must begin with 't', as steps are added in time, got {axes!r}")
    return chunk_shape


def _filling(fill_value: complex, dtype: Dtype) -> NumpyArray:
    try:
        return np.array(fill_value, dtype)
    except (TypeError, ValueError) as error:
        raise BadParams(f"fill_value {fill_value!r} is no {dtype}: {error}") from error


def _varied_chunks(shape: tuple[int, ...], dtype: Dtype) -> Iterator[Array]:
    """Yield chunks that together use every kernel."""
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):  # overflow of float16
        numbers = rng.integers(-99, 100, shape, np.int8)  # on a grid; as doubles they are narrowed
        yield numbers.astype(dtype)
        yield numbers.cumsum(axis=0, dtype=np.int32).cumsum(axis=0).astype(dtype)  # predicted
        noise = rng.standard_normal(shape)
        yield noise.astype(dtype)
        yield noise.cumsum(axis=0).cumsum(axis=0).astype(dtype)
    octets = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    yield octets.view(dtype)[..., 0]  # raw
