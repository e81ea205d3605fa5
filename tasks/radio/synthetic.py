"""Seeded synthetic visibilities of a correlator of 64 dishes, one integration every 8 seconds.

Twenty point sources and thermal noise of 0.23 Jy, the noise of a dish of 425 Jy in a channel of 209
kHz: 425 Jy / sqrt(2 x 209 kHz x 8 s). A correlator adds products of 8-bit samples as integers; the
sums become float32 by one multiplication. Numbers are typical of MeerKAT's L band with 4096
channels (Jonas et al., PoS MeerKAT2016, 001); nothing is copied from a real observation.

The same arguments give the same bits on every machine. Random numbers are Philox counters, and
noise is a sum of 12 uniform integers. Correlation uses integers that float64 represents exactly.
All other floating-point operations are +, -, * of single elements, which IEEE 754 rounds in one
way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

POLARIZATIONS = ("XX", "XY", "YX", "YY")
FIRST_HZ, CHANNEL_HZ, STEP_S = 1.284e9, 208_984.375, 8.0
NOISE_JY = 0.23  # rms of the real part, and of the imaginary part
# rms of that noise as an integer: 1.67 million products of 8-bit samples with rms 16 in re and im,
# sqrt(2 x 1.67e6) x 16^2; one more bit per sample is a factor of 4
NOISE_LEVELS = 468_000
N_SOURCES = 20
BRIGHTEST_JY = 0.8  # flux of the brightest source; the k-th brightest has 1/k of it
LINEAR = 0.04  # largest fraction of Q and U in I
FIELD = 0.01  # largest distance of sources from the centre, in direction cosines
CORE_M, ARMS_M = 300.0, 2500.0  # rms distance from the centre: two thirds of the dishes, the rest
LIGHT_M_S = 299_792_458.0
# cosine and sine of the Earth's rotation in STEP_S; constants, as libm results depend on the
# machine
ROTATION = (0.9999998298401511, 0.0005833692389113239)
ANGLES = 1 << 14  # directions of a phasor; their error is below 1/100 of the noise
UNIT = 1 << 14  # length of a phasor
DEVIATION = 1 << 16  # standard deviation of the sum of 12 uniform 16-bit integers
FIRST_PLANE = 1 << 64  # first stream of noise; lower ones are for sky and array


@dataclass(frozen=True)
class Visibilities:
    """Synthetic visibilities and the meaning of their axes.

    Attributes
    ----------
    data : (time, frequency, baseline * polarization) complex64, Jy; polarizations vary fastest
    time : (time,) float64, seconds from the middle of the first integration
    frequency : (frequency,) float64, Hz, middles of the channels
    antennas : (baseline, 2) int64, antennas of a baseline, the lower first. No autocorrelations:
        their sums are powers, real in XX and YY, and are best stored separately
    """

    data: NDArray[np.complex64]
    time: Floats
    frequency: Floats
    antennas: Longs


def make_visibilities(
    n_times: int = 16,
    n_channels: int = 64,
    n_antennas: int = 64,
    *,
    sample_bits: int = 8,
    seed: int = 8,
) -> Visibilities:
    """Return synthetic visibilities of all baselines in four polarizations.

    A result with more times or channels begins with the values of a smaller one.

    Parameters
    ----------
    n_times, n_channels, n_antennas : extents, each at least 1; antennas at least 2
    sample_bits : bits of the correlator's input samples, 8 to 12. With 8 bits the sums stay below
        2^24, so that each float32 is an integer times one scale. With 12 bits they do not, and are
        rounded to float32
    seed : seed of sky, array and noise

    Raises BadParams for other values.
    """
    if min(n_times, n_channels) < 1 or n_antennas < 2:
        raise BadParams(
            "visibilities need a time, a channel and 2 antennas, got "
            f"{n_times} x {n_channels} x {n_antennas}"
        )
    if not 8 <= sample_bits <= 12:
        raise BadParams(f"sample_bits of visibilities must be in 8..12, got {sample_bits}")
    finer = 4 ** (sample_bits - 8)
    antennas = np.stack(np.triu_indices(n_antennas, 1), axis=1)
    frequency = FIRST_HZ + CHANNEL_HZ * np.arange(n_channels, dtype=np.float64)
    data = np.empty((n_times, n_channels, len(antennas), len(POLARIZATIONS)), np.complex64)
    sky = _Sky(n_antennas, seed)
    for t in range(n_times):
        metres = sky.delays(t)
        for f in range(n_channels):
            phasors = _phasors(metres * (frequency[f] / LIGHT_M_S))
            sums = sky.correlate(phasors, antennas) * finer
            noise = _gaussian(sums.shape, seed, (t << 32 | f) + FIRST_PLANE)
            _record(sums + noise * (NOISE_LEVELS * finer) // DEVIATION, finer, data[t, f])
    flat = data.reshape(n_times, n_channels, -1)
    time = STEP_S * np.arange(n_times, dtype=np.float64)
    return Visibilities(flat, time, frequency, antennas)


class _Sky:
    """Point sources, and the dishes that observe them.

    Attributes
    ----------
    stokes : (3, 1, source) I, Q, U in levels, integers
    """

    def __init__(self, n_antennas: int, seed: int) -> None:
        spread = np.where(np.arange(n_antennas) % 3 < 2, CORE_M, ARMS_M)
        self._east, self._north = spread * _gaussian((2, n_antennas), seed, 0) / DEVIATION
        place = _uniform((2, N_SOURCES), seed, 1)
        self._l, self._m = FIELD * (2 * place - 1)
        levels = BRIGHTEST_JY / NOISE_JY * NOISE_LEVELS / np.arange(1, N_SOURCES + 1)
        linear = LINEAR * (2 * _uniform((2, N_SOURCES), seed, 2) - 1)
        self.stokes = np.rint(np.stack([levels, *(linear * levels)]))[:, None]

    def delays(self, step: int) -> Floats:
        """Return the delays of the waves in metres, at one integration: (antenna, source)."""
        cosine, sine = 1.0, 0.0
        for _ in range(step):
            cosine, sine = _rotate(cosine, sine)
        u = self._east * cosine - self._north * sine
        v = self._east * sine + self._north * cosine
        late: Floats = u[:, None] * self._l + v[:, None] * self._m
        return late

    def correlate(self, phasors: NDArray[np.complex128], antennas: Longs) -> Longs:
        """Return the levels of real and imaginary part: (baseline, polarization, 2).

        Every product and sum is an integer below 2^53: 20 bits of flux, 2 x 14 of phasors, 3 of the
        sum. So it is exact in any order of a BLAS.
        """
        products = (phasors * self.stokes) @ phasors.conj().T
        i, q, u = products[:, antennas[:, 0], antennas[:, 1]]
        sums = np.stack([i + q, u, u, i - q], axis=1)  # V = 0
        return np.rint(sums.view(np.float64) / UNIT**2).astype(np.int64).reshape(*sums.shape, 2)


def _rotate(cosine: float, sine: float) -> tuple[float, float]:
    c, s = ROTATION
    return cosine * c - sine * s, sine * c + cosine * s


def _phasors(turns: Floats) -> NDArray[np.complex128]:
    """Return phasors of length UNIT with integer parts, for angles in turns."""
    index = ((turns - np.floor(turns)) * ANGLES).astype(np.int64) % ANGLES
    phasors: NDArray[np.complex128] = _circle()[index]
    return phasors


@cache
def _circle() -> NDArray[np.complex128]:
    angles = [2 * math.pi * k / ANGLES for k in range(ANGLES)]
    return np.array([complex(round(UNIT * math.cos(a)), round(UNIT * math.sin(a))) for a in angles])


def _record(sums: Longs, finer: int, out: NDArray[np.complex64]) -> None:
    """Write integer sums of correlator levels to `out` as complex64 in Jy.

    `finer` is the scale of the sums, relative to those of 8-bit samples.
    """
    scaled = sums.astype(np.float32) * np.float32(NOISE_JY / (NOISE_LEVELS * finer))
    out[...] = scaled.view(np.complex64)[..., 0]


def _gaussian(shape: tuple[int, ...], seed: int, counter: int) -> Longs:
    """Return normal integers without tails beyond 6 deviations: sums of 12 uniform ones, mean 0."""
    lanes = _raw(3 * math.prod(shape), seed, counter).view(np.uint16).reshape(*shape, 12)
    drawn: Longs = lanes.sum(axis=-1, dtype=np.int64) - 6 * (DEVIATION - 1)
    return drawn


def _uniform(shape: tuple[int, ...], seed: int, counter: int) -> Floats:
    """Return uniform random multiples of 2^-53 in [0, 1)."""
    bits = _raw(math.prod(shape), seed, counter) >> np.uint64(11)
    return bits.reshape(shape).astype(np.float64) * np.float64(2.0**-53)


def _raw(n: int, seed: int, counter: int) -> NDArray[np.uint64]:
    """Return n random words, (n,) uint64, of the stream that seed and counter select.

    Streams of two counters never overlap.
    """
    return np.random.Philox(key=seed, counter=counter << 64).random_raw(n)
