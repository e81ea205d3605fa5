"""Inner loops of the decoder's predictor: one step of the wavefront for all bands.

At step T, band z is at sample t = T - z. So no band waits for another within a step, and the lanes
of a vector are bands. Samples and central differences are stored skewed in the same way: row T of a
ring contains the results of all bands at step T. For band z, the value i bands back is i rows up
and i columns left, and its own past is straight above. So every load is contiguous.

The loops run over whole vectors of lanes [lo, hi). Lanes before their start or after their end
compute values that are never used: a lane is initialised at its own t = 0 and checked at its own
end.

Arguments are pointers to rows, indexed by band, of one integer type unless stated otherwise.
Section numbers are those of CCSDS 123.0-B-2.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.bits import fit, shift_left, shift_right
from gangsaw.codecs.core.numba.jit import jit

FIRST_COLUMN, LAST_COLUMN, FIRST_ROW = 1, 2, 4  # flags in `border`, which has one entry per t
GROUP = 3  # terms of the inner product per pass: the three directional ones, or three bands

Row: TypeAlias = NumpyArray  # pointer to the first lane of a row
Rows = tuple[Row, ...]  # three rows


class WavePredictor(NamedTuple):
    """Constants of the predictor for kernels, with their symbols in CCSDS 123.0-B-2, 4.2 to 4.7."""

    bands: int  # NZ
    columns: int  # NX
    samples: int  # NX NY, of one band
    prediction_bands: int  # P
    full: bool
    local_sum: int  # code 0..3
    lowest: int
    middle: int
    highest: int
    resolution: int  # Omega
    wrap: int  # width of the arithmetic less R


class WeightUpdate(NamedTuple):
    """Weight update (CCSDS 123.0-B-2, 4.10) with the errors of the previous step.

    Attributes
    ----------
    sign : -1 where the double-resolution error was negative, else 0
    left, right : shifts
    limit : w_max; w_min = -w_max - 1
    """

    sign: Row
    left: Row
    right: Row
    limit: int


@jit(restrict=True, part=True)
def sum_column(sigma: Row, near: Row, north: Row, border: Row, lo: int, hi: int) -> None:
    """Compute column-oriented local sums: 4 N, in the first row 4 `near` (W or band before)."""
    for z in range(lo, hi):
        one, other = near[z], north[z]  # both are loaded: a conditional load is a slow masked one
        sigma[z] = fit(4 * (one if border[z] >= FIRST_ROW else other), sigma)


@jit(restrict=True, part=True)
def sum_wide(
    sigma: Row, west: Row, northwest: Row, north: Row, northeast: Row, border: Row, lo: int, hi: int
) -> None:
    """Compute wide neighbour-oriented local sums: W + NW + N + NE."""
    for z in range(lo, hi):
        w, nw, n, ne, kind = west[z], northwest[z], north[z], northeast[z], border[z]
        total = fit(
            (n if kind & FIRST_COLUMN else w)
            + (ne if kind & FIRST_COLUMN else nw)
            + n
            + (n if kind & LAST_COLUMN else ne),
            sigma,
        )
        sigma[z] = fit(4 * w, sigma) if kind >= FIRST_ROW else total


@jit(restrict=True, part=True)
def sum_narrow(
    sigma: Row, near: Row, northwest: Row, north: Row, northeast: Row, border: Row, lo: int, hi: int
) -> None:
    """Compute narrow neighbour-oriented local sums: NW + 2 N + NE, in the first row 4 `near`."""
    for z in range(lo, hi):
        one, nw, n, ne, kind = near[z], northwest[z], north[z], northeast[z], border[z]
        total = fit(
            (ne if kind & FIRST_COLUMN else nw) + 2 * n + (nw if kind & LAST_COLUMN else ne), sigma
        )
        sigma[z] = fit(4 * one, sigma) if kind >= FIRST_ROW else total


@jit(restrict=True, part=True)
def directional_differences(
    differences: Rows, sigma: Row, samples: Rows, border: Row, lo: int, hi: int
) -> None:
    """Compute d_N, d_W, d_NW: all 0 in the first row; in the first column W and NW are N.

    samples : N, W, NW
    """
    d_north, d_west, d_northwest = differences
    north, west, northwest = samples
    for z in range(lo, hi):
        w, nw, n, kind, total = west[z], northwest[z], north[z], border[z], sigma[z]
        w = n if kind & FIRST_COLUMN else w
        nw = n if kind & FIRST_COLUMN else nw
        keep = 0 if kind >= FIRST_ROW else -1
        d_north[z] = fit((4 * n - total) & keep, sigma)
        d_west[z] = fit((4 * w - total) & keep, sigma)
        d_northwest[z] = fit((4 * nw - total) & keep, sigma)


@jit(restrict=True, part=True)
def start_product(product: Row, sigma: Row, middle: int, resolution: int, lo: int, hi: int) -> None:
    """Start each band's inner product: product = 2^Omega (sigma - 4 s_mid)."""
    scale = fit(resolution, product)
    for z in range(lo, hi):
        product[z] = shift_left(fit(sigma[z] - 4 * middle, product), scale)


@jit(restrict=True, part=True)
def add_terms(
    product: Row, weights: Rows, was: Rows, now: Rows, update: WeightUpdate, lo: int, hi: int
) -> None:
    """Update three weights with the previous step, then add their terms to the product.

    One pass does both: two passes would load every weight twice per step.

    was, now : differences of the previous step and of this one
    """
    sign, left, right = update.sign, update.left, update.right
    most, least = fit(update.limit, product), fit(-update.limit - 1, product)
    one = fit(1, product)
    w0, w1, w2 = weights
    a0, a1, a2 = was
    b0, b1, b2 = now
    for z in range(lo, hi):
        s, up, down = sign[z], left[z], right[z]
        # (+-u << up) + half = ((u ^ s) << up) + (half - (s << up)): the last term is common to all.
        half = shift_left(one, fit(down - 1, product))
        half = fit(half - shift_left(s, up), product)
        u0 = fit(shift_left(fit(a0[z] ^ s, product), up) + half, product)
        u1 = fit(shift_left(fit(a1[z] ^ s, product), up) + half, product)
        u2 = fit(shift_left(fit(a2[z] ^ s, product), up) + half, product)
        v0 = min(max(fit(w0[z] + shift_right(u0, down), product), least), most)
        v1 = min(max(fit(w1[z] + shift_right(u1, down), product), least), most)
        v2 = min(max(fit(w2[z] + shift_right(u2, down), product), least), most)
        w0[z], w1[z], w2[z] = v0, v1, v2
        product[z] = fit(product[z] + v0 * b0[z] + v1 * b1[z] + v2 * b2[z], product)


@jit(restrict=True)
def predict(double: Row, product: Row, p: WavePredictor, lo: int, hi: int) -> None:
    """Compute the double-resolution predicted samples from inner products.

    p : a `WavePredictor`
    """
    drop, scale = fit(p.wrap, product), fit(p.resolution + 1, product)
    least, most = fit(2 * p.lowest, product), fit(2 * p.highest + 1, product)
    for z in range(lo, hi):
        high = shift_right(shift_left(product[z], drop), drop)
        value = fit(shift_right(high, scale) + 2 * p.middle + 1, product)
        double[z] = min(max(value, least), most)


@jit(inline=True)
def unmap_residual(delta: int, twice: int, least: int, most: int, like: Row) -> Any:
    """Return the sample of a mapped residual (4.11); twice : its double-resolution prediction."""
    one = fit(1, like)
    guess = shift_right(twice, one)
    below, above = fit(guess - least, like), fit(most - guess, like)
    theta = min(below, above)
    odd = fit(-((delta ^ twice) & 1), like)
    near = fit((shift_right(fit(delta + 1, like), one) ^ odd) - odd, like)
    far = fit(delta - theta, like)
    far = far if below < above else fit(-far, like)
    return fit(guess + (far if delta > fit(2 * theta, like) else near), like)


@jit(restrict=True, part=True)
def unmap(
    sample: Row, sign: Row, bad: Row, double: Row, delta: Row, p: WavePredictor, lo: int, hi: int
) -> None:
    """Invert the mapping (CCSDS 123.0-B-2, 4.11): set samples and error signs, mark bad lanes.

    bad : not 0 after a residual that no sample has
    """
    least, most = fit(p.lowest, sample), fit(p.highest, sample)
    for z in range(lo, hi):
        twice = double[z]
        value = unmap_residual(delta[z], twice, least, most, sample)
        sample[z] = value
        sign[z] = fit(-1 if fit(2 * value - twice, sample) < 0 else 0, sample)
        wrong = 1 if (value < least) | (value > most) else 0
        bad[z] = fit(bad[z] | wrong, sample)


@jit(restrict=True, part=True)
def central_difference(difference: Row, sample: Row, sigma: Row, lo: int, hi: int) -> None:
    """Compute the central differences d = 4 s - sigma (4.5) of bands lo to hi - 1."""
    for z in range(lo, hi):
        difference[z] = fit(4 * sample[z] - sigma[z], sigma)
