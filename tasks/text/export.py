"""Export of text stores to files with the same bytes."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import CONTENT
from gangsaw.tasks.compressed_text.targets import check_targets, open_targets
from gangsaw.tasks.formats.contract.format import Fit, Paths, Work, catch_refusal
from gangsaw.tasks.formats.contract.losses import lost_attributes, lost_groups
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.damage import Damage
from gangsaw.tasks.text.info import ATTRIBUTE, TextInfo

STEP = 1 << 26  # bytes that are read at once, where no chunk is longer
LINES = 1 << 16  # bytes in which the end of a line is looked for at once
NEWLINE = 10


def fit_text(source: Source) -> Fit:
    """Return whether a store can be exported as a text file: it must hold one array of bytes."""
    if refusal := catch_refusal(lambda: only_bytes(source)):
        return Fit(refusal)
    coords = [f"coordinate {coord.name}" for coord in source.coords]
    attrs = [
        name for name in lost_attributes(source, {CONTENT}) if name != f"attribute {ATTRIBUTE}"
    ]
    is_own = TextInfo.from_attrs(source.attrs) is not None
    return Fit(lost=(*coords, *attrs, *lost_groups(source)), is_own=is_own)


def only_bytes(source: Source) -> SourceArray:
    """Return the only array of a store; raise BadParams unless it is bytes on one axis."""
    array = source.arrays[0]
    if len(source.arrays) > 1 or array.dtype.str != "|u1" or len(array.shape) != 1:
        raise BadParams(
            f"{source.name} holds no text, which is one array of uint8 on one axis: name another "
            "--format"
        )
    return array


def export_text(source: Source, paths: Paths, work: Work) -> None:
    """Write all bytes of a text store to a file, or to standard output.

    Raises
    ------
    BadParams : the store holds no text, or the target exists
    CorruptChunk : bytes of the store are damaged
    """
    array = only_bytes(source)
    (n,), (step,) = array.shape, array.chunks or (STEP,)
    check_targets(paths, overwrite=work.overwrite)
    kept = _find_undamaged_lines(array, work.damage) if work.damage.skips else [(0, n)]
    with open_targets(paths, work) as (file,):
        for begin, end in kept:
            for first in range(begin // step * step, end, step):
                span = slice(max(begin, first), min(first + step, end))
                file.write(array.read((span,)).data)


def _find_undamaged_lines(array: SourceArray, damage: Damage) -> list[tuple[int, int]]:
    """Return the byte ranges of lines without damage, and add the others to `damage`."""
    (n,) = array.shape
    gaps = sorted(one.ranges[0] for one in damage.blocks if one.array == array.name)
    kept, at = [], 0
    for i, (first, end) in enumerate(gaps):
        stop = gaps[i + 1][0] if gaps[i + 1 :] else n
        kept.append((at, max(at, _line_start(array, at, first))))
        at = max(at, _line_end(array, end, stop))
    kept = [one for one in [*kept, (at, n)] if one[0] < one[1]]
    damage.leave_out("byte", kept, 0, n)
    return kept


def _line_start(array: SourceArray, least: int, at: int) -> int:
    """Return the offset where the line of byte `at` begins, but not less than `least`."""
    while at > least:
        begin = max(least, at - LINES)
        found = np.flatnonzero(array.read((slice(begin, at),)) == NEWLINE)
        if found.size:
            return begin + int(found[-1]) + 1
        at = begin
    return least


def _line_end(array: SourceArray, at: int, most: int) -> int:
    """Return the offset behind the line of byte `at`, but not more than `most`."""
    while at < most:
        end = min(most, at + LINES)
        found = np.flatnonzero(array.read((slice(at, end),)) == NEWLINE)
        if found.size:
            return at + int(found[0]) + 1
        at = end
    return most
