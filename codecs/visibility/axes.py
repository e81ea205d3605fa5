"""Axis letters of visibility arrays, derived from dimension names."""

from __future__ import annotations

from collections.abc import Iterable

from gangsaw.codecs.visibility.params import AUTO

# dimension names of xradio, dask-ms and this package
FREQUENCIES = {"frequency", "freq", "channel", "chan"}
BASELINES = {"baseline", "baseline_id", "row", "baseline_pol"}
SHORT = {"polarization", "pol", "corr", "uvw", "uvw_label", "complex"}  # axes with few samples


def is_interferometric(dims: Iterable[str]) -> bool:
    """Return True if the dimension names are those of visibilities, their flags or weights."""
    return not (BASELINES | SHORT).isdisjoint(name.lower() for name in dims)


def visibility_axes(dims: Iterable[str]) -> str:
    """Return one letter per axis: "t" time, "f" frequency, "b" other; "auto" if no name is known.

    If several axes have a name of time or frequency, only the first gets the letter.
    """
    names = [name.lower() for name in dims]
    if not is_interferometric(names) and not {"time", *FREQUENCIES} & set(names):
        return AUTO
    letters = ["t" if d == "time" else "f" if d in FREQUENCIES else "b" for d in names]
    first = {letter: letters.index(letter) for letter in set(letters)}
    return "".join(x if x == "b" or first[x] == i else "b" for i, x in enumerate(letters))
