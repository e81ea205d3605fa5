"""What the axes of visibilities are, by their names: arrays give no other sign of it."""

from __future__ import annotations

from collections.abc import Iterable

from gangsaw.codecs.visibility.params import AUTO

# those of xradio, dask-ms and this package
FREQUENCIES = {"frequency", "freq", "channel", "chan"}
BASELINES = {"baseline", "baseline_id", "row", "baseline_pol"}
SHORT = {"polarization", "pol", "corr", "uvw", "uvw_label", "complex"}  # a few samples


def is_interferometric(dims: Iterable[str]) -> bool:
    """Whether axes are those of visibilities, or of arrays along them."""
    return not (BASELINES | SHORT).isdisjoint(name.lower() for name in dims)


def visibility_axes(dims: Iterable[str]) -> str:
    """Return a letter per axis: "t" time, "f" frequency, "b" any other; "auto" where none is known.

    Of two axes with names of frequency the first is it.
    """
    names = [name.lower() for name in dims]
    if not is_interferometric(names) and not {"time", *FREQUENCIES} & set(names):
        return AUTO
    letters = ["t" if d == "time" else "f" if d in FREQUENCIES else "b" for d in names]
    first = {letter: letters.index(letter) for letter in set(letters)}
    return "".join(x if x == "b" or first[x] == i else "b" for i, x in enumerate(letters))
