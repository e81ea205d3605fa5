"""Search for the order of a range's records with the fewest bytes, by encoding the candidates.

Sorting sequences by position saves at most log2(n!) bits for n positions: the information in their
order. Names in that order take about as much more than names in their own. So a range, which has
reads of one region already, often gains nothing by sorting, unless its names are unordered, too.
Only a trial shows it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.codec import Reads
from gangsaw.tasks.genomics.reads.files.kernels import NAME, QUALITY, SEQUENCE
from gangsaw.tasks.genomics.reads.files.records import Field, Mates
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order.arrange import lines_of_mates, order_by_place
from gangsaw.tasks.genomics.reads.order.groups import Numbers

INPUT, BY_NAME, BY_PLACE = "input", "name", "place"
KINDS = {SEQUENCE: "sequence", QUALITY: "quality", NAME: "name"}
MOST_BYTES = 128  # bytes of a name that are compared, and of its key
AT_ONCE = 1 << 12  # names whose keys are computed at once
DIGIT_0, DIGIT_9 = 48, 57

Keys: TypeAlias = npt.NDArray[np.uint8]


class Smallest(NamedTuple):
    """Order of a range's groups that takes the fewest bytes.

    Attributes
    ----------
    order : (n,) int64, numbers of the groups in that order
    name : name of the order: INPUT, BY_NAME or BY_PLACE (in the consensus)
    n_bytes : encoded bytes of the stored lines
    """

    order: Numbers
    name: str
    n_bytes: int


def smallest_order(mates: Mates, settings: Settings) -> Smallest:
    """Encode groups in the orders of input, names and positions; return the one with fewest bytes.

    Parameters
    ----------
    mates : groups in the order of the input
    settings : settings that select the stored lines
    """
    has_names = settings.names == "keep"
    orders = {INPUT: np.arange(len(mates[0]))}
    if has_names and not np.array_equal(by := order_by_name(mates[0].field(NAME)), orders[INPUT]):
        orders[BY_NAME] = by
    orders[BY_PLACE] = order_by_place(mates, has_names)
    tried = (
        Smallest(order, name, coded_bytes(tuple(one.some(order) for one in mates), settings))
        for name, order in orders.items()
    )
    return min(tried, key=lambda one: one.n_bytes)


def coded_bytes(mates: Mates, settings: Settings) -> int:
    """Return the encoded bytes of sequences, and of qualities and names if stored losslessly."""
    stored = {SEQUENCE: True, QUALITY: settings.qualities == "lossless"}
    stored[NAME] = settings.names == "keep"
    return sum(_coded(mates, line) for line, is_stored in stored.items() if is_stored)


def _coded(mates: Mates, line: int) -> int:
    """Return the encoded size in bytes of one line of each record, such as all names."""
    codec = Reads(kind=KINDS[line], pairs=len(mates) % 2 == 0)
    return len(codec.encode_chunk(lines_of_mates(mates, line)))


def order_by_name(names: Field) -> Numbers:
    """Return the order of records by name; numbers in names are compared by value.

    The sort is stable.
    """
    keys = np.zeros((len(names.begins), MOST_BYTES), np.uint8)
    for first in range(0, len(keys), AT_ONCE):
        own = slice(first, first + AT_ONCE)
        _fill_keys(names.text, names.begins[own], names.ends[own], keys[own])
    order: Numbers = np.argsort(keys.view(f"S{MOST_BYTES}")[:, 0], kind="stable")
    return order


def _fill_keys(text: Keys, begins: Numbers, ends: Numbers, keys: Keys) -> None:
    """Write sort keys of names into zeroed `keys`; the length of each number precedes it."""
    lengths = np.minimum(ends - begins, MOST_BYTES)
    firsts = np.cumsum(lengths) - lengths
    row = np.repeat(np.arange(len(keys)), lengths)
    place = np.arange(row.size) - firsts[row]
    letters = text[begins[row] + place]
    is_digit = (letters >= DIGIT_0) & (letters <= DIGIT_9)
    is_first = is_digit & ((place == 0) | ~np.roll(is_digit, 1))
    is_last = is_digit & ((place == lengths[row] - 1) | ~np.roll(is_digit, -1))
    (numbers,) = np.nonzero(is_first)
    n_before = np.cumsum(is_first)
    column = place + n_before - (n_before - is_first)[firsts[row]]
    _put(keys, row, column, letters)
    digits = np.flatnonzero(is_last) - numbers + 1
    _put(keys, row[numbers], column[numbers] - 1, (DIGIT_0 + digits).astype(np.uint8))


def _put(keys: Keys, row: Numbers, column: Numbers, values: Keys) -> None:
    """Set keys[row, column] to `values`, except beyond the last column."""
    fits = column < MOST_BYTES
    keys[row[fits], column[fits]] = values[fits]
