"""In what the contents of two templates differ: their bytes may differ where these are equal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def plain(value: object) -> object:
    """Return a value as what can be compared to the bit."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return (value.shape, value.dtype.str, value.tobytes())
    return repr(value)


def differences(stored: dict[str, object], wanted: dict[str, object]) -> Iterator[str]:
    """Yield a line for each item that differs, by name."""
    for name in sorted(stored.keys() | wanted.keys()):
        if name not in stored:
            yield f"{name} is in the source, not in the store"
        elif name not in wanted:
            yield f"{name} is in the store, not in the source"
        elif stored[name] != wanted[name]:
            yield f"{name} differs from the source's"
