"""Slow, plain Python encoder and decoder of CCSDS 123.0-B lossless streams.

Written from the standard's text alone, one function per definition, sample by sample and without
any vectorisation, so that it can be read beside the standard. Covers issue 1 (123.0-B-1) and the
lossless part of issue 2 (123.0-B-2): every prediction mode and local sum, BSQ and BI orders, the
sample-adaptive and the block-adaptive coder (121.0-B without its preprocessor). Imports nothing
of the package it checks. Names of variables follow the symbols of the standard.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from reference.ccsds123_coders import BlockDecoder, BlockEncoder, SampleDecoder, SampleEncoder
from reference.ccsds123_header import (
    NARROW_COLUMN,
    WIDE_COLUMN,
    WIDE_NEIGHBOR,
    BitReader,
    BitWriter,
    Setup,
    read_header,
    wrap,
    write_header,
)

Cube = list[list[int]]  # samples[z][t] with t = y * NX + x


def encode(samples: Cube, setup: Setup, with_header: bool = True) -> bytes:
    """Compress samples[z][t] to one stream."""
    out = BitWriter()
    if with_header:
        write_header(out, setup)
    predictor = Predictor(setup, samples)
    coder: SampleEncoder | BlockEncoder
    coder = BlockEncoder(setup, out) if setup.block_adaptive else SampleEncoder(setup, out)
    for z, y, x in encoding_order(setup):
        s_dr = predictor.predict(z, y, x)
        t = y * setup.nx + x
        coder.put(z, t, map_residual(samples[z][t], s_dr, setup))
        predictor.update(z, y, x, s_dr)
    coder.finish()
    return out.to_bytes(setup.b)


def decode(data: bytes, setup: Setup | None = None, n: int | None = None) -> tuple[Cube, Setup]:
    """Decompress a stream with header or, where the setup is given, a body without one.

    With n only the first n samples in encoding order are decoded; the others are 0.
    """
    source = BitReader(data)
    if setup is None:
        setup = read_header(source)
    return decode_body(source, setup, n), setup


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Any, dtype: Any
) -> tuple[Cube, bytes]:
    """Decompress one block of a store, and compress that again: the suite over every codec asks.

    parameters is the codec's JSON configuration: it has the weights that a header may leave out.
    Shape and dtype stand in the header.
    """
    source = BitReader(data)
    setup = read_header(source)
    if parameters["init_weights"] is not None:
        setup.weights = setup.weights or parameters["init_weights"]
    samples = decode_body(source, setup)
    return samples, encode(samples, setup)


def decode_body(source: BitReader, setup: Setup, n: int | None = None) -> Cube:
    """Decompress the body after the header, or its first n samples."""
    samples = [[0] * (setup.ny * setup.nx) for _ in range(setup.nz)]
    predictor = Predictor(setup, samples)
    coder: SampleDecoder | BlockDecoder
    coder = BlockDecoder(setup, source) if setup.block_adaptive else SampleDecoder(setup, source)
    for z, y, x in islice(encoding_order(setup), n):
        s_dr = predictor.predict(z, y, x)
        t = y * setup.nx + x
        samples[z][t] = unmap_residual(coder.get(z, t), s_dr, setup)
        predictor.update(z, y, x, s_dr)
    return samples


def encoding_order(setup: Setup) -> Iterator[tuple[int, int, int]]:
    """Yield (z, y, x) of every sample, 5.4.2."""
    if setup.bsq:
        for z in range(setup.nz):
            for y in range(setup.ny):
                for x in range(setup.nx):
                    yield z, y, x
        return
    for y in range(setup.ny):
        for first in range(0, setup.nz, setup.m):
            for x in range(setup.nx):
                for z in range(first, min(first + setup.m, setup.nz)):
                    yield z, y, x


class Predictor:
    """Predict each sample from those before it; the state is one weight vector per band."""

    def __init__(self, setup: Setup, samples: Cube) -> None:
        self.setup, self.samples = setup, samples
        self.weights = [initial_weights(setup, z) for z in range(setup.nz)]
        self.central: Cube = [[0] * (setup.ny * setup.nx) for _ in range(setup.nz)]

    def local_sum(self, z: int, y: int, x: int) -> int:
        nx, kind, s = self.setup.nx, self.setup.local_sum, self.samples[z]
        t = y * nx + x
        if y == 0:
            if kind in (WIDE_NEIGHBOR, WIDE_COLUMN):
                return 4 * s[t - 1]
            return 4 * self.samples[z - 1][t - 1] if z > 0 else 4 * self.setup.s_mid
        north = s[t - nx]
        if kind in (WIDE_COLUMN, NARROW_COLUMN):
            return 4 * north
        if x == 0:
            return 2 * (north + s[t - nx + 1])
        northwest = s[t - nx - 1]
        if kind == WIDE_NEIGHBOR:
            east = north if x == nx - 1 else s[t - nx + 1]
            return s[t - 1] + northwest + north + east
        return 2 * (northwest + north) if x == nx - 1 else northwest + 2 * north + s[t - nx + 1]

    def directional(self, z: int, y: int, x: int, sigma: int) -> list[int]:
        if y == 0:
            return [0, 0, 0]
        s, nx = self.samples[z], self.setup.nx
        t = y * nx + x
        north = 4 * s[t - nx] - sigma
        if x == 0:
            return [north, north, north]
        return [north, 4 * s[t - 1] - sigma, 4 * s[t - nx - 1] - sigma]

    def differences(self, z: int, y: int, x: int, sigma: int) -> list[int]:
        """U: local difference vector."""
        t = y * self.setup.nx + x
        previous = [self.central[z - i][t] for i in range(1, min(z, self.setup.p) + 1)]
        return (self.directional(z, y, x, sigma) if self.setup.full else []) + previous

    def predict(self, z: int, y: int, x: int) -> int:
        """Double-resolution predicted sample."""
        c = self.setup
        if y == 0 and x == 0:
            return 2 * (self.samples[z - 1][0] if z > 0 and c.p > 0 else c.s_mid)
        sigma = self.local_sum(z, y, x)
        u = self.differences(z, y, x, sigma)
        d_hat = sum(w * value for w, value in zip(self.weights[z], u, strict=True))
        wrapped = wrap(d_hat + ((sigma - 4 * c.s_mid) << c.omega), c.r_bits)
        high_resolution = clip(
            wrapped + (c.s_mid << (c.omega + 2)) + (1 << (c.omega + 1)),
            c.s_min << (c.omega + 2),
            (c.s_max << (c.omega + 2)) + (1 << (c.omega + 1)),
        )
        return high_resolution >> (c.omega + 1)

    def update(self, z: int, y: int, x: int, s_dr: int) -> None:
        """Adapt the weights of band z to its sample at (y, x), which is known by now."""
        c = self.setup
        t = y * c.nx + x
        if t == 0:
            return
        sigma = self.local_sum(z, y, x)
        self.central[z][t] = 4 * self.samples[z][t] - sigma
        error = 2 * self.samples[z][t] - s_dr
        rho = clip(c.v_min + (t - c.nx) // c.t_inc, c.v_min, c.v_max) + c.d - c.omega
        low, high = -(1 << (c.omega + 2)), (1 << (c.omega + 2)) - 1
        weights = self.weights[z]
        for i, u in enumerate(self.differences(z, y, x, sigma)):
            signed = u if error >= 0 else -u
            weights[i] = clip(weights[i] + scaled(signed, rho), low, high)


def scaled(value: int, rho: int) -> int:
    """Return floor((value * 2^-rho + 1) / 2), exactly for either sign of rho."""
    if rho > 0:
        return (value + (1 << rho)) >> (rho + 1)
    return ((value << -rho) + 1) >> 1


def initial_weights(setup: Setup, z: int) -> list[int]:
    """Return the weight vector of band z before its second sample, 4.6."""
    omega = setup.omega
    if setup.weights is not None:
        scale = 1 << (omega + 3 - setup.q)
        half = (1 << (omega + 2 - setup.q)) - 1 if setup.q < omega + 3 else 0
        return [scale * value + half for value in setup.weights[z]]
    weights = [(7 << omega) >> 3]
    while len(weights) < setup.p:
        weights.append(weights[-1] >> 3)
    return ([0, 0, 0] if setup.full else []) + weights[: min(z, setup.p)]


def map_residual(s: int, s_dr: int, setup: Setup) -> int:
    """Mapped prediction residual delta, 4.9 of issue 1."""
    s_hat = s_dr >> 1
    residual = s - s_hat
    theta = min(s_hat - setup.s_min, setup.s_max - s_hat)
    if abs(residual) > theta:
        return abs(residual) + theta
    same_side = residual >= 0 if s_dr % 2 == 0 else residual <= 0
    return 2 * abs(residual) if same_side else 2 * abs(residual) - 1


def unmap_residual(delta: int, s_dr: int, setup: Setup) -> int:
    """Return the sample; inverse of map_residual."""
    if delta >= 1 << setup.d:
        raise ValueError(f"mapped residual {delta} has more than {setup.d} bits")
    s_hat = s_dr >> 1
    below, above = s_hat - setup.s_min, setup.s_max - s_hat
    theta = min(below, above)
    if delta > 2 * theta:
        return s_hat + (delta - theta if above > below else theta - delta)
    parity = 1 if s_dr % 2 == 0 else -1
    return s_hat + (parity * (delta // 2) if delta % 2 == 0 else -parity * ((delta + 1) // 2))


def clip(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))
