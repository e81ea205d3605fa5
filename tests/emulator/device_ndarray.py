"""`ndarray` of the stand-in for CuPy: host memory that refuses to be taken for host memory.

No subclass of NumPy's: NumPy would look into it without asking.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from emulator import pools, streams
from emulator.memory import Memory

HostArray = npt.NDArray[Any]
IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)
# what moves floats and computes nothing; zarr compares with fill values
MOVES = {
    *("concatenate", "stack", "broadcast_to", "broadcast_arrays", "repeat", "pad", "moveaxis"),
    *("transpose", "where", "copyto", "array_equal"),
}


class MemoryPointer:
    """`cupy.cuda.MemoryPointer`: the address of an array's first element."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset
        self.device_id = 0


def _of_host(name: str) -> property:
    """Return a property of the host's array; protocols are checked by what a class has."""
    return property(lambda array: getattr(array.host, name))


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):  # noqa: N801 - CuPy's name
    """`cupy.ndarray`: `host` is a view of emulated device memory, for this package alone."""

    __module__ = "cupy"
    shape, dtype, strides, ndim = map(_of_host, ("shape", "dtype", "strides", "ndim"))
    size, itemsize, nbytes, flags = map(_of_host, ("size", "itemsize", "nbytes", "flags"))

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: Any = "C",
    ) -> None:
        dtype = np.dtype(dtype)
        shape = tuple(shape) if np.iterable(shape) else (operator.index(shape),)
        if dtype.hasobject:
            raise ValueError(f"Unsupported dtype {dtype}")
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        self.memory = pools.allocate(size) if memptr is None else memptr.mem
        offset = 0 if memptr is None else memptr.ptr - self.memory.ptr
        self.host = np.ndarray(shape, dtype, self.memory.bytes, offset, strides, order or "C")

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self.memory, self.host.ctypes.data - self.memory.ptr)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        described = self.host.__array_interface__
        kept = {key: described[key] for key in ("shape", "typestr", "descr", "data")}
        strides = None if self.host.flags.c_contiguous else self.host.strides
        return {**kept, "strides": strides, "version": 3, "stream": 1}

    @property
    def device(self) -> Any:
        return streams.Device(0)

    def __array__(self, *_: Any, **__: Any) -> HostArray:
        raise TypeError(IMPLICIT)

    # between host and device

    def get(
        self,
        stream: Any = None,
        order: str = "C",
        out: HostArray | None = None,
        blocking: bool = True,
    ) -> HostArray:
        if out is None:
            out = np.empty(self.shape, self.dtype, "F" if order == "F" else "C")
        elif not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        elif (out.dtype, out.shape) != (self.dtype, self.shape):
            raise ValueError(f"Shape or dtype mismatch: {out.shape} {out.dtype}, {self.shape}")
        elif not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        queue = streams.chosen(stream)
        queue.add(lambda: np.copyto(out, self.host))
        if blocking:
            queue.synchronize()
        return out

    def set(self, arr: HostArray, stream: Any = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if not (self.flags.c_contiguous or self.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        streams.chosen(stream).add(lambda: self._write(self.host, arr))

    def _write(self, target: HostArray, value: Any) -> None:
        target[...] = value
        self.memory.mark(target)

    def tobytes(self, order: str = "C") -> bytes:
        return self.get().tobytes(order)

    def tolist(self) -> Any:
        return self.get().tolist()

    def item(self) -> Any:
        return self.get().item()

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.get())

    __hash__ = None  # type: ignore[assignment]

    # views: the same memory

    def _view(self, host: HostArray) -> ndarray:
        view = object.__new__(ndarray)
        view.memory, view.host = self.memory, host
        return view

    def _shares(self, host: HostArray) -> ndarray:
        if not host.size or np.may_share_memory(host, self.host):
            return self._view(host)
        refuse_foreign(self)
        return wrapped(host)

    def __getitem__(self, key: Any) -> ndarray:
        key = unwrapped(key)
        streams.current().synchronize()
        return self._shares(self.host[_as_view(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (np.ndarray, list, tuple)) and np.ndim(value):
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        refuse_foreign(self, value)
        key, value = unwrapped(key), unwrapped(value)
        streams.current().synchronize()
        self.host[key] = value
        target = self.host[_as_view(key)]
        self.memory.mark(target if np.may_share_memory(target, self.host) else self.host)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return self._view(self.host.view() if dtype is None else self.host.view(dtype))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
        streams.current().synchronize()
        return self._shares(self.host.reshape(*shape, order=order))

    def ravel(self, order: str = "C") -> ndarray:
        streams.current().synchronize()
        return self._shares(self.host.ravel(order))

    def flatten(self, order: str = "C") -> ndarray:
        return wrapped(self.get().flatten(order))

    def squeeze(self, axis: Any = None) -> ndarray:
        return self._view(self.host.squeeze(axis))

    def transpose(self, *axes: Any) -> ndarray:
        return self._view(self.host.transpose(*axes))

    @property
    def T(self) -> ndarray:  # noqa: N802 - CuPy's name
        return self.transpose()

    # copies, and arithmetic

    def copy(self, order: str = "C") -> ndarray:
        refuse_foreign(self)
        return wrapped(self.get().copy(order))

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        refuse_foreign(self, np.dtype(dtype))
        if self.dtype != np.dtype(dtype):
            refuse_floats(self)
        if not copy and self.dtype == np.dtype(dtype):
            return self
        return wrapped(self.get().astype(dtype, order))

    def fill(self, value: Any) -> None:
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            raise NotImplementedError(f"{ufunc.__name__}.{method} of the stand-in for CuPy")
        return applied(ufunc, inputs, kwargs)

    def __array_function__(self, function: Any, _types: Any, args: Any, kwargs: Any) -> Any:
        return applied(function, args, kwargs)


def _as_view(key: Any) -> Any:
    """Return the index that gives an array where NumPy's rules give a scalar."""
    parts = key if isinstance(key, tuple) else (key,)
    return key if any(part is Ellipsis for part in parts) else (*parts, ...)


def _reduction(name: str) -> Callable[..., ndarray]:
    def method(self: ndarray, axis: Any = None, **kwargs: Any) -> Any:
        return applied(getattr(np, name), (self,), {"axis": axis, **kwargs})

    method.__name__ = name
    return method


for _name in ("sum", "min", "max", "any", "all", "cumsum", "mean", "argmax", "argmin", "prod"):
    setattr(ndarray, _name, _reduction(_name))


def refuse_host(*values: Any) -> None:
    """Raise as CuPy does where host arrays meet device arrays."""
    for value in values:
        if isinstance(value, (list, tuple)):
            refuse_host(*value)
        elif isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"Unsupported type {type(value)}")


def refuse_foreign(*values: Any) -> None:
    """Raise where CuPy takes foreign bytes for native ones: arithmetic, and copies by element.

    CuPy 14 says nothing: what is written there reads as other numbers.
    """
    for value in values:
        if isinstance(value, (list, tuple)):
            refuse_foreign(*value)
        elif isinstance(value, np.dtype) and not value.isnative:
            raise NotImplementedError(f"{value} is for kernels of ours alone")
        elif isinstance(value, ndarray):
            refuse_foreign(value.dtype)


def refuse_floats(*values: Any) -> None:
    """Raise where CuPy would compute with floats: its own kernels take denormals for 0."""
    for value in values:
        if isinstance(value, (list, tuple)):
            refuse_floats(*value)
        elif isinstance(value, ndarray) and value.dtype.kind in "fc":
            raise NotImplementedError("floats are computed with in kernels of ours alone")


def unwrapped(value: Any) -> Any:
    """Return the value with host views in place of device arrays."""
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, (list, tuple)):
        return type(value)(map(unwrapped, value))
    return value


def wrapped(host: Any, order: str | None = None) -> Any:
    """Return a device array that holds a copy, in native byte order; of a tuple, one each."""
    if isinstance(host, tuple):
        return tuple(map(wrapped, host))
    host = np.asarray(host)
    host = host.astype(host.dtype.newbyteorder("="), copy=False)
    if order is None:
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    array = ndarray(host.shape, host.dtype, order=order)
    array._write(array.host, host)
    return array


def applied(function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function of NumPy makes of device arrays, on the device."""
    refuse_host(*args, *kwargs.values())
    refuse_foreign(*args, *kwargs.values())
    if function.__name__ not in MOVES:
        refuse_floats(*args, *kwargs.values())
    streams.current().synchronize()
    out = kwargs.get("out")
    result = function(*unwrapped(tuple(args)), **{k: unwrapped(v) for k, v in kwargs.items()})
    if out is not None:
        for one in out if isinstance(out, tuple) else (out,):
            one.memory.mark(one.host)
        return out[0] if isinstance(out, tuple) else out
    return wrapped(result)
