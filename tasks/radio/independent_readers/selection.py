"""Selection of the arrays of an independent reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.dataset.paths import resolve_paths

Some = TypeVar("Some", bound=SourceArray)


def select_arrays(found: Sequence[Some], variables: Sequence[str]) -> tuple[Some, ...]:
    """Return the arrays that the user names; all if none is named."""
    wanted = resolve_paths(variables, [array.name for array in found])
    return tuple(array for array in found if not variables or array.name in wanted)
