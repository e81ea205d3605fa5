"""All targets: those of the table of codecs and of the table of formats, and indexes."""

from __future__ import annotations

from collections.abc import Callable

from fuzz import codecs


def targets() -> dict[str, Callable[[], codecs.Attempt]]:
    """Return what makes an attempt at each target, by name."""
    from fuzz import formats, indexes, stores, strings

    own = (codecs, strings, indexes, stores, formats)
    return {name: make for module in own for name, make in module.targets().items()}
