"""A witness: what a field's own library reads of a source, by its plain calls.

`verify` holds a store against it, since the code that compressed the source would repeat its
mistakes. A witness imports nothing of the module that opens the format for a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeAlias

from gangsaw.tasks.source import SourceArray

# given the address of a store, yields a line for each thing in which the records differ; None where
# the store has them in another order
RecordCheck: TypeAlias = Callable[[str], Iterable[str] | None]


@dataclass(frozen=True)
class Witness:
    """What a library reads of a source.

    Attributes
    ----------
    reader : the library and its version, as users are told
    arrays : under their names in the store, in its order of axes; small ones, too
    records : compares records one by one, where the store is made of records and not of arrays;
        None of all else
    """

    reader: str
    arrays: tuple[SourceArray, ...] = ()
    records: RecordCheck | None = None


def library(distribution: str) -> str:
    """Return a distribution's name with its version."""
    return f"{distribution} {version(distribution)}"
