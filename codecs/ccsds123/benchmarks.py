"""What `gangsaw bench` measures of this codec."""

from __future__ import annotations

from collections.abc import Sequence

from gangsaw.codecs.core.arrays import NumpyArray

FULL: dict[str, object] = {"mode": "full", "local_sum": "wide_neighbor"}
SETTINGS: dict[str, dict[str, object]] = {
    "ccsds123 default": {},
    "ccsds123 full": FULL,
    "ccsds123 full, P=15": {**FULL, "prediction_bands": 15},
}
# Instructions a sample at P=3, reduced, counted in the machine code for sm_90: those that the
# integer pipe takes (shifts, comparisons, additions, but no products), and all. The sources in
# device/ say where they come from.
INSTRUCTIONS = {"encode": (70, 125), "decode": (170, 240)}


def settings(array: NumpyArray, dims: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return parameters by name for a (bands, rows, columns) array; none for others."""
    if array.ndim != 3 or array.dtype.kind not in "iu" or array.dtype.itemsize > 4:
        return {}
    bits: dict[str, object] = {"bit_depth": _bit_depth(array)}
    return {name: {**bits, **parameters} for name, parameters in SETTINGS.items()}


def _bit_depth(array: NumpyArray) -> int:
    """Return the fewest bits that hold all samples."""
    low, high = int(array.min()), int(array.max())
    if array.dtype.kind == "u":
        return max(2, high.bit_length())
    return max(2, 1 + max(high.bit_length(), (~low).bit_length() if low < 0 else 0))
