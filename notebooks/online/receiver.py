"""Receive the steps of a correlator over a socket and append them to a Zarr store.

    python receiver.py night.zarr --port 5555 --chunk 16 &
    python correlator.py 5555

One thread reads the socket, one encodes and writes. Between them is a queue of a few chunks: while
a chunk is written steps still come in, and where the disk is too slow the sender has to wait. An
end of the stream, SIGTERM and Ctrl-C write all whole steps that came, and end.
"""

from __future__ import annotations

import argparse
import queue
import signal
import socket
import sys
import threading
import time

import numpy as np
from wire import LOOK, Header, WireError, read_header, read_step

from gangsaw import GangsawError
from gangsaw.codecs.core.record import reset, snapshot
from gangsaw.codecs.visibility import Params, StepEncoder
from gangsaw.tasks.append import Appender, Steps
from gangsaw.tasks.sources.source import Coordinate

CHUNKS_IN_QUEUE = 2


class Incoming(threading.Thread):
    """Reads steps from the socket into a bounded queue; an iterator over what comes out of it."""

    def __init__(
        self, connection: socket.socket, header: Header, n_queued: int, stop: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self.connection, self.header, self.stop = connection, header, stop
        self.queue: queue.Queue = queue.Queue(n_queued)
        self.error: Exception | None = None

    def run(self) -> None:
        """Queue steps up to the end of the stream, then None."""
        number = 0
        try:
            while step := read_step(self.connection, self.header, number, self.stop):
                self.queue.put(step)
                number += 1
        except Exception as error:
            self.error = error
        finally:
            self.queue.put(None)  # whatever happens, or the other thread waits for ever

    def __iter__(self):
        """Yield (time, step)."""
        return iter(self.queue.get, None)


def main() -> int:
    """Serve one correlator; return the exit code."""
    options = arguments()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        with listen(options.port) as listener, accept(listener, stop) as connection:
            return serve(connection, options, stop)
    except (WireError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def serve(connection: socket.socket, options: argparse.Namespace, stop: threading.Event) -> int:
    """Receive all of a connection; return the exit code."""
    try:
        return receive(connection, options, stop)
    except (WireError, GangsawError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", help="Zarr store; one that exists is continued")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    parser.add_argument("--chunk", type=int, default=16, help="steps in a chunk: the latency")
    parser.add_argument("--effort", choices=("fast", "dense"), default="fast")
    return parser.parse_args()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone, and say on which port."""
    listener = socket.create_server(("127.0.0.1", port))
    listener.settimeout(LOOK)
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    return listener


def accept(listener: socket.socket, stop: threading.Event) -> socket.socket:
    """Wait for the correlator."""
    while not stop.is_set():
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        connection.settimeout(LOOK)
        return connection
    raise WireError("stopped before a correlator came")


def receive(connection: socket.socket, options: argparse.Namespace, stop: threading.Event) -> int:
    """Append all steps; print what came, how fast, and how small it has become."""
    header = read_header(connection, stop)
    incoming = Incoming(connection, header, CHUNKS_IN_QUEUE * options.chunk, stop)
    steps = steps_of(header, options)
    StepEncoder(steps.shape, steps.dtype, steps.params).warm_up()
    reset()
    with Appender(options.store, steps, coords_of(header)) as appender:
        print(f"{options.store} holds {appender.n_written} steps; waiting for more", flush=True)
        incoming.start()
        n_steps, longest, seconds = append_all(appender, incoming)
    report(options.store, n_steps, n_steps * header.step_bytes, longest, seconds)
    print(f"{options.store} holds {appender.n_written} steps", flush=True)
    if incoming.error:
        print(f"error: {incoming.error}; the whole steps before it are stored", file=sys.stderr)
    return 1 if incoming.error else 0


def steps_of(header: Header, options: argparse.Namespace) -> Steps:
    """Return what the store is to hold."""
    return Steps(
        dims=header.dims,
        shape=header.shape,
        dtype=np.dtype(header.dtype),
        params=Params(effort=options.effort, block=(options.chunk, 0, 0)),
        time_attrs={"units": header.units},
    )


def coords_of(header: Header) -> list[Coordinate]:
    """Return the coordinates of the other axes."""
    return [Coordinate(name, (name,), np.array(v)) for name, v in header.coords.items()]


def append_all(appender: Appender, incoming: Incoming) -> tuple[int, float, float]:
    """Append and close; return the steps, the longest time of one of them, and that of all."""
    n_steps, longest, start = 0, 0.0, time.perf_counter()
    for moment, step in incoming:
        if n_steps == 0:
            start = time.perf_counter()
        before = time.perf_counter()
        appender.append(moment, step)
        longest = max(longest, time.perf_counter() - before)
        n_steps += 1
    appender.close()
    return n_steps, longest, time.perf_counter() - start


def report(store: str, n_steps: int, n_bytes: int, longest: float, seconds: float) -> None:
    """Print one line."""
    encoded = sum(
        totals.encoded_bytes
        for (_, operation, _), totals in snapshot().items()
        if operation == "encode"
    )
    print(
        f"{n_steps} steps, {n_bytes / 1e6:.1f} MB in {seconds:.2f} s: {n_bytes / 1e6 / seconds:.0f} MB/s, "
        f"ratio {n_bytes / max(1, encoded):.2f}, longest append {1e3 * longest:.0f} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
