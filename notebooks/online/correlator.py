"""Send time steps to receiver.py: simulated ones, or those of a .npy file.

python correlator.py 5555 --steps 500
python correlator.py 5555 --input cube.npy     # time, frequency, baseline, polarisation
"""

from __future__ import annotations

import argparse
import socket
import sys
import time
from collections.abc import Iterator

import numpy as np
from wire import Header, send_header, send_step

DIMS = ("time", "frequency", "baseline", "polarization")
UNITS = "seconds since 2026-01-01"
INTEGRATION = 8.0  # seconds of a step
NOISE, STEP = 0.23, 2.0**-8  # Jy: thermal noise, and a unit of the correlator's integers
SOURCES = 20


def main() -> int:
    """Send all steps; return the exit code."""
    options = arguments()
    shape = (options.channels, options.baselines, 4)
    cube = np.load(options.input, mmap_mode="r") if options.input else None
    steps = simulated(options.steps, shape, options.seed) if cube is None else iter(cube)
    dtype = np.dtype("<c8") if cube is None else cube.dtype
    shape = shape if cube is None else cube.shape[1:]
    header = Header(DIMS[: 1 + len(shape)], shape, dtype.str, UNITS, coords(shape))
    sent = 0
    try:
        with socket.create_connection(("127.0.0.1", options.port)) as connection:
            send_header(connection, header)
            for sent, step in enumerate(steps, 1):
                send_step(connection, options.start + (sent - 1) * INTEGRATION, step)
                time.sleep(options.pause)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # the receiver closes when it has read all
    except OSError as error:
        print(f"error: the receiver went away after {sent} steps: {error}", file=sys.stderr)
        return 1
    print(f"sent {sent} steps")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("port", type=int, help="of the receiver on this machine")
    parser.add_argument("--input", help="a .npy file to send, its first axis time")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--baselines", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=float, default=0.0, help="time of the first step")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between steps")
    return parser.parse_args()


def coords(shape: tuple[int, ...]) -> dict[str, list[float]]:
    """Return the frequencies of the channels, in Hz."""
    return {"frequency": list(1.4e9 + 1e5 * np.arange(shape[0]))} if shape else {}


def simulated(n_steps: int, shape: tuple[int, int, int], seed: int) -> Iterator[np.ndarray]:
    """Yield steps of point sources that drift through the fringes, and noise, as integers * STEP."""
    rng = np.random.default_rng(seed)
    n_channels, n_baselines, n_polarisations = shape
    channel = np.arange(n_channels)[:, None, None]
    delay = rng.uniform(-0.02, 0.02, (n_baselines, SOURCES))  # turns per channel
    rate = rng.uniform(-0.02, 0.02, (n_baselines, SOURCES))  # turns per step
    flux = rng.exponential(1.0, SOURCES)
    for t in range(n_steps):
        turns = channel * delay + t * rate
        sky = (flux * np.exp(2j * np.pi * turns)).sum(axis=-1)[..., None]
        noise = rng.normal(0, NOISE, (*shape, 2)).astype("f4").view("c8")[..., 0]
        values = sky * (np.arange(n_polarisations) % 3 == 0) + noise  # XX and YY have the sky
        parts = np.ascontiguousarray(values.astype("<c8")).view("<f4")
        yield (np.rint(parts / np.float32(STEP)) * np.float32(STEP)).view("<c8")


if __name__ == "__main__":
    sys.exit(main())
