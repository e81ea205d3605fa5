"""Benchmarked parameters of the CCSDS-123 codec, and instruction counts of its kernels."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.arrays import NumpyArray

FULL: dict[str, object] = {"mode": "full", "local_sum": "wide_neighbor"}
SETTINGS: dict[str, dict[str, object]] = {
    "ccsds123 default": {},
    "ccsds123 full": FULL,
    "ccsds123 full, P=15": {**FULL, "prediction_bands": 15},
}
# Instructions per sample at P=3 in reduced mode, counted in the machine code for sm_90. The first
# number counts the instructions of the integer pipe (shifts, comparisons, additions, no products),
# the second one all instructions. The sources in device/ explain the numbers.
INSTRUCTIONS = {"encode": (70, 125), "decode": (170, 240)}


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return parameters by benchmark name for a (bands, rows, columns) array, else {}."""
    if array.ndim != 3 or array.dtype.kind not in "iu" or array.dtype.itemsize > 4:
        return {}
    bits: dict[str, object] = {"bit_depth": _bit_depth(array)}
    return {name: {**bits, **parameters} for name, parameters in SETTINGS.items()}


def _bit_depth(array: NumpyArray) -> int:
    """Return the smallest bit depth that represents all samples."""
    low, high = int(array.min()), int(array.max())
    if array.dtype.kind == "u":
        return max(2, high.bit_length())
    return max(2, 1 + max(high.bit_length(), (~low).bit_length() if low < 0 else 0))
