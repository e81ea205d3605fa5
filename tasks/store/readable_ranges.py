"""Search for the readable ranges of items or records in a damaged store, by bisection."""

from __future__ import annotations

from collections.abc import Callable

from gangsaw.codecs.core.errors import CorruptChunk

MOST = 1 << 16  # groups of records per read in the first step


def find_readable_ranges(
    first: int,
    last: int,
    together: int,
    read: Callable[[int, int], object],
    most: int = MOST,
    is_lost: Callable[[int, int], bool] = lambda _, __: False,
) -> list[tuple[int, int]]:
    """Return the ranges of records first..last - 1 that can be read, ascending.

    A range for which `read` raises CorruptChunk is halved repeatedly, down to single groups.

    Parameters
    ----------
    first, last : range of the records, the end exclusive
    together : number of records in a group, which is never divided
    read : function of first record and end that reads all data of these records
    most : number of groups that are read at once in the first step
    is_lost : function of first record and end of a failed range; True if none of its records can
        be read, so that the range is not halved
    """
    step = most * together
    left = [(at, min(at + step, last)) for at in range(first, last, step)][::-1]
    found: list[tuple[int, int]] = []
    while left:
        begin, end = left.pop()
        try:
            read(begin, end)
        except CorruptChunk:
            if (groups := (end - begin) // together) > 1 and not is_lost(begin, end):
                middle = begin + groups // 2 * together
                left += [(middle, end), (begin, middle)]
            continue
        if found and found[-1][1] == begin:
            begin = found.pop()[0]
        found.append((begin, end))
    return found
