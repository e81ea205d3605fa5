"""Independent reader of a source: a library of the field, used by its plain calls.

`verify` compares a store with it, since the code that compressed the source would repeat its own
mistakes. An independent reader imports nothing from the module that opens the format for a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TypeAlias

from gangsaw.tasks.sources.source import SourceArray

# function of the address of a store that yields a line for each difference between the records;
# None if the store has them in another order
RecordCheck: TypeAlias = Callable[[str], Iterable[str] | None]


@dataclass(frozen=True)
class IndependentReader:
    """Independent reader: the contents of a source as read by another library.

    Attributes
    ----------
    reader : name and version of the library, for messages
    arrays : all arrays, small ones included, with the names and axis order of the store
    records : function that compares records one by one, for a store of records; None for a store
        of arrays
    """

    reader: str
    arrays: tuple[SourceArray, ...] = ()
    records: RecordCheck | None = None


def library(distribution: str) -> str:
    """Return the name of an installed distribution with its version."""
    return f"{distribution} {version(distribution)}"
