"""What goes over the socket: a header, then steps, each with its length before it.

    header  [32] length of the JSON, JSON: dims, shape, dtype, units, coords
    step    [64] length of what follows, [64] time as a float, the step's bytes in C order

Numbers are big-endian. The stream ends after a step; an end within one is an error.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
from dataclasses import asdict, dataclass, field

import numpy as np

HEADER, STEP = struct.Struct(">I"), struct.Struct(">Qd")
TIME_BYTES = 8
MAX_HEADER, MAX_STEP = 16 << 20, 1 << 30  # bytes: more than that is no header and no step
LOOK = 0.2  # seconds after which a reader that waits looks whether it is to stop


class WireError(Exception):
    """The other side sends what is no stream of steps, or went away within one."""


@dataclass(frozen=True)
class Header:
    """What all steps of a stream have in common.

    Attributes
    ----------
    dims : names of the axes, time first
    shape : of one step
    dtype : of a step's numbers, with byte order, as "<c8"
    units : of the times, as "seconds since 2026-01-01"
    coords : values along other axes, by name
    """

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    units: str
    coords: dict[str, list[float]] = field(default_factory=dict)

    @property
    def step_bytes(self) -> int:
        """Bytes of a step's numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def send_header(connection: socket.socket, header: Header) -> None:
    """Send the header."""
    text = json.dumps(asdict(header)).encode()
    connection.sendall(HEADER.pack(len(text)) + text)


def send_step(connection: socket.socket, time: float, step: np.ndarray) -> None:
    """Send one step."""
    data = np.ascontiguousarray(step)
    connection.sendall(STEP.pack(TIME_BYTES + data.nbytes, time))
    connection.sendall(data.reshape(-1).view(np.uint8).data)


def read_header(connection: socket.socket, stop: threading.Event) -> Header:
    """Read and check the header."""
    head = _read(connection, HEADER.size, stop, "the header")
    (length,) = HEADER.unpack(head) if len(head) else (0,)
    if length > MAX_HEADER:
        raise WireError(f"a header of {length} bytes: the other side is no correlator")
    text = bytes(_read(connection, length, stop, "the header"))
    if stop.is_set():
        raise WireError("stopped before the header came")
    try:
        fields = json.loads(text)
        header = Header(
            **{**fields, "dims": tuple(fields["dims"]), "shape": tuple(fields["shape"])}
        )
        sound = all(type(n) is int and n > 0 for n in header.shape)
        sound = sound and 0 < header.step_bytes <= MAX_STEP and isinstance(header.coords, dict)
        sound = sound and all(isinstance(name, str) for name in (*header.dims, header.units))
    except (ValueError, TypeError, KeyError) as error:
        raise WireError(f"the header is none: {error}") from error
    if not sound:
        raise WireError(f"steps of shape {header.shape} and type {header.dtype} are none")
    return header


def read_step(
    connection: socket.socket, header: Header, number: int, stop: threading.Event
) -> tuple[float, np.ndarray] | None:
    """Return time and numbers of a step, or None where the stream ends or is to stop."""
    what = f"step {number}"
    head = _read(connection, STEP.size, stop, what, may_end=True)
    if len(head) == 0:
        return None
    length, time = STEP.unpack(head)
    if length != TIME_BYTES + header.step_bytes:
        raise WireError(f"{what} is of {length} bytes, not {TIME_BYTES + header.step_bytes}")
    data = _read(connection, header.step_bytes, stop, what)
    return (time, data.view(header.dtype).reshape(header.shape)) if len(data) else None


def _read(
    connection: socket.socket, n_bytes: int, stop: threading.Event, what: str, may_end: bool = False
) -> np.ndarray:
    """Return so many bytes; none of them where the stream may end and does, or is to stop."""
    data, got = np.empty(n_bytes, np.uint8), 0
    while got < n_bytes:
        if stop.is_set():
            return data[:0]
        try:
            n = connection.recv_into(data[got:].data)
        except TimeoutError:
            continue
        except ConnectionError as error:
            raise WireError(f"the connection broke in {what}: {error.strerror}") from error
        if n == 0 and may_end and got == 0:
            return data[:0]
        if n == 0:
            raise WireError(f"the stream ended within {what}: {got} of {n_bytes} bytes came")
        got += n
    return data
