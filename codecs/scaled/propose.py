"""Detection of scale and offset of floats in a sample, by trial of candidates.

In addition to common scales, the step of the sample is a candidate: the smallest difference of two
floats, refined over increasing distances, and rounded to a near number with few digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray

Floats: TypeAlias = npt.NDArray[np.float64]  # or float32, for which NumPy has no common type

TRIED = 4096  # floats of a sample
COMMON = 0.05  # share of the floats: values above it may be fill values, and are no evidence
LEAST_FIT = 15 / 16  # least share of floats that must fit
SAME_FIT = 0.004  # if the fit of two candidates differs by less, the coarser one is chosen
KELVIN = 273.15  # 0 degrees Celsius
MOST_STEPS = 1 << 16  # steps below the smallest float in which an offset is searched
MOST_ROUND = 256  # round numbers to try there, for each number of digits
FEW = 64  # floats that distinguish most offsets
LIKELY = 4  # offsets that fit most of these, tried on all floats
NEAR = 1e-4  # relative error of a step estimated from a sample
USUAL = (1.0, *(10.0**n for n in range(1, 7)), *(2.0**n for n in range(1, 13)), 255.0, 65535.0)
STEPS = (*(10.0**-n for n in range(1, 7)), 0.5, 0.25, 0.2, 0.05, 0.02, 0.005, 0.002)
RANGES = (("int16", -(1 << 15), 1 << 14), ("uint16", 0, 1 << 16), ("int16", -(1 << 15), 1 << 15))


class Candidate(NamedTuple):
    """Candidate parameters of scaled floats; the fields are those of `Params`."""

    form: Literal["quotient", "product"]
    scale: float
    offset: float = 0.0
    precision: Literal["array", "double"] = "array"

    def integers(self, floats: Floats) -> npt.NDArray[np.float64]:
        """Return the integer of each float, (n,), NaN if it has none; SPEC.md, "Arithmetic"."""
        return _integers(floats, self, np.array(self.offset))


def _integers(
    floats: Floats, candidate: Candidate, offsets: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the integer of each float with each offset, broadcast; NaN if there is none."""
    kind = np.float64 if candidate.precision == "double" else floats.dtype.type
    is_product = candidate.form == "product"
    with np.errstate(all="ignore"):
        scale, offset = kind(candidate.scale), offsets.astype(kind)
        factor = 1 / np.float64(scale) if is_product else np.float64(scale)
        found = np.rint((floats.astype("f8") - offset.astype("f8")) * factor)
        numbers = found.astype(kind)
        again = (numbers * scale if is_product else numbers / scale) + offset
        fits = (again.astype(floats.dtype) == floats) & (abs(found) < 1 << 31)
    return np.where(fits, found, np.nan)


def propose(sample: NumpyArray) -> Mapping[str, object] | None:
    """Return the parameters that best represent a sample's floats as integers; None if none do."""
    floats = _tried(sample)
    if floats.size == 0:
        return None
    best, best_fit, best_range = None, 0.0, np.inf
    for candidate in _candidates(floats):
        found = candidate.integers(floats)
        there = found[~np.isnan(found)]
        fit = there.size / floats.size
        if fit < LEAST_FIT or fit < best_fit - SAME_FIT:
            continue
        extent = float(there.max() - there.min())
        if fit > best_fit + SAME_FIT or extent < best_range:
            best, best_fit, best_range = candidate, fit, extent
            integers = _narrowest(there)
    return None if best is None else {**best._asdict(), "integers": integers}


def _tried(sample: NumpyArray) -> Floats:
    """Return some finite floats of a sample, (n,), without very frequent values.

    They are in native byte order.
    """
    flat: Floats = sample.reshape(-1).astype(sample.dtype.newbyteorder("="))
    floats = flat[np.isfinite(flat)]
    floats = floats[:: 1 + floats.size // TRIED]
    values, which, counts = np.unique(floats, return_inverse=True, return_counts=True)
    rare = counts <= max(1, COMMON * floats.size)
    found: Floats = floats[rare[which]] if 4 * rare.sum() > values.size else floats
    return found


def _narrowest(found: npt.NDArray[np.float64]) -> str:
    """Return the narrowest dtype of nearly all integers found, with margin.

    It is signed if possible.
    """
    low, high = np.quantile(found, [0.002, 0.998])
    wide = (high - low) / 4
    for name, least, end in RANGES:
        if low - wide * (low < 0) >= least and high < end:
            return name
    return "int32"


def _candidates(floats: Floats) -> Iterator[Candidate]:
    precisions: tuple[Literal["array", "double"], ...] = ("array",)
    if floats.dtype.itemsize < np.dtype("f8").itemsize:
        precisions = "array", "double"
    steps = list(_found_steps(floats))
    first = [Candidate("quotient", s) for s in USUAL] + [Candidate("product", s) for s in STEPS]
    kelvin = [Candidate(*step, KELVIN) for step in steps]
    for plain in [*first, *(Candidate(*step) for step in steps), *kelvin]:
        yield from (plain._replace(precision=precision) for precision in precisions)
    for step in steps:
        for precision in precisions:
            yield from _with_offsets(floats, Candidate(*step, precision=precision))


def _with_offsets(floats: Floats, plain: Candidate) -> Iterator[Candidate]:
    """Yield candidates with the offsets that best fit a few of the floats."""
    offsets = np.array(_offsets(floats, plain.scale, plain.form))
    few = floats[:: 1 + floats.size // FEW]
    fit = (~np.isnan(_integers(few, plain, offsets[:, None]))).sum(axis=1)
    for i in np.argsort(-fit, kind="stable")[:LIKELY]:
        yield plain._replace(offset=float(offsets[i]))


def _found_steps(floats: Floats) -> Iterator[tuple[Literal["quotient", "product"], float]]:
    """Yield form and scale of the regular step between floats of the sample, rounded."""
    values = np.unique(floats).astype("f8")
    step = _step(values, float(np.finfo(floats.dtype).eps))
    if step is None:
        return
    yield from (("quotient", scale) for scale in _round_numbers(1 / step))
    yield from (("product", scale) for scale in _round_numbers(step))


def _step(values: npt.NDArray[np.float64], eps: float) -> float | None:
    """Return the regular step between ascending values; None if there is none."""
    distances = values - values[0]
    apart = np.diff(values)
    apart = apart[apart > 4 * eps * np.abs(values).max()]
    if apart.size < 2:
        return None
    step, reach = float(apart.min()), 8.0
    while reach < 2 * distances[-1] / step:
        near = distances[distances <= reach * step]
        counts = np.rint(near / step)
        if counts.any():
            step = float((counts * near).sum() / (counts * counts).sum())
        reach *= 4
    return step


def _round_numbers(number: float) -> Iterator[float]:
    """Yield up to two decimal numbers close to this one, fewest digits first."""
    seen = set()
    for digits in range(1, 8):
        found = float(f"{number:.{digits}g}")
        if abs(found - number) <= NEAR * number and found not in seen:
            seen.add(found)
            yield found
            if len(seen) == 2:
                return


def _offsets(floats: Floats, scale: float, form: str) -> list[float]:
    """Return candidate offsets, derived from the smallest float.

    They are this float, round numbers some steps below it, and its remainder modulo the step.
    """
    least = float(floats.min())
    step = scale if form == "product" else 1 / scale
    left = least - np.floor(least / step) * step
    below = least - step * np.arange(MOST_STEPS)
    close = max(1e-6 * step, 4 * float(np.finfo(floats.dtype).eps) * abs(least))
    found = [least]
    for digits in range(-2, 4):
        even = np.round(below, digits)
        found += even[abs(below - even) <= close][:MOST_ROUND].tolist()
    found += (round(left, digits) for digits in range(1, 7))
    return [*dict.fromkeys(offset for offset in found if offset)]
