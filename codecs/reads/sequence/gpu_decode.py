"""Sequences on a GPU: what their windows look into, as `decode.cu` takes it."""

from __future__ import annotations

from gangsaw.codecs.reads.gpu_text import LookedInto, TextDecoder
from gangsaw.codecs.reads.payload import Payload
from gangsaw.codecs.reads.sequence.coding import check_flags
from gangsaw.codecs.reads.sequence.dictionary import read_dictionary
from gangsaw.codecs.reads.sequence.syntax import SORTED


def _looked_into(payload: Payload, pairs: bool) -> LookedInto:
    check_flags(payload.head)
    found = read_dictionary(payload.rest, payload.shared, payload.head.used)
    is_sorted = bool(payload.head.flags & SORTED)
    letters, columns = (found.forward, found.backward), (found.columns, found.variants)
    arrays = *found.tables, *letters, found.hot, *columns, found.marks, found.ranks
    return LookedInto((is_sorted, pairs, found.size, found.low_bits), arrays)


DECODER = TextDecoder(__package__, _looked_into)
