"""Streams for tests of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from gangsaw.tasks.sources.source import Coordinate, Described

Samples = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Given:
    """A stream of the pieces that it is given; what is `raised` comes behind them."""

    parts: tuple[Samples, ...]
    raised: Exception | None = None
    name: str = "given"
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arrays(self) -> tuple[Described, ...]:
        """All arrays of the first piece."""
        return tuple(
            Described(
                name=name,
                shape=(0, *part.shape[1:]),
                dtype=part.dtype,
                dims=(f"{name}_step", *(f"{name}_{i}" for i in range(1, part.ndim))),
                chunks=None,
            )
            for name, part in self.parts[0].items()
        )

    def pieces(self) -> Iterator[Samples]:
        yield from self.parts
        if self.raised is not None:
            raise self.raised
