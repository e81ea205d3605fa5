"""Differences between the contents of two templates, whose bytes may differ for equal contents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def make_comparable(value: object) -> object:
    """Return an attribute or array in a form that `==` compares bit for bit, NaN included."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return (value.shape, value.dtype.str, value.tobytes())
    return repr(value)


def list_item_differences(stored: dict[str, object], wanted: dict[str, object]) -> Iterator[str]:
    """Yield a line for each item that differs, in order of names."""
    for name in sorted(stored.keys() | wanted.keys()):
        if name not in stored:
            yield f"{name} is in the source, not in the store"
        elif name not in wanted:
            yield f"{name} is in the store, not in the source"
        elif stored[name] != wanted[name]:
            yield f"{name} differs from the source's"
