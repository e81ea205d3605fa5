"""Inner loops of the decoder's predictor: one step of the wavefront, all bands at once.

At step T band z is at sample t = T - z, so no band waits for another within a step and the lanes
of a vector are bands. Samples and central differences are kept skewed in the same way, row T of a
ring holding what all bands made at step T: for band z the value i bands back lies i rows up and i
columns left, its own past lies straight above, and every load is contiguous.

The loops run over whole vectors of lanes [lo, hi). Lanes that have not begun, or have ended,
compute rubbish that nobody reads: a lane is set up at its own t = 0 and judged at its own end.
All arrays are flat; names of rows (`north`, `now`, ...) are offsets of band 0 in their array.
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.bits import peek, poke, shift_left, shift_right
from gangsaw.codecs.core.jit import jit_restrict

FIRST_COLUMN, LAST_COLUMN, FIRST_ROW = 1, 2, 4  # bits of the border table, one entry per t
GROUP = 3  # terms of the inner product per pass: the three directional ones, or three bands


@jit_restrict
def sum_column(
    sigma: Any, ring: Any, near: int, north: int, border: Any, when: int, lo: int, hi: int
) -> None:
    """Column-oriented local sums: 4 N, in the first row 4 `near` (W, or the band before)."""
    of = sigma.dtype.type
    for z in range(lo, hi):
        first_row = peek(border, when + z) >= FIRST_ROW
        one = peek(ring, near + z) if first_row else peek(ring, north + z)
        poke(sigma, z, of(4 * one))


@jit_restrict
def sum_wide(
    sigma: Any, ring: Any, west: int, northwest: int, north: int, northeast: int, border: Any,
    when: int, lo: int, hi: int,
) -> None:  # fmt: skip
    """Wide neighbour-oriented local sums: W + NW + N + NE."""
    of = sigma.dtype.type
    for z in range(lo, hi):
        kind = peek(border, when + z)
        w, n = peek(ring, west + z), peek(ring, north + z)
        left, right = peek(ring, northwest + z), peek(ring, northeast + z)
        ne = n if kind & LAST_COLUMN else right
        nw = right if kind & FIRST_COLUMN else left
        nearest = n if kind & FIRST_COLUMN else w
        total = of(of(nearest + nw) + of(n + ne))
        poke(sigma, z, of(4 * w) if kind >= FIRST_ROW else total)


@jit_restrict
def sum_narrow(
    sigma: Any, ring: Any, near: int, northwest: int, north: int, northeast: int, border: Any,
    when: int, lo: int, hi: int,
) -> None:  # fmt: skip
    """Narrow neighbour-oriented local sums: NW + 2 N + NE, in the first row 4 `near`."""
    of = sigma.dtype.type
    for z in range(lo, hi):
        kind = peek(border, when + z)
        n = peek(ring, north + z)
        left, right = peek(ring, northwest + z), peek(ring, northeast + z)
        ne = left if kind & LAST_COLUMN else right
        nw = right if kind & FIRST_COLUMN else left
        total = of(of(ne + nw) + of(2 * n))
        poke(sigma, z, of(4 * peek(ring, near + z)) if kind >= FIRST_ROW else total)


@jit_restrict
def directional_differences(
    differences: Any, now: int, lanes: int, sigma: Any, ring: Any, west: int, northwest: int,
    north: int, border: Any, when: int, lo: int, hi: int,
) -> None:  # fmt: skip
    """Set d_N, d_W, d_NW, rows of `lanes` each; all 0 in the first row, N for what is absent."""
    of = sigma.dtype.type
    for z in range(lo, hi):
        kind = peek(border, when + z)
        total = peek(sigma, z)
        n = peek(ring, north + z)
        w = n if kind & FIRST_COLUMN else peek(ring, west + z)
        nw = n if kind & FIRST_COLUMN else peek(ring, northwest + z)
        keep = of(0) if kind >= FIRST_ROW else of(-1)
        poke(differences, now + z, of(of(4 * n - total) & keep))
        poke(differences, now + lanes + z, of(of(4 * w - total) & keep))
        poke(differences, now + 2 * lanes + z, of(of(4 * nw - total) & keep))


@jit_restrict
def start_product(
    product: Any, sigma: Any, middle: int, resolution: int, lo: int, hi: int
) -> None:
    """Set product = 2^Omega (sigma - 4 s_mid): what stands beside the inner product."""
    of = product.dtype.type
    for z in range(lo, hi):
        poke(product, z, shift_left(of(peek(sigma, z) - of(4 * middle)), of(resolution)))


@jit_restrict
def add_terms(
    product: Any, weights: Any, w: int, lanes: int, differences: Any, was0: int, was1: int,
    was2: int, now0: int, now1: int, now2: int, sign: Any, left: Any, right: Any, when: int,
    limit: int, lo: int, hi: int,
) -> None:  # fmt: skip
    """Bring three weights up to date with the step before, then add their terms.

    One pass for both: apart, every weight would be loaded twice a step.

    was0.., now0.. : the three rows of differences, of the step before and of this one
    sign : -1 where the double-resolution error of the step before was negative, else 0
    left, right : tables of the shifts of section 7 of the specification
    limit : w_max; w_min = -w_max - 1
    """
    of = product.dtype.type
    most, least = of(limit), of(-limit - 1)
    for z in range(lo, hi):
        s, up, down = peek(sign, z), peek(left, when + z), peek(right, when + z)
        half = shift_left(of(1), of(down - 1))
        total = peek(product, z)
        for j in range(GROUP):
            was = was0 if j == 0 else was1 if j == 1 else was2
            now = now0 if j == 0 else now1 if j == 1 else now2
            u = of((peek(differences, was + z) ^ s) - s)
            step = shift_right(of(shift_left(u, up) + half), down)
            weight = min(max(of(peek(weights, w + j * lanes + z) + step), least), most)
            poke(weights, w + j * lanes + z, weight)
            total = of(total + of(weight * peek(differences, now + z)))
        poke(product, z, total)


@jit_restrict
def predict(
    double: Any, product: Any, wrap: int, resolution: int, lowest: int, highest: int, middle: int,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Set the double-resolution predicted samples; wrap = width of the type - R."""
    of = product.dtype.type
    drop, scale = of(wrap), of(resolution + 1)
    centre, least, most = of(2 * middle + 1), of(2 * lowest), of(2 * highest + 1)
    for z in range(lo, hi):
        high = shift_right(shift_left(peek(product, z), drop), drop)
        poke(double, z, min(max(of(shift_right(high, scale) + centre), least), most))


@jit_restrict
def unmap(
    ring: Any, now: int, sign: Any, bad: Any, double: Any, delta: Any, lowest: int, highest: int,
    lo: int, hi: int,
) -> None:  # fmt: skip
    """Undo the mapping: samples into row `now` of the ring, signs of the errors; mark bad lanes."""
    of = sign.dtype.type
    least, most = of(lowest), of(highest)
    for z in range(lo, hi):
        twice, d = peek(double, z), peek(delta, z)
        guess = of(twice >> 1)
        below, above = of(guess - least), of(most - guess)
        theta = min(below, above)
        odd = of(-((d ^ twice) & 1))
        near = of((of(of(d + 1) >> 1) ^ odd) - odd)
        far = of(d - theta) if below < above else of(theta - d)
        sample = of(guess + (far if d > of(2 * theta) else near))
        poke(ring, now + z, sample)
        poke(sign, z, of(-1) if of(2 * sample - twice) < 0 else of(0))
        wrong = of(sample < least) | of(sample > most)
        poke(bad, z, of(peek(bad, z) | wrong))


@jit_restrict
def central_differences(
    differences: Any, now: int, ring: Any, row: int, sigma: Any, lo: int, hi: int
) -> None:
    """Set d = 4 s - sigma."""
    of = sigma.dtype.type
    for z in range(lo, hi):
        poke(differences, now + z, of(4 * peek(ring, row + z) - peek(sigma, z)))
