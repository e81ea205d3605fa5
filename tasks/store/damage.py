"""Policy of an export for damaged blocks of its store, and the record of its omissions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.codecs.core.plugins.options import join_words

if TYPE_CHECKING:
    from gangsaw.tasks.sources.source import Source
    from gangsaw.tasks.store.salvage import DamagedBlock

FAIL, FILL, SKIP = "fail", "fill", "skip"
MODES = (FAIL, FILL, SKIP)
INCOMPLETE = "gangsaw_incomplete"  # attribute of a target that lacks data of its store
MOST_LINES = 40  # upper bound of the lines in one message or mark

SourceT = TypeVar("SourceT", bound="Source")


class DamagedStore(CorruptChunk, JobFailed):
    """Error of an export that failed because blocks of its store are damaged.

    Attributes
    ----------
    blocks : all damaged blocks
    headline : first part of the message, without the list of blocks
    """

    blocks: tuple[DamagedBlock, ...]
    headline: str

    @classmethod
    def from_blocks(
        cls, store: str, blocks: Sequence[DamagedBlock], modes: Sequence[str]
    ) -> DamagedStore:
        """Return the error, with a hint at the modes that the target format supports."""
        more = [f"{len(blocks) - MOST_LINES} more"] if blocks[MOST_LINES:] else []
        lines = "; ".join([*map(str, blocks[:MOST_LINES]), *more])
        can = join_words([f"--damaged {mode}" for mode in modes], "or")
        hint = f"; {can} writes the rest" if can else ""
        head = f"{_counted(len(blocks), 'damaged block')}, no target is left"
        error = cls(f"{head}: {lines}{hint}", store=store)
        error.blocks, error.headline = tuple(blocks), f"{store}: {head}{hint}"
        return error


@dataclass(frozen=True)
class SkippedRecords:
    """Range of adjacent records that an export omitted because they are damaged.

    Attributes
    ----------
    unit : name of a record, such as "record" or "byte"
    first, last : numbers of the first and last record, from 1
    """

    unit: str
    first: int
    last: int

    def __str__(self) -> str:
        """Return unit and numbers as a phrase."""
        if self.first == self.last:
            return f"{self.unit} {self.first}"
        return f"{self.unit}s {self.first} to {self.last}"


@dataclass(frozen=True)
class Damage:
    """Damaged blocks of a store, with the policy of an export for them.

    Attributes
    ----------
    mode : "fail", "fill" or "skip"
    value : value for lost samples; None is the fill value of each array
    blocks : damaged blocks
    skipped : records that the export omitted
    """

    mode: str = FAIL
    value: complex | None = None
    blocks: tuple[DamagedBlock, ...] = ()
    skipped: list[SkippedRecords] = field(default_factory=list)

    @property
    def skips(self) -> bool:
        """True if records have to be omitted."""
        return self.mode == SKIP and bool(self.blocks)

    def leave_out(
        self, unit: str, written: Iterable[tuple[int, int]], first: int, last: int
    ) -> None:
        """Add the records of first..last - 1 outside the ranges `written` to the skipped ones.

        Parameters
        ----------
        unit : name of a record
        written : ranges of the written records, ascending, first and end (exclusive)
        first, last : range of all records, the end exclusive
        """
        edges = [first, *(edge for one in written for edge in one), last]
        gaps = list(pairwise(edges))[::2]
        self.skipped.extend(SkippedRecords(unit, a + 1, b) for a, b in gaps if a < b)

    def marks(self) -> list[str]:
        """Return the lines that list the missing data in the attributes of an export."""
        from gangsaw.tasks.store.salvage import n_samples

        lines = list(map(str, self.skipped or self.blocks))
        more = [f"{len(lines) - MOST_LINES} more"] if lines[MOST_LINES:] else []
        head = "left out" if self.mode == SKIP else f"filled, {n_samples(self.blocks)} samples"
        return [f"damaged in the store and {head}:", *lines[:MOST_LINES], *more]


def parse_damage(policy: str, value: object) -> Damage:
    """Return the requested policy for damaged blocks; raise BadParams for an unknown mode or value.

    A value without the mode "fill" is refused, too.
    """
    if policy not in MODES:
        raise BadParams(f"--damaged must be {join_words(MODES, 'or')}, got {policy!r}")
    if value is not None and policy != FILL:
        raise BadParams("--damaged-value is for --damaged fill: add that, or leave the value out")
    return Damage(policy, None if value is None else _number(value))


def _number(value: object) -> complex:
    """Return the fill value for lost samples as a number; raise BadParams for text that is none."""
    found: object = getattr(value, "item", lambda: value)()  # NumPy scalars to Python numbers
    if isinstance(found, int | float | complex):
        return found
    text = found if isinstance(found, str) else ""
    for kind in (int, float, complex):
        with suppress(ValueError):
            return kind(text)
    raise BadParams(f"--damaged-value must be a number such as -9999 or nan, got {value!r}")


def check_damage(damage: Damage, source: Source, title: str, modes: Sequence[str]) -> None:
    """Raise BadParams if the format lacks the mode, or a dtype cannot represent the fill value.

    Parameters
    ----------
    damage : requested policy
    source : store to export
    title : title of the target format
    modes : modes that the format supports
    """
    if damage.mode != FAIL and damage.mode not in modes:
        able = join_words([f"--damaged {mode}" for mode in modes], "or")
        hint = f"it holds {'records' if SKIP in modes else 'arrays'}: {able}"
        raise BadParams(
            f"{title} cannot {damage.mode} what is damaged: "
            f"{hint if able else 'leave --damaged out'}"
        )
    if damage.value is None:
        return
    from gangsaw.tasks.store.salvage import can_represent

    for array in getattr(source, "there", ()):
        if array.dtype.kind in "biufc" and not can_represent(array.dtype, damage.value):
            raise BadParams(
                f"--damaged-value {damage.value:g} is no sample of {array.name}, which has "
                f"{array.dtype.name}: give another value"
            )


def mark_incomplete(source: SourceT, damage: Damage) -> SourceT:
    """Return a source with an attribute that marks its targets as incomplete.

    A source without damaged blocks is returned unchanged.
    """
    if not damage.blocks:
        return source
    attrs = {**source.attrs, INCOMPLETE: damage.marks()}
    return replace(source, attrs=attrs)  # type: ignore[type-var]


def mark_of(source: Source) -> str:
    """Return the mark of incomplete data in the attributes of a source as one text, or ""."""
    found = source.attrs.get(INCOMPLETE)
    return " ".join(map(str, found)) if isinstance(found, list) else ""


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
