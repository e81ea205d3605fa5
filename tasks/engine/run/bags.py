"""Dask bags of items that are loaded part by part on the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from dask.bag import Bag

Part = TypeVar("Part")
Item = TypeVar("Item")


def bag_of(load: Callable[[Part], Iterable[Item]], parts: Sequence[Part]) -> Bag:
    """Return a Dask bag with one partition for each part, of the items that `load` returns for it.

    `load` and the parts are sent to workers, so they must be small and picklable.
    """
    from dask import bag

    numbered: Bag = bag.from_sequence(parts, npartitions=len(parts))  # type: ignore[no-untyped-call]
    loaded: Bag = numbered.map_partitions(_loaded, load)  # type: ignore[no-untyped-call]
    return loaded


def _loaded(parts: Iterable[Part], load: Callable[[Part], Iterable[Item]]) -> Iterator[Item]:
    for part in parts:
        yield from load(part)
